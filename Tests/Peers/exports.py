# SPDX-License-Identifier: Apache-2.0
"""Exports of other authenticators on a terminal: the plan, the password that is typed, the progress of 64 accounts, and what a
key cannot hold. PyPI's cryptography encrypts exports of its own.

YKIT is the ykit to test.
"""

import base64
import hashlib
import json
import os
import shutil

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from lib import terminal
from lib.peer import ROOT, YKIT, expect
from lib.piv_bench import FOLDER, path, read, run, works, write

SAMPLES = f"{ROOT}/Tests/Fixtures/exports"
PASSWORD = "test-password"
SECRET = base64.b32encode(b"throw-away secret 01").decode()


def environment():
    return {**os.environ, "HOME": FOLDER, "XDG_STATE_HOME": FOLDER, "TERM": "xterm", "NO_COLOR": "1"}


def listed(key):
    return run(YKIT, "--virtual", key, "oath", "list")[1].splitlines()


def typed(key, file, *answers, plan=False):
    """What ykit shows on a terminal on which these answers are typed, each when nothing is echoed any more."""
    words = [YKIT, "--virtual", key, *(["--plan"] if plan else []), "oath", "import", file, *([] if plan else ["--yes"])]
    with terminal.Terminal(words, environment(), FOLDER) as shown:
        place = 0
        for answer in answers:
            place = shown.expect("password[^\n]*: ", after=place)
            if place is None:
                return None, shown.seen.decode(errors="replace")
            for _ in range(100):
                if shown.echoes:
                    shown.read(0.05)
            shown.type(answer + "\n")
        return shown.wait(120), shown.seen.decode(errors="replace")


def test_samples():
    with open(f"{SAMPLES}/expected.json") as file:
        expected = json.load(file)
    for name, row in expected.items():
        if not row.get("password"):
            continue
        shutil.copy(f"{SAMPLES}/{name}", path(name))
        works(f"a key for {name}", YKIT, "virtual", "new", f"{name}.key")
        if name.endswith(".kdbx"):
            status, shown = typed(f"{name}.key", name)
            expect(f"{name} is refused by its name", (status, "KeePass database" in shown), (11, True))
            continue
        status, shown = typed(f"{name}.key", name, PASSWORD)
        expect(f"{name}: the password is asked for, and all accounts are added", (status, shown.count("added '")),
               (0, len(row["accounts"])))
        names = [entry.split("/", 1)[-1] if entry[:1].isdigit() else entry for entry in listed(f"{name}.key")]
        wanted = [(account["issuer"] + ":" if account["issuer"] else "") + account["name"] for account in row["accounts"]]
        expect(f"{name}: they are on the key", sorted(names), sorted(wanted))
        expect(f"{name}: neither password nor secrets are shown", [
            word for word in [PASSWORD, *(account["secret"] for account in row["accounts"])] if word in shown], [])
    status, shown = typed("2fas-encrypted.2fas.key", "2fas-encrypted.2fas", "wrong")
    expect("a wrong password", (status, "is wrong, or the file was changed" in shown, "added" in shown), (8, True, False))


def test_sixty_four():
    """As many accounts as a key holds, in an encrypted backup of 2FAS."""
    services = [{"name": f"Site {number:02}", "secret": SECRET, "otp": {"account": f"user{number:02}@example.com"}}
                for number in range(65)]
    salt, nonce = os.urandom(256), os.urandom(12)
    sealed = AESGCM(hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, 10_000, 32)).encrypt(
        nonce, json.dumps(services[:64]).encode(), None)
    parts = ":".join(base64.b64encode(part).decode() for part in (sealed, salt, nonce))
    write("many.2fas", json.dumps({"schemaVersion": 4, "services": [], "servicesEncrypted": parts}).encode())
    works("a key for 64 accounts", YKIT, "virtual", "new", "many.key")
    before = read("many.key")
    status, shown = typed("many.key", "many.2fas", PASSWORD, plan=True)
    expect("the plan lists 64 accounts first", (status, "64 of 64 accounts can be added" in shown, "user63@example.com" in shown),
           (0, True, True))
    expect("and changes nothing", read("many.key") == before)
    status, shown = typed("many.key", "many.2fas", PASSWORD)
    expect("64 accounts are added", (status, shown.count("added '"), len(listed("many.key"))), (0, 64, 64))
    steps = [f"adding {number} of 64" in shown for number in (1, 32, 64)]
    expect("with their progress, which is gone at the end", (steps, shown.rstrip().endswith("example.com'")), ([True] * 3, True))
    write("one.2fas", json.dumps({"schemaVersion": 4, "services": services[64:]}).encode())
    status, shown = typed("many.key", "one.2fas")
    expect("one more is refused by name", (status != 0, "user64@example.com" in shown, len(listed("many.key"))), (True, True, 64))


def test_cannot_be_held():
    """Each account with its reason; the others are added."""
    entries = [("totp", "fits", {}), ("motp", "m", {}), ("yandex", "y", {}), ("totp", "nine", {"digits": 9}),
               ("totp", "md5", {"algo": "MD5"}), ("totp", "n" * 80, {}), ("totp", "no secret", {"secret": ""}), ("steam", "gamer", {})]
    db = {"version": 3, "entries": [
        {"type": kind, "name": name, "issuer": "I", "info": {"secret": SECRET, "algo": "SHA1", "digits": 6, "period": 30, **info}}
        for kind, name, info in entries]}
    write("mixed.json", json.dumps({"version": 1, "header": {"slots": None, "params": None}, "db": db}).encode())
    works("a key for a mixture", YKIT, "virtual", "new", "mixed.key")
    status, shown = typed("mixed.key", "mixed.json")
    expect("what a key can hold is added", sorted(listed("mixed.key")), ["I:fits", "Steam:gamer"])
    lines = [line for line in shown.splitlines() if "refused" in line]
    expect("the rest is refused, each with the reason", [
        part for part in ("type", "9", "MD5", "64", "secret") if not any(part in line for line in lines)], [])
    expect("by name, and none twice", (status, len(lines)), (13, 6))
