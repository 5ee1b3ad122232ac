# SPDX-License-Identifier: Apache-2.0
"""Every line of README's blocks for a shell is typed as it stands, from top to bottom, into a shell in an empty folder, on a
machine without a key; prompts are answered as a person answers them, and every line succeeds. The picture of README shows what
ykit prints now. YKIT is the ykit to test.
"""

import html
import os
import pathlib
import re
import subprocess

from lib.peer import ROOT, YKIT, expect, own_folder
from lib.terminal import Terminal

WORK = own_folder()
README = pathlib.Path(ROOT, "README.md").read_text(encoding="utf-8")
PIN = "123456"
#: What is answered to a question, the first that matches; a step of setup is run once.
ANSWERS = [(r"run it\? \[[yY]/[nN]\] $", ["y", "n"]), (r"\[[yY]/[nN]\] $", ["y"]), (r"PIN[^\n]*: $", [PIN]), (r"repeat it: $", [PIN]),
           (r"passphrase[^\n]*: $", [""])]
PROMPT = "typed> "


def typed():
    """The lines of all blocks for a shell, without the mark of the prompt."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.S | re.M)
    return [line[2:] for block in blocks for line in block.splitlines()]


def answered(terminal, start, counts):
    """Answers until the shell prompts again; returns what it showed, or None."""
    while True:
        seen = terminal.seen[start:].decode(errors="replace").replace("\r", "")
        if seen.endswith(PROMPT):
            return seen
        for pattern, answers in ANSWERS:
            if re.search(pattern, seen):
                count = counts.get(pattern, 0)
                counts[pattern] = count + 1
                start = len(terminal.seen)
                terminal.type(answers[min(count, len(answers) - 1)] + "\r")
                break
        else:
            before = len(terminal.seen)
            terminal.read(20)
            if len(terminal.seen) == before:
                return None


def shell():
    """A shell in an empty folder, with ykit in its PATH."""
    os.makedirs(f"{WORK}/bin"), os.mkdir(f"{WORK}/empty")
    with open(f"{WORK}/bin/ykit", "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {YKIT} "$@"\n')
    os.chmod(f"{WORK}/bin/ykit", 0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("YKIT") or name in ("YKIT_REAL", "YKIT_NOTES")}
    kept.pop("SSH_AUTH_SOCK", None)
    environment = {**kept, "HOME": f"{WORK}/empty", "XDG_RUNTIME_DIR": f"{WORK}/empty", "PATH": f"{WORK}/bin:{os.environ['PATH']}",
                   "PS1": PROMPT, "TERM": "dumb"}
    environment.pop("PROMPT_COMMAND", None)
    return Terminal(["bash", "--norc", "--noprofile", "-i"], environment, f"{WORK}/empty")


def test_every_line_works_as_typed():
    lines = typed()
    expect("README has at least 13 lines", len(lines) >= 13)
    counts = {}
    with shell() as terminal:
        expect("a shell", terminal.expect(PROMPT) is not None)
        for line in lines:
            start = len(terminal.seen)
            terminal.type(line + "\r")
            terminal.expect(re.escape("\n"), after=start)
            seen = answered(terminal, len(terminal.seen) if line == "" else start + len(line) + 1, counts)
            start = len(terminal.seen)
            terminal.type("echo status=$?\r")
            terminal.expect(r"status=\d+\r", after=start)
            status = re.search(r"^status=(\d+)", terminal.seen[start:].decode().replace("\r", ""), re.M)
            expect(f"$ {line.split('  #')[0].strip()}", (status and status[1]) == "0" or seen or "no answer")
            terminal.expect(PROMPT, after=start + 8)
        terminal.type("kill $SSH_AGENT_PID; exit\r")
        terminal.expect("exit", seconds=5)


def test_first_screen():
    lines = README.splitlines()
    first = next(number for number, line in enumerate(lines, 1) if line.startswith("$ ykit"))
    expect("the first command is on line 12 or before", first <= 12 or first)
    block = re.search(r"^```sh\n(.*?)^```$", README, re.S | re.M)[1].splitlines()
    expect("it has seven commands", sum(" ykit " in line and not line.startswith("$ alias") for line in block), 7)
    expect("no line of a block depends on the clock", [line for line in typed() if re.search(r"^\d{6,8}$", line)], [])


def test_install_tells_the_truth():
    version = subprocess.run([YKIT, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    expect("it names the package that tools/package writes", f".build/packages/ykit_{version}-1_amd64.deb" in README)
    expect("its tools exist", [tool for tool in re.findall(r"`(tools/\w+)", README) if not pathlib.Path(ROOT, tool).exists()], [])
    tags = subprocess.run(["git", "-C", ROOT, "tag"], capture_output=True, text=True, check=False).stdout
    expect("it has the address of releases only if there is one", bool(tags.strip()) or "/releases" not in README)


def masked(text):
    """A text without what is different in each run: codes, seconds, serial numbers."""
    return re.sub(r"\d+ s$|\b\d{6,8}\b", "0", re.sub(r" +", " ", text)).strip()


def test_picture():
    for name in ("terminal.svg", "terminal~dark.svg"):
        expect(f"README shows {name}", f"ykit.docc/{name}#" in README)
    now = subprocess.run([f"{ROOT}/tools/build/terminal_picture", YKIT, "--text"], capture_output=True, text=True, timeout=120, check=True)
    with open(f"{ROOT}/Sources/ykit/ykit.docc/terminal.svg", encoding="utf-8") as file:
        rows = {}
        for y, text in re.findall(r'<text x="[^"]*" y="(\d+)"[^>]*>([^<]*)</text>', file.read()):
            rows.setdefault(int(y), []).append(html.unescape(text).strip())
    drawn = [masked(" ".join(rows[y])) for y in sorted(rows)]
    expect("the picture has what ykit prints; tools/docs --picture draws it again", drawn, [masked(line) for line in now.stdout.splitlines() if line])
