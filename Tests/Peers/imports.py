# SPDX-License-Identifier: Apache-2.0
"""Exports that are written here as each program documents them, with PyPI's cryptography, and imported into a virtual key;
PyOTP says which codes each account has. Tables of other programs, QR codes, and files that ask for too much.

YKIT is the ykit to test. `imports.py NAME` writes the file of a format, for the unit tests.
"""

import base64
import hashlib
import json
import sys
import uuid
from urllib.parse import quote

import pyotp
import pyotp.contrib

from lib.peer import ROOT, YKIT, expect
from lib.piv_bench import run, works, write

PASSWORD = "test-password"
TIME = 1_750_000_017
#: Six accounts: TOTP with each algorithm, without an issuer, in Unicode, HOTP, and Steam.
with open(f"{ROOT}/Tests/Fixtures/exports/expected.json") as file:
    ACCOUNTS = json.load(file)["aegis-plain.json"]["accounts"]
WRITERS = {}


def writer(name, *kinds, password=False):
    """Registers what writes a file of a format, with the types of accounts that the format has."""
    def register(function):
        WRITERS[name] = function, [account for account in ACCOUNTS if account["type"] in kinds], password
        return function
    return register


def key(account):
    return base64.b32decode(account["secret"] + "=" * (-len(account["secret"]) % 8))


def uri(account):
    label = ":".join(quote(part) for part in (account["issuer"], account["name"]) if part)
    query = {"secret": account["secret"], "issuer": account["issuer"], "algorithm": account["algorithm"],
             "digits": account["digits"], "period": account["period"]}
    if account["type"] == "hotp":
        query["counter"] = account["counter"]
    return f"otpauth://{account['type']}/{label}?" + "&".join(f"{name}={quote(str(value))}" for name, value in query.items() if value != "")


@writer("lastpass", "totp")
def lastpass(accounts):
    rows = [{"accountID": str(uuid.uuid4()), "lmiUserId": "", "issuerName": account["issuer"], "originalIssuerName": "before " + account["issuer"],
             "userName": account["name"], "originalUserName": "before", "pushNotification": False, "secret": account["secret"],
             "timeStep": account["period"], "digits": account["digits"], "creationTimestamp": 1722179392, "isFavorite": False,
             "algorithm": account["algorithm"], "folderData": {"folderId": 0, "position": 0}} for account in accounts]
    return json.dumps({"deviceId": "", "deviceSecret": "", "localDeviceId": str(uuid.uuid4()), "deviceName": "Phone", "version": 3,
                       "accounts": rows, "folders": [{"id": 0, "name": "Other", "isOpened": True}]}).encode()


@writer("2fauth", "totp", "hotp", "steam")
def two_fauth(accounts):
    rows = [{"otp_type": {"steam": "steamtotp"}.get(account["type"], account["type"]), "account": account["name"],
             "service": account["issuer"] or None, "icon": None, "icon_mime": None, "icon_file": None, "secret": account["secret"],
             "digits": account["digits"], "algorithm": account["algorithm"].lower(),
             "period": None if account["type"] == "hotp" else account["period"],
             "counter": account["counter"] if account["type"] == "hotp" else None, "legacy_uri": uri(account)} for account in accounts]
    return json.dumps({"app": "2fauth_v5.6.0", "schema": 1, "datetime": "2026-01-01T00:00:00.000000Z", "data": rows}, indent=4).encode()


def full(account):
    """The name on a key."""
    label = ":".join(part for part in (account["issuer"], account["name"]) if part)
    return label if account["type"] == "hotp" or account["period"] == 30 else f"{account['period']}/{label}"


def code(account):
    """PyOTP's code at TIME, or at the account's counter. PyOTP refuses short secrets, and HMAC fills them with zeros."""
    secret = base64.b32encode(key(account).ljust(20, b"\0")).decode()
    if account["type"] == "steam":
        return pyotp.contrib.Steam(secret).at(TIME)
    digest = getattr(hashlib, account["algorithm"].lower())
    if account["type"] == "hotp":
        return pyotp.HOTP(secret, digits=account["digits"], digest=digest).at(account["counter"])
    return pyotp.TOTP(secret, digits=account["digits"], digest=digest, interval=account["period"]).at(TIME)


def expect_codes(name, state, accounts):
    """The virtual key in a file has these accounts, and computes PyOTP's codes."""
    for account in accounts:
        at = [] if account["type"] == "hotp" else ["--at", str(TIME)]
        status, shown = run(YKIT, "--virtual", state, "oath", "calculate", "--single", full(account), *at)
        expect(f"{name}: the code of {full(account)}", (status, shown.strip()), (0, code(account)))
    listed = run(YKIT, "--virtual", state, "oath", "list")[1].splitlines()
    expect(f"{name}: no other account", len(listed), len(accounts))


def imported(name, content, accounts, *options, text=None):
    state = f"{name}.key"
    works(f"{name}: a key", YKIT, "virtual", "new", state)
    write(name, content)
    shown = works(f"{name} is imported", YKIT, "--virtual", state, "oath", "import", "--yes", *options, name, text=text)
    expect_codes(name, state, accounts)
    return shown


def test_formats():
    for name, (function, accounts, password) in WRITERS.items():
        options = ["--file-password-stdin"] if password else []
        shown = imported(name, function(accounts), accounts, *options, text=PASSWORD + "\n" if password else None)
        expect(f"{name}: no secret is shown", [word for word in (PASSWORD, *(account["secret"] for account in accounts)) if word in shown], [])


if __name__ == "__main__":
    function, accounts, _ = WRITERS[sys.argv[1]]
    sys.stdout.buffer.write(function(accounts))
