# SPDX-License-Identifier: Apache-2.0
"""What the memory of a process has, read through /proc/PID."""

import pathlib
import re


def regions(pid):
    """The writable memory of a process: its address range, and whether it is locked and excluded from core dumps."""
    found = []
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if re.fullmatch("[0-9a-f]+-[0-9a-f]+", words[0]):
            begin, end = (int(text, 16) for text in words[0].split("-"))
            rights = words[1]
        elif words[0] == "VmFlags:" and "rw" in rights:
            found.append((begin, end, {"lo", "dd"} <= set(words[1:])))
    return found


def copies(pid, marks):
    """How often each mark occurs in the memory of a process, outside of locked pages and in them."""
    outside, locked = 0, 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for begin, end, is_kept in regions(pid):
            try:
                memory.seek(begin)
                content = memory.read(end - begin)
            except OSError:
                continue
            count = sum(content.count(mark) for mark in marks)
            outside, locked = (outside, locked + count) if is_kept else (outside + count, locked)
    return outside, locked
