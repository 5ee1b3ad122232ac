#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""answer.py ANSWER[,ANSWER…] COMMAND…: runs the command on a terminal and types the answers, each when it is asked for."""
import os
import pty
import select
import sys
import time

answers, command = sys.argv[1].split(","), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
said, end = b"", time.monotonic() + 300
while time.monotonic() < end:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    said += more
    if said.endswith(b": ") and answers:
        os.write(terminal, answers.pop(0).encode() + b"\n")
else:
    os.kill(pid, 9)
print(said.decode(errors="replace").replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
