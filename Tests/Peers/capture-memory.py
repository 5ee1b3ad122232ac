# SPDX-License-Identifier: Apache-2.0
"""A long recording is shown, redacted, checked and replayed in at most three times its size of memory, beyond what the
program needs for a short one."""

import os
import subprocess
import sys
import tempfile

from lib.peer import REAL, expect

SIZE = 14_000_000


def peak(*arguments):
    """The most memory that a run of ykit had, in bytes; it has to succeed."""
    process = subprocess.Popen([REAL, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"FAIL ykit {' '.join(arguments)}: {os.waitstatus_to_exitcode(status)}")
    return usage.ru_maxrss * 1024


def test_capture_memory():
    with tempfile.TemporaryDirectory() as folder:
        short, long = f"{folder}/short.jsonl", f"{folder}/long.jsonl"
        subprocess.run([REAL, "--virtual", "--record", short, "oath", "list"], check=True, stdout=subprocess.DEVNULL)
        with open(short) as file:
            header, *events = file.read().splitlines(keepends=True)
        # Sessions of the same key one after the other.
        count = SIZE // sum(map(len, events)) + 1
        with open(long, "w") as file:
            file.write(header)
            for session in range(count):
                for event in events:
                    body, _, time = event.rpartition('"ms":')
                    file.write(f'{body}"ms":{float(time.rstrip().rstrip("}")) + session * 1000}}}\n')
        size = os.path.getsize(long)
        assert size >= SIZE
        for name, arguments in {
            "redact": lambda file: ["capture", "redact", file, "--output", file + ".redacted"],
            "show": lambda file: ["capture", "show", file],
            "check": lambda file: ["capture", "check", file],
            "a lookup replay": lambda file: ["--replay", file, "--replay-mode", "lookup", "oath", "list"],
        }.items():
            usual = peak(*arguments(short))
            times = (peak(*arguments(long)) - usual) / size
            expect(f"{name} of {size / 1e6:.1f} MB: {times:.2f} times its size, beside {usual / 1e6:.1f} MB", times <= 3)
