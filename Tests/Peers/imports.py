# SPDX-License-Identifier: Apache-2.0
"""Exports that are written here as each program documents them, with PyPI's cryptography, and imported into a virtual key;
PyOTP says which codes each account has. Tables of other programs, QR codes, and files that ask for too much.

YKIT is the ykit to test. `imports.py NAME` writes the file of a format, for the unit tests.
"""

import base64
import csv
import hashlib
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import uuid
from urllib.parse import quote

import pyotp
import pyotp.contrib
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from lib import terminal
from lib.peer import ROOT, YKIT, expect
from lib.piv_bench import FOLDER, path, run, works, write

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


def b64(data):
    return base64.b64encode(data).decode()


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


def java(text):
    """A string of a serialized Java object, in modified UTF-8."""
    units = struct.unpack(f">{len(text.encode('utf-16-be')) // 2}H", text.encode("utf-16-be"))
    data = b"".join(b"\xc0\x80" if unit == 0 else chr(unit).encode("utf-8", "surrogatepass") for unit in units)
    return b"t" + struct.pack(">H", len(data)) + data


def java_map(values):
    head = b"\xac\xed\0\x05sr\0\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16\x60\xd1\x03\0\x02F\0\x0aloadFactorI\0\x09thresholdxp"
    fields = struct.pack(">fi", 0.75, 24) + b"w\x08" + struct.pack(">ii", 32, len(values))
    return head + fields + b"".join(java(part) for pair in values.items() for part in pair) + b"x"


def signed(data):
    return [byte - 256 if byte > 127 else byte for byte in data]


def sealed_key(wrapping, plain, name):
    """An EncryptedKey of FreeOTP: the parameters of AES-GCM are DER, and the algorithm's name is authenticated."""
    nonce = os.urandom(12)
    return {"mCipher": "AES/GCM/NoPadding", "mCipherText": signed(AESGCM(wrapping).encrypt(nonce, plain, name.encode())),
            "mParameters": signed(b"\x30\x11\x04\x0c" + nonce + b"\x02\x01\x10"), "mToken": name}


@writer("freeotp2", "totp", "hotp", "steam", password=True)
def freeotp2(accounts, rounds=100_000, hash_name="sha512"):
    salt, master = os.urandom(32), os.urandom(32)
    wrapping = hashlib.pbkdf2_hmac(hash_name, PASSWORD.encode(), salt, rounds, 32)
    values = {"masterKey": json.dumps({"mAlgorithm": "PBKDF2withHmac" + hash_name.upper(), "mEncryptedKey": sealed_key(wrapping, master, "AES"),
                                       "mIterations": rounds, "mSalt": signed(salt)})}
    for account in accounts:
        token = {"algo": account["algorithm"], "digits": account["digits"], "label": account["name"],
                 "type": "HOTP" if account["type"] == "hotp" else "TOTP"}
        token |= {"issuerExt": account["issuer"], "issuerInt": account["issuer"]} if account["issuer"] else {}
        token |= {"counter": account["counter"]} if account["type"] == "hotp" else {"period": account["period"]}
        name = str(uuid.uuid4())
        sealed = json.dumps(sealed_key(master, key(account), "Hmac" + account["algorithm"]))
        values |= {name: json.dumps({"key": sealed}), name + "-token": json.dumps(token, ensure_ascii=False)}
    return java_map(values)


@writer("steam", "steam")
def steam(accounts):
    account = accounts[0]
    return json.dumps({
        "shared_secret": b64(key(account)), "serial_number": "1234567890", "revocation_code": "R12345", "uri": uri(account),
        "server_time": 1700000000, "account_name": account["name"], "token_gid": "0123456789abcdef", "identity_secret": b64(os.urandom(20)),
        "secret_1": b64(os.urandom(20)), "status": 1, "device_id": "android:" + str(uuid.uuid4()), "fully_enrolled": True,
        "Session": {"SteamID": 76561190000000000}}).encode()


@writer("proton", "totp", "steam", password=True)
def proton(accounts):
    salt, nonce = os.urandom(16), os.urandom(12)
    entries = [{"id": str(uuid.uuid4()), "content": {
        "uri": "steam://" + account["secret"] if account["type"] == "steam" else uri(account),
        "entry_type": "Steam" if account["type"] == "steam" else "Totp", "name": account["name"]}, "note": None} for account in accounts]
    plain = json.dumps({"version": 1, "entries": entries}).encode()
    derived = Argon2id(salt=salt, length=32, iterations=2, lanes=1, memory_cost=19 * 1024).derive(PASSWORD.encode())
    sealed = nonce + AESGCM(derived).encrypt(nonce, plain, b"proton.authenticator.export.v1")
    return json.dumps({"version": 1, "salt": b64(salt), "content": b64(sealed)}).encode()


def table(rows, **dialect):
    out = io.StringIO()
    csv.writer(out, **dialect).writerows(rows)
    return out.getvalue()


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


def test_passwords():
    for name in (name for name, row in WRITERS.items() if row[2]):
        function, accounts, _ = WRITERS[name]
        write("locked", function(accounts))
        status, shown = run(YKIT, "--virtual", "none.key", "oath", "import", "--yes", "--file-password-stdin", "locked", text="test-passwore\n")
        expect(f"{name}: a wrong password", (status, "is wrong, or the file was modified" in shown), (8, True))
        status, shown = run(YKIT, "--virtual", "none.key", "oath", "import", "--yes", "locked", text="")
        expect(f"{name}: nobody to ask", (status, "--file-password-stdin" in shown), (17, True))
    accounts = WRITERS["freeotp2"][1]
    imported("freeotp2-sha1", freeotp2(accounts, 20_000, "sha1"), accounts, "--file-password-stdin", text=PASSWORD + "\n")


def test_limits():
    """A file does not decide how much time is spent."""
    changed = freeotp2(ACCOUNTS[:1], rounds=100_000).replace(b'"mIterations": 100000', b'"mIterations": 999999')
    write("slow", changed)
    status, shown = run(YKIT, "--virtual", "slow.key", "oath", "import", "--yes", "--file-password-stdin", "slow", text=PASSWORD + "\n")
    expect("another number of rounds is a wrong password", (status, "is wrong" in shown), (8, True))
    content = freeotp2(ACCOUNTS[:1], rounds=1)
    for rounds in (0, -1, 10_000_001, 2**31 - 1, 2**63 - 1):
        text = f'"mIterations": {rounds}'.encode()
        size = len(text) - len(b'"mIterations": 1')
        changed = content.replace(b'"mIterations": 1', text)
        # The string that holds it is longer.
        place = content.index(b"masterKey") + len(b"masterKey") + 1
        length = struct.unpack_from(">H", changed, place)[0] + size
        write("rounds", changed[:place] + struct.pack(">H", length) + changed[place + 2:])
        status, shown = run(YKIT, "--virtual", "slow.key", "oath", "import", "--yes", "--file-password-stdin", "rounds", text=PASSWORD + "\n", timeout=20)
        expect(f"{rounds} rounds are refused before they are tried", (status, "FreeOTP 2" in shown), (13, True))


def test_tables():
    totp = [account for account in ACCOUNTS if account["type"] == "totp"]
    named = [account for account in totp if account["issuer"]]
    uris = [["Title", "Username", "Password", "One-time password"]] + [[a["issuer"], "u", "p", uri(a)] for a in totp]
    imported("uris.csv", table(uris).encode(), totp, "--column", "one-time password")
    imported("numbered.csv", table(uris).encode("utf-8-sig"), totp, "--column", "4")
    imported("semicolons.csv", table(uris, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").encode(), totp, "--column", "One-time password")
    imported("tabs.tsv", table(uris, delimiter="\t").encode("utf-16"), totp, "--column", "One-time password")
    imported("no-header.csv", table([["x", *row] for row in uris[1:]]).encode(), totp, "--column", "5")
    secrets = [["issuer", "account", "secret", "algorithm", "digits", "period"]]
    secrets += [[a["issuer"], a["name"], a["secret"].lower(), a["algorithm"], a["digits"], a["period"]] for a in named]
    imported("secrets.csv", table(secrets).encode(), named, "--column", "secret")
    hotp = [account for account in ACCOUNTS if account["type"] == "hotp"]
    rows = [["service", "login", "type", "counter", "totp secret"]] + [[a["issuer"], a["name"], "hotp", a["counter"], a["secret"]] for a in hotp]
    imported("counters.csv", table(rows).encode(), hotp, "--column", "totp secret")
    write("odd.csv", table([["name", "secret", "digits"], ["a", SECRET, "9"], ["b", "not base 32!", ""], ["c", SECRET, "x"], ["d", "AB", ""],
                            ["e", SECRET, ""], ["", SECRET, ""], ["f"], []]).encode())
    status, shown = run(YKIT, "--virtual", "odd.key", "oath", "import", "--yes", "--column", "secret", "odd.csv")
    lines = shown.splitlines()
    expect("each row with its reason", (status, [line for line in lines if line.startswith("added")], sum(line.startswith("refused") for line in lines)),
           (13, ["added 'e'"], 6))


SECRET = base64.b32encode(b"throw-away secret 01").decode()


def test_columns():
    """Without a terminal the columns are named, on one they are shown and asked about."""
    write("two.csv", table([["Name", "Secret", "Code", "Password"], ["a", SECRET, f"otpauth://totp/Acme:b?secret={SECRET}", "hunter2"]]).encode())
    for before in ([], ["--json"], ["--plan"]):
        status, shown = run(YKIT, *before, "--virtual", "two.key", "oath", "import", "two.csv")
        expect(f"{before}: an error names the columns", (status, "'Code' (1 otpauth URI), 'Secret' (1 secret)" in shown, "hunter2" in shown), (2, True, False))
    status, shown = run(YKIT, "--virtual", "two.key", "oath", "import", "--yes", "two.csv", "--column", "password")
    expect("a column with something else is refused", (status, "hunter2" in shown), (2, False))
    environment = {**os.environ, "HOME": FOLDER, "XDG_STATE_HOME": FOLDER, "TERM": "xterm", "NO_COLOR": "1"}
    works("a key", YKIT, "virtual", "new", "menu.key")
    with terminal.Terminal([YKIT, "--virtual", "menu.key", "oath", "import", "--yes", "two.csv"], environment, FOLDER) as shown:
        expect("the columns are shown", shown.expect("'Secret': 1 secret") is not None)
        shown.type("1\n")
        status = shown.wait(60)
    expect("and the chosen one is read", (status, run(YKIT, "--virtual", "menu.key", "oath", "list")[1].split()), (0, ["Acme:b"]))


def test_steam():
    """What a key cannot hold is told, and never shown."""
    content = json.loads(steam([ACCOUNTS[-1]]))
    shown = imported("dave.maFile", json.dumps(content).encode(), [ACCOUNTS[-1]])
    expect("what stays in the file", "keep the file for identity_secret, secret_1, revocation_code" in shown)
    expect("is not shown", [name for name in ("identity_secret", "secret_1", "revocation_code", "shared_secret") if content[name] in shown], [])
    many = {"accounts": {"1": content, "2": {**content, "account_name": "erin"}, "3": {**content, "account_name": "bad", "shared_secret": "!"}}}
    write("many.json", json.dumps(many).encode())
    status, shown = run(YKIT, "--virtual", "many.key", "oath", "import", "--yes", "many.json")
    expect("several accounts of the app", (status, shown.count("added '"), "secret is not understood" in shown), (13, 2, True))
    manifest = {"encrypted": True, "first_run": True, "entries": [{"encryption_iv": "AA==", "encryption_salt": "AA==", "filename": "1.maFile", "steamid": 1}]}
    for name, data in (("manifest.json", json.dumps(manifest).encode()), ("encrypted.maFile", b64(os.urandom(1024)).encode())):
        write(name, data)
        status, shown = run(YKIT, "--virtual", "many.key", "oath", "import", "--yes", name)
        expect(f"{name} is refused with what to do", (status, "maFile" in shown, "hint: " in shown), (11, True, True))


def test_qr():
    """Whatever a QR code holds: contacts of several lines, other alphabets, bytes; secrets only with --reveal."""
    if not shutil.which("qrencode"):
        return
    payloads = ["hello", "BEGIN:VCARD\nFN:Jörg Größe\nEND:VCARD", "https://example.com/größe", f"otpauth://totp/Börse:a?secret={SECRET}&issuer=B%C3%B6rse",
                "WIFI:T:WPA;S:net;P:hunter2 hunter2;;", "https://alice:hunter2@example.com/a?code=hunter2#hunter2", "日本語 hunter2", "FIDO:/1234"]
    for number, payload in enumerate(payloads):
        subprocess.run(["qrencode", "-8", "-o", path(f"{number}.png"), payload], check=True)
        shown = works(f"{number}: is read", YKIT, "qr", "--reveal", f"{number}.png")
        expect(f"{number}: is shown", shown, payload + "\n")
        _, shown = run(YKIT, "qr", f"{number}.png")
        expect(f"{number}: no secret without --reveal", [word for word in (SECRET, "hunter2", "1234") if word in shown], [])
        _, shown = run(YKIT, "qr", "--json", f"{number}.png")
        expect(f"{number}: nor in JSON", [word for word in (SECRET, "hunter2", "1234") if word in shown], [])
    data = bytes([0, 1, 255, 254, 128]) + b"bytes"
    subprocess.run(["qrencode", "-8", "-o", path("bytes.png")], input=data, check=True)
    _, shown = run(YKIT, "qr", "--reveal", "--json", "bytes.png")
    found = json.loads(shown)["codes"][0]
    expect("bytes", (found["kind"], found["text"], base64.urlsafe_b64decode(found["bytes"] + "==")), ("binary", None, data))


if __name__ == "__main__":
    function, accounts, _ = WRITERS[sys.argv[1]]
    sys.stdout.buffer.write(function(accounts))
