#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""console.py SECONDS [PROMPT=ANSWER…] -- COMMAND…: runs a machine whose console is the command's terminal, types each answer when
its prompt has come, and prints what the console said. The status is that of the command, or 124 if it takes longer."""
import os
import pty
import select
import signal
import sys
import time

end = sys.argv.index("--")
answers = [word.split("=", 1) for word in sys.argv[2:end]]
limit = time.monotonic() + float(sys.argv[1])
machine, terminal = pty.fork()
if machine == 0:
    os.execvp(sys.argv[end + 1], sys.argv[end + 1:])
said, read = b"", 0
while time.monotonic() < limit:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        said += os.read(terminal, 4096)
    except OSError:
        break
    if answers and (found := said.find(answers[0][0].encode(), read)) >= 0:
        read = found + len(answers[0][0])
        time.sleep(2)  # cryptsetup discards what was typed before it has switched off the echo
        os.write(terminal, answers.pop(0)[1].encode() + b"\n")
else:
    os.kill(machine, signal.SIGKILL)
print(said.decode(errors="replace").replace("\r", ""))
status = os.waitstatus_to_exitcode(os.waitpid(machine, 0)[1])
sys.exit(124 if status < 0 else status)
