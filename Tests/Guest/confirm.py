#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""confirm.py ANSWER COMMAND…: runs the command on a terminal, gives this answer to each [y/N], and prints what it says."""
import os
import pty
import signal
import sys

answer, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    sys.stdout.write(more.decode(errors="replace").replace("\r", ""))
    sys.stdout.flush()
    for _ in range(more.count(b"[y/N]")):
        os.write(terminal, answer.encode() + b"\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
