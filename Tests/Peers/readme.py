# SPDX-License-Identifier: Apache-2.0
"""The ten commands of README, typed as they are shown, print what is shown there; "…" stands for further lines; codes and a
credential's identifier are others each time. Where README speaks of a key, ykit has a virtual one. YKIT is the ykit to test.
"""

import os
import re
import shutil
import subprocess

from lib.peer import ROOT, YKIT, expect, own_folder

WORK = own_folder()
#: What needs another program; openpgp-gpg.py has scdaemon hold the card.
ELSEWHERE = ["ykit oath list"]


def commands():
    """Each command, and the lines shown behind it."""
    with open(f"{ROOT}/README.md", encoding="utf-8") as file:
        block = re.search(r"^## Ten commands\n.*?^```\n(.*?)^```", file.read(), re.M | re.S)[1]
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((re.sub(r"\s+#.*", "", line[2:]), []))
        elif line:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """What matches the lines that are shown."""
    parts = []
    for line in lines:
        if line == "…":
            parts.append(r"(?:.*\n)*")
        else:
            line = re.sub(r"^(credential +)\S{40,}$", r"\1\\S{40,}", re.escape(line).replace(r"\ ", " "))
            parts.append(re.sub(r"(^|  )\d{6,8}$", lambda code: f"{code[1]}\\d{{{len(code[0].strip())}}}", line) + "\n")
    return "".join(parts)


def test_readme():
    os.mkdir(f"{WORK}/bin")
    with open(f"{WORK}/bin/ykit", "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\ncase " $* " in *" --virtual "*) exec {YKIT} "$@" ;; esac\n'
                   f'exec {YKIT} --virtual {WORK}/key.json "$@"\n')
    os.chmod(f"{WORK}/bin/ykit", 0o755)
    with open(f"{WORK}/letter.txt", "w", encoding="utf-8") as file:
        file.write("a letter\n")
    shutil.copy(f"{ROOT}/Tests/YKSecurIDTests/vectors/result.sdtid", f"{WORK}/token.sdtid")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("YKIT") or name in ("YKIT_REAL", "YKIT_NOTES")}
    environment = {**kept, "HOME": WORK, "XDG_STATE_HOME": f"{WORK}/state", "XDG_DATA_HOME": f"{WORK}/data", "YKIT_PIN": "123456",
                   "PATH": f"{WORK}/bin:{os.environ['PATH']}"}
    subprocess.run([YKIT, "virtual", "new", "key.json"], cwd=WORK, env=environment, check=True, stdout=subprocess.DEVNULL)
    expect("README has ten commands or more", len(commands()) >= 10)
    for command, lines in commands():
        if command in ELSEWHERE:
            continue
        if command.endswith("&"):
            # The agent goes on; it is asked what it has, and ended.
            command = f"{command}\npid=$!; for i in $(seq 100); do [ -S agent.sock ] && break; sleep 0.1; done\n" \
                "SSH_AUTH_SOCK=$PWD/agent.sock ssh-add -L >&2; status=$?; kill $pid; wait $pid 2>/dev/null; exit $status"
        done = subprocess.run(["bash", "-c", command], cwd=WORK, env=environment, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        shown = command.splitlines()[0]
        expect(f"$ {shown}", done.returncode == 0 or done.stderr)
        # A message is shown before the result, as a person sees both.
        seen = done.stderr + done.stdout if any("touch to approve" in line for line in lines) else done.stdout
        if lines:
            expect(f"  prints what README shows of {shown}", re.fullmatch(pattern(lines), seen) is not None or seen)
