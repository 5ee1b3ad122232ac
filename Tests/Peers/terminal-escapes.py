# SPDX-License-Identifier: Apache-2.0
"""No foreign text controls the terminal: marked strings with control characters are in every field of a key, a tag, a
recording and a file, and every verb that shows them runs on a pseudo-terminal, which must not receive any of these
characters.

YKIT is the ykit to test.
"""

import json
import os
import re
import subprocess
import sys

from lib import terminal
from lib.peer import ROOT, YKIT, expect, own_folder

FOLDER = own_folder()
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("YKIT_") or k in ("YKIT_REAL", "YKIT_NOTES")},
               "HOME": FOLDER, "TERM": "xterm", "YKIT_KEYRING": "file", "NO_COLOR": "1", "XDG_STATE_HOME": FOLDER,
               "PCSCLITE_CSOCK_NAME": FOLDER + "/none"}
MARK = "Mk"
# ESC, BEL, C1 CSI, right-to-left override, isolate, zero-width space, tag character, DEL
EVIL = f"{MARK}\x1b]0;pwn\x07\x1b[31m\u009b2J\u202e\u2066\u200b\U000e0041\x7fz"
PIN = "123456\n"


def hazards(text):
    """The characters that a terminal would interpret or hide; lines end in CR LF on a terminal."""
    return sorted({hex(ord(c)) for c in text.replace("\r\n", "\n")
                   if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E
                   or 0x2066 <= ord(c) <= 0x2069 or ord(c) in (0x61C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF)
                   or 0xE0000 <= ord(c) <= 0xE0FFF or ord(c) == 0xFFFD})


def plain(*words, stdin=""):
    return subprocess.run([YKIT, *words], input=stdin, capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT)


def made(*words, stdin=""):
    done = plain(*words, stdin=stdin)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode} {done.stderr}")
    return done.stdout


def shows(name, words, answers=(), marked=True):
    """Runs a verb on a terminal, for people and in JSON."""
    for more in ([], ["--json"]):
        if more and not marked:
            continue
        status, seen = terminal.run([YKIT, *words, *more], ENVIRONMENT, FOLDER, answers, 60)
        text = seen.decode("utf-8", errors="replace")
        # ykit itself moves the cursor in its progress line and erases menus.
        text = re.sub(r"\r[^\r\n]* … \d+ s|\r\x1b\[K|(\x1b\[\d+A)?\r\x1b\[J", "", text)
        label = f"{name} {' '.join(more)}".strip()
        expect(f"{label}: no control character", hazards(text), [])
        if marked:
            expect(f"{label}: shows the marked text", MARK in text)


def make_key():
    made("virtual", "new", "k.json")
    made("--virtual", "k.json", "fido2", "pin", "set", "--new-pin-stdin", stdin=PIN)
    for name in (EVIL, f"{EVIL}2"):
        made("--virtual", "k.json", "fido2", "register", "--rp", "example.com", "--rp-name", EVIL, "--user", name,
             "--display-name", EVIL, "--resident", "--large-blob", "--pin-stdin", stdin=PIN)
    made("--virtual", "k.json", "oath", "add", EVIL[:40], "--secret-stdin", stdin="JBSWY3DPEHPK3PXP\n")
    made("--virtual", "k.json", "piv", "keys", "generate", "9a", "pub.pem")


def certificate():
    """A certificate whose names hold control characters, signed by openssl."""
    with open(f"{FOLDER}/openssl.cnf", "w", encoding="utf-8") as file:
        file.write("[req]\nprompt=no\nstring_mask=utf8only\nutf8=yes\ndistinguished_name=dn\n[dn]\nCN=" + MARK
                   + "\\\x1b[31m\u009b\u202e x\n")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-utf8",
                    "-keyout", "c.key", "-out", "c.pem", "-config", "openssl.cnf", "-days", "30"],
                   cwd=FOLDER, check=True, capture_output=True)
    made("--virtual", "k.json", "piv", "keys", "import", "9c", "c.key")
    made("--virtual", "k.json", "piv", "certificates", "import", "9c", "c.pem")


def ndef(text):
    payload = b"\x02en" + text.encode()
    return (b"\xd1\x01" + bytes([len(payload)]) + b"T" + payload).hex()


def test_terminal_escapes():
    make_key()
    key = ["--virtual", "k.json"]
    pin = ((r"PIN: ", PIN),)
    shows("oath list", [*key, "oath", "list"])
    shows("oath list --long", [*key, "oath", "list", "--long"])
    shows("oath calculate", [*key, "oath", "calculate"])
    shows("oath export", [*key, "oath", "export"])
    shows("oath delete, the question", [*key, "oath", "delete", MARK], ((r"\[y/N\]", "n\n"),))
    shows("fido2 credentials list", [*key, "fido2", "credentials", "list"], pin)
    shows("fido2 credentials delete, the question", [*key, "fido2", "credentials", "delete", f"{EVIL}2"],
          (*pin, (r"\[y/N\]", "n\n")))
    shows("fido2 assert, the menu", [*key, "fido2", "assert", "--rp", "example.com", "--uv", "required"],
          (*pin, ("which account", "1\n")))
    shows("fido2 register, the prompt", [*key, "fido2", "register", "--rp", "example.org", "--user", EVIL], pin)
    certificate()
    shows("piv info", [*key, "piv", "info"])
    shows("piv reset, the question", [*key, "piv", "certificates", "delete", "9c"], ((r"\[y/N\]", "n\n"),), marked=False)
    for content in (EVIL.encode(), b"\xff\xfe\x00\x01", f"line\n{EVIL}\n".encode()):
        with open(f"{FOLDER}/blob", "wb") as file:
            file.write(content)
        made(*key, "fido2", "large-blob", "set", f"{EVIL}2", "blob", "--pin-stdin", stdin=PIN)
        status, seen = terminal.run([YKIT, *key, "fido2", "large-blob", "get", f"{EVIL}2"], ENVIRONMENT, FOLDER, pin, 60)
        expect("fido2 large-blob get of such bytes is refused on a terminal",
               (status, hazards(seen.decode(errors="replace"))), (2, []))
    expect("and written to a pipe as it is",
           plain(*key, "fido2", "large-blob", "get", f"{EVIL}2", "--pin-stdin", stdin=PIN).stdout, f"line\n{EVIL}\n")
    for words in (["piv", "certificates", "export", "9c", "--format", "der", "-"],
                  ["piv", "keys", "export", "9c", "--format", "der", "-"]):
        status, seen = terminal.run([YKIT, *key, *words], ENVIRONMENT, FOLDER, (), 60)
        expect(f"{' '.join(words)}: refused on a terminal", (status, hazards(seen.decode(errors="replace"))), (2, []))
    shows("nfc parse", ["nfc", "parse", ndef(EVIL)])
    shows("otpauth URI", ["oath", "uri", f"otpauth://totp/{EVIL}?secret=JBSWY3DPEHPK3PXP", *key, "--force"])
    with open(f"{ROOT}/captures/oath/canokey-touch.jsonl", encoding="utf-8") as file:
        lines = file.read().split("\n")
    header = json.loads(lines[0])
    for name, value in header.items():
        if isinstance(value, str) and name in ("reader", "device", "name", "note", "comment"):
            header[name] = EVIL
    with open(f"{FOLDER}/evil.jsonl", "w", encoding="utf-8") as file:
        file.write("\n".join([json.dumps(header), *lines[1:]]))
    replay = ["--replay", "evil.jsonl", "--replay-mode", "lookup"]
    for words in (["capture", "show", "evil.jsonl"], ["capture", "check", "evil.jsonl"], [*replay, "list"],
                  [*replay, "info"], [*replay, "--log-level", "traffic", "oath", "list"]):
        shows(" ".join(words), words, marked=False)
    for words in ([f"--{EVIL}"], ["oath", EVIL], ["oath", "list", f"--{EVIL}"], ["oath", "list", EVIL],
                  ["piv", "info", "--device", EVIL, *key], ["--virtual", EVIL + "/x", "info"], ["--replay", EVIL, "info"],
                  ["piv", "keys", "generate", EVIL], ["fido2", "assert", "--rp", EVIL, *key],
                  ["arculus", "info", EVIL], ["oath", "calculate", EVIL, *key],
                  ["otp", "parse", EVIL], ["nfc", "parse", EVIL], ["capture", "show", EVIL]):
        shows("ykit " + " ".join(words).replace(EVIL, "EVIL"), words, marked=False)
