#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guard-person.py FILE COMMAND…: runs the command on a terminal, answers its questions as FILE says at that moment, and prints
what it says. FILE has lines of a word and an answer: yes (to [y/N]), pin, account; a word that is missing is not answered. An
answer is typed when its question has been shown for more than a second, since an earlier one does not count; the answer to
"early" is typed at once for the first question to which there is one."""
import os
import pty
import select
import signal
import sys
import time

MARKS = {"yes": b"[y/N]", "pin": b"PIN: ", "account": b"which account"}


def answers():
    with open(sys.argv[1]) as file:
        return dict(line.split() for line in file)


pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
unread, due, hasty = b"", None, False
while True:
    wait = max(0, due[0] - time.monotonic()) if due else 1
    if select.select([terminal], [], [], wait)[0]:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        sys.stdout.write(more.decode(errors="replace").replace("\r", ""))
        sys.stdout.flush()
        unread += more
        shown = max((unread.rfind(mark), word) for word, mark in MARKS.items())
        if shown[0] >= 0:
            if shown[1] == "yes" and not hasty and "early" in answers():
                hasty = True
                os.write(terminal, answers()["early"].encode() + b"\n")
            due, unread = (time.monotonic() + 1.3, shown[1]), b""
    if due and due[0] <= time.monotonic():
        text = answers().get(due[1])
        due = None
        if text:
            os.write(terminal, text.encode() + b"\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
