# SPDX-License-Identifier: Apache-2.0
"""Terminals of 50, 60, 80 and 200 columns: results are written as to a pipe, lists have a line for each thing, and messages
are wrapped between words.

YKIT is the ykit to test.
"""

import os
import re
import subprocess

from lib import terminal
from lib.peer import ROOT, YKIT, expect, own_folder

FOLDER = own_folder()
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("YKIT_") or k in ("YKIT_REAL", "YKIT_NOTES")},
               "HOME": FOLDER, "TERM": "xterm", "NO_COLOR": "1", "XDG_STATE_HOME": FOLDER, "YKIT_PIN": "123456",
               "PCSCLITE_CSOCK_NAME": FOLDER + "/none"}
WIDTHS = (50, 60, 80, 200)
KEY = ["--virtual", "k.json"]
NAME = "Example Company:a.rather.long.name@example.com"


def piped(*words, stdin=""):
    return subprocess.run([YKIT, *words], input=stdin, capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT)


def made(*words, stdin=""):
    done = piped(*words, stdin=stdin)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def shown(words, width, messages=False):
    """The lines on a terminal; messages go there as well, or else nowhere."""
    words = ["sh", "-c", '"$@" 2>&1' if messages else '"$@" 2>/dev/null', "sh", YKIT, *words]
    status, seen = terminal.run(words, ENVIRONMENT, FOLDER, (), 60, width)
    return status, seen.decode().replace("\r\n", "\n").split("\n")[:-1]


def make_key():
    made("virtual", "new", "k.json")
    made(*KEY, "fido2", "pin", "set", "--new-pin-stdin", stdin="123456\n")
    for user in ("alice", "a user with a longer name"):
        made(*KEY, "fido2", "register", "--rp", "login.example.com", "--user", user, "--resident")
    for name in (NAME, NAME.replace("long", "short"), "Acme:bob"):
        made(*KEY, "oath", "add", name, "--secret-stdin", stdin="JBSWY3DPEHPK3PXP\n")
    made(*KEY, "piv", "keys", "generate", "9a", "pub.pem")
    made(*KEY, "piv", "certificates", "generate", "9a", "--subject", "CN=Alice")


def in_full():
    """Keys, URIs, commands and answers for programs are the same as in a pipe."""
    for words in (["ssh", "keys"], ["piv", "info", "--uris"], ["piv", "keys", "export", "9a", "--format", "ssh"],
                  ["oath", "list"], ["oath", "export"], ["fido2", "credentials", "list", "--json"], ["--plan", "oath", "list"]):
        wanted = made(*KEY, *words).split("\n")[:-1]
        for width in WIDTHS:
            expect(f"{' '.join(words)} at {width} columns", shown([*KEY, *words], width), (0, wanted))


def lists():
    """A list has a line for each thing, none of which is longer than the terminal is wide."""
    for words in (["oath", "list", "--codes"], ["oath", "list", "--long"], ["fido2", "credentials", "list"],
                  ["fido2", "credentials", "list", "--long"], ["sd", "keys", "list"]):
        count = len(made(*KEY, *words).split("\n")) - 1
        for width in WIDTHS:
            status, lines = shown([*KEY, *words], width)
            expect(f"{' '.join(words)} at {width} columns: {count} lines that fit",
                   (status, len(lines), max(map(len, lines)) <= width), (0, count, True))
    status, lines = shown([*KEY, "oath", "list", "--codes"], 50)
    expect("the code stands behind the shortened name",
           [bool(re.fullmatch(r"Example Company:a\.rather\.\S*…  \d{6}( .*)?", line)) for line in lines
            if line.startswith("Example")], [True, True])


def reports():
    """A report has every word at every width, and no line breaks within one."""
    for words in (["fido2", "info"], ["piv", "info"], ["info"], ["list"]):
        wanted = made(*KEY, *words).split()
        for width in WIDTHS:
            status, lines = shown([*KEY, *words], width)
            expect(f"{' '.join(words)} at {width} columns: every word is there", (status, " ".join(lines).split()), (0, wanted))
    for width in (64, 80):
        status, lines = shown(["udev-rules", "--help"], width)
        for command in ("ykit udev-rules | sudo tee /etc/udev/rules.d/70-ykit.rules", "sudo udevadm trigger -s usb -s hidraw"):
            expect(f"udev-rules --help at {width} columns: {command[:20]}…", command in [line.strip() for line in lines])
    status, lines = shown(["doctor"], 50)
    words = " ".join(piped("doctor").stdout.split())
    expect("doctor at 50 columns: every word is there", " ".join(" ".join(lines).split()), words)


def messages():
    """A message breaks between words, and never in a command."""
    cases = ([*KEY, "fido2", "assert", "--rp", "nowhere.example"], [*KEY, "oath", "calculate", "nobody"],
             ["--replay", f"{ROOT}/Tests/CLITests/fixtures/replay-ends.jsonl", "oath", "list"], ["oath", "list"])
    for words in cases:
        done = piped(*words)
        said = (done.stderr + done.stdout).split()
        commands = re.findall(r"'(ykit [^']*)'", done.stderr)
        for width in WIDTHS:
            status, lines = shown(words, width, messages=True)
            expect(f"{' '.join(words[-3:])} at {width} columns: whole words",
                   (sorted(" ".join(lines).split()), max(map(len, lines), default=0) <= max(width, *map(len, commands), 0)),
                   (sorted(said), True))
            expect(f"{' '.join(words[-3:])} at {width} columns: whole commands",
                   [any(command in line for line in lines) for command in commands], [True] * len(commands))


def test_narrow_terminal():
    make_key()
    in_full()
    lists()
    reports()
    messages()
