# SPDX-License-Identifier: Apache-2.0
"""Help leads: a verb's own arguments and options come first, then examples, and last, in few lines, where secrets are read from and
the global options; 'ykit help -k' finds the command for what a person wants to do. YKIT is the ykit to test.
"""

import json
import re
import subprocess

from lib.peer import YKIT, expect

#: What people want in the first weeks, as words to search for, and the command that is to be among the first found.
TASKS = [
    ("passkey", "fido2 credentials"), ("passkeys", "fido2 credentials"), ("webauthn", "fido2 credentials"), ("set pin", "fido2 pin set"),
    ("change pin", "fido2 pin change"), ("change-pin", "piv access change-pin"), ("unblock", "piv access unblock-pin"),
    ("totp", "oath"), ("codes", "oath calculate"), ("qr", "oath import"), ("import accounts", "oath import"), ("rename", "oath rename"),
    ("spare", "compare"), ("second key", "compare"), ("fingerprint", "fido2 fingerprints"),
    ("ssh key", "ssh generate"), ("agent", "ssh agent"), ("sign a file", "ssh sign"), ("disk", "luks"), ("volume", "luks add"),
    ("certificate request", "piv certificates request"), ("certificate", "piv certificates"), ("verify attestation", "piv attest"),
    ("gpg", "openpgp"), ("encrypt", "age"), ("static password", "otp static"), ("challenge", "otp chalresp"), ("swap", "otp swap"),
    ("disable", "config usb"), ("nfc", "config nfc"), ("lock code", "config lock-code"), ("reset", "fido2 reset"), ("reset", "piv reset"),
    ("udev", "udev-rules"), ("permission", "doctor"), ("json schema", "schema"), ("completion", "completion"), ("securid", "securid import"),
    ("record", "capture"), ("virtual", "virtual serve"), ("large blob", "fido2 large-blob"), ("management key", "piv access change-management-key"),
    ("tries", "piv access set-retries"), ("exit codes", "help exit-codes"), ("alias", "help config"),
]
ORDER = ["ARGUMENTS", "OPTIONS", "EXAMPLES", "SECRETS", "GLOBAL OPTIONS"]


def ykit(*words):
    done = subprocess.run([YKIT, *words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


def verbs():
    return list(json.loads(ykit("schema")[1]))


def place(title):
    """Where a section is to be: those of options with another title are a verb's own."""
    return next((number for number, name in enumerate(ORDER) if title.startswith(name)), 1)


def test_order():
    total, last, wrong, long = 0, 0, [], []
    for verb in verbs():
        status, text = ykit("help", *verb.split())
        lines = text.splitlines()
        total += len(lines)
        titles = [(number, match[1]) for number, line in enumerate(lines) if (match := re.match(r"([A-Z]{4}[A-Za-z ,&-]*|NEW KEY):", line))]
        titles = [(number, title) for number, title in titles if title not in ("OVERVIEW", "USAGE", "WHEN")]
        places = [place(title) for _, title in titles]
        if status or places != sorted(places):
            wrong.append((verb, [title for _, title in titles]))
        start = next((number for number, title in titles if place(title) >= 3), len(lines))
        last += len(lines) - start
        if len(lines) > 90:
            long.append((verb, len(lines)))
    expect("own options come first, then examples, secrets and global options", wrong, [])
    share = 100 * last / total
    print(f"{total} lines of help, {last} ({share:.0f} %) of them about secrets and global options")
    expect("secrets and global options are at most 20 % of all lines", share <= 20 or share)
    expect("no help has more than 90 lines", long, [])


def test_search():
    for words, wanted in TASKS:
        status, text = ykit("help", "-k", *words.split())
        found = [line[7:] for line in text.splitlines() if line.startswith("  ykit ")]
        expect(f"help -k {words}: {wanted}", status == 0 and any(f"{line} ".startswith(f"{wanted} ") for line in found[:12]) or found[:12])
    expect("an option of help that does not exist is usage", ykit("help", "--bogus")[0], 2)
    expect("a word in no help is not found", ykit("help", "-k", "xyzzy")[0], 12)
    expect("-k without a word is usage", ykit("help", "-k")[0], 2)
