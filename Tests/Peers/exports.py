# SPDX-License-Identifier: Apache-2.0
"""Exports of other authenticators on a terminal: the plan, the password that is typed, the progress of 64 accounts, and what a
key cannot hold. PyPI's cryptography encrypts exports of its own, python-pskc
and ykman say what others make of the same files and URIs, and qrencode draws QR codes.

YKIT is the ykit to test.
"""

import base64
import csv
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from lib import terminal
from lib.peer import REAL, ROOT, YKIT, expect
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
        if "encrypted-old" in name:
            # Nothing says that this file is encrypted, so nobody is asked.
            status, shown = typed(f"{name}.key", name)
            expect(f"{name}: no password is asked for", (status, "not a file that ykit can read" in shown), (13, True))
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
    expect("a wrong password", (status, "is wrong, or the file was modified" in shown, "added" in shown), (8, True, False))


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


MARK = "Marked-Secret-7f3a91c2"
#: What is shown of an account.
NAMES = {"issuer", "name", "label", "account", "username", "issuerExt", "issuerInt", "Issuer", "Username", "originalUserName", "userName",
         "issuerName", "originalIssuerName", "service"}


def replaced(value, mark, path=()):
    """Copies of a JSON value, in each of which one text or number is the mark, with the way to it."""
    if isinstance(value, dict):
        for key, member in value.items():
            for way, other in replaced(member, mark, (*path, key)):
                yield way, {**value, key: other}
    elif isinstance(value, list):
        # The first two say what the others would.
        for place, member in enumerate(value[:2]):
            for way, other in replaced(member, mark, (*path, str(place))):
                yield way, [*value[:place], other, *value[place + 1:]]
    elif path and path[-1] not in NAMES:
        yield path, mark


def shows_mark(key, file):
    """Whether an import shows the mark, for people or for programs."""
    found = False
    for before in ([], ["--json"], ["--plan"]):
        _, output = run(YKIT, *before, "--virtual", key, "oath", "import", "--yes", "--force", file)
        found = found or MARK.lower() in output.lower()
    return found


def test_marked_fields():
    """A password in the wrong field of an export is in no message."""
    works("a key for marks", YKIT, "virtual", "new", "fields.key")
    codes = f"{ROOT}/Tests/Fixtures/codes"
    exports = [f"{SAMPLES}/{name}" for name in sorted(os.listdir(SAMPLES)) if name.endswith((".json", ".2fas")) and name != "expected.json"]
    exports += [f"{codes}/{name}" for name in ("2fauth.json", "lastpass.json", "authy.json", "proton-empty-label.json")]
    for name in exports:
        if "encrypted" in name or "password" in name:
            continue
        with open(name) as file:
            value = json.load(file)
        shown = []
        for way, other in replaced(value, MARK):
            write("marked.json", json.dumps(other).encode())
            if shows_mark("fields.key", "marked.json"):
                shown.append("/".join(way))
        expect(f"{os.path.basename(name)}: no field is quoted", shown, [])


def test_marked_rows():
    """The same for tables, lines and key containers."""
    works("a key for marks", YKIT, "virtual", "new", "rows.key")
    codes = f"{ROOT}/Tests/Fixtures/codes"
    tables = [f"{SAMPLES}/bitwarden.csv", f"{SAMPLES}/keepassxc.csv", *(f"{codes}/{name}" for name in sorted(os.listdir(codes)) if
                                                                       name.endswith(".csv") and "latin1" not in name)]
    for name in tables:
        with open(name, newline="") as file:
            rows = list(csv.reader(file))
        shown = []
        for column, title in enumerate(rows[0]):
            if title.lower() in ("title", "name", "username", "login_username"):
                continue
            out = io.StringIO()
            csv.writer(out).writerows([rows[0], *([*row[:column], MARK + "://x", *row[column + 1:]] for row in rows[1:])])
            write("marked.csv", out.getvalue().encode())
            if shows_mark("rows.key", "marked.csv"):
                shown.append(title)
        expect(f"{os.path.basename(name)}: no column is quoted", shown, [])
    for name in ("checkdigits.pskc", "alg-frag.pskc"):
        with open(f"{codes}/{name}") as file:
            text = file.read()
        shown = []
        for part in (
            "urn:ietf:params:xml:ns:keyprov:pskc:hotp",
            "urn:ietf:params:xml:ns:keyprov:pskc#totp",
            "DECIMAL",
            '"6"',
            "SGVsbG8h3q2+70hlbGxvId6tvu8=",
            ">0<",
            ">30<",
        ):
            if part in text:
                mark = part[0] + MARK + part[-1] if part[0] in '">' else MARK
                write("marked.pskc", text.replace(part, mark).encode())
                if shows_mark("rows.key", "marked.pskc"):
                    shown.append(part)
        expect(f"{name}: no value is quoted", shown, [])
    shown = []
    for line in (f"otpauth://{MARK}/a?secret=GEZDGNBV", f"{MARK}", f"{MARK}!://x", f"a,{MARK},https://x", f"otpauth://totp/a?secret={MARK}",
                 *(f"otpauth://totp/a?secret=GEZDGNBV&{key}={MARK}" for key in ("algorithm", "digits", "period", "2step_salt")),
                 f"otpauth://hotp/a?secret=GEZDGNBV&counter={MARK}", f"otpauth-migration://offline?data={MARK}"):
        for lines in (line, f"{line}\notpauth://totp/b?secret=GEZDGNBV"):
            write("marked.txt", lines.encode())
            if shows_mark("rows.key", "marked.txt"):
                shown.append(lines)
    expect("no part of a line is quoted", shown, [])


def test_interrupted():
    """^C ends the derivation of a key, which the library would go on with for some 15 seconds."""
    sealed = "2." + "|".join(base64.b64encode(part).decode() for part in (b"i" * 16, b"c" * 32, b"m" * 32))
    write("slow.json", json.dumps({"encrypted": True, "passwordProtected": True, "salt": "abc", "kdfType": 1, "kdfIterations": 5,
                                   "kdfMemory": 1024, "kdfParallelism": 1, "data": sealed}).encode())
    works("a key", YKIT, "virtual", "new", "slow.key")
    process = subprocess.Popen([REAL, "--virtual", "slow.key", "oath", "import", "--yes", "--file-password-stdin", "slow.json"],
                               cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"password\n")
    process.stdin.close()
    # The memory that is filled says that the derivation runs.
    size = 0
    while size < 300_000 and process.poll() is None:
        with open(f"/proc/{process.pid}/status") as file:
            size = next((int(line.split()[1]) for line in file if line.startswith("VmRSS")), 0)
    process.send_signal(signal.SIGINT)
    try:
        status = process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    expect("the first ^C ends it", (size >= 300_000, status, process.stderr.read()), (True, 130, b"ykit: interrupted\n"))


def test_wrapped_keys():
    """Key containers with wrapped keys, as python-pskc writes them, for secrets of any length."""
    writer = ("import sys, pskc; p = pskc.PSKC(); k = p.add_key(id='1', serial='1', secret=bytes(range(int(sys.argv[2]))), algorithm='totp',"
              " response_length=6, response_encoding='DECIMAL', time_interval=30);"
              " p.encryption.setup_preshared_key(algorithm=sys.argv[1], key=bytes(range(int(sys.argv[3]))), key_name='k', fields=['secret']);"
              " p.write(sys.argv[4])")
    for size, length in [(16, 20), (24, 20), (32, 20), (16, 16), (32, 64), (16, 7), (24, 8)]:
        name = f"kw{size}-{length}"
        works(f"python-pskc writes {name}", "python3", "-c", writer, f"kw-aes{size * 8}", str(length), str(size), path(f"{name}.pskc"))
        works("a key", YKIT, "virtual", "new", f"{name}.key")
        works(f"ykit reads {name}", YKIT, "--virtual", f"{name}.key", "oath", "import", "--yes", "--file-password-stdin", f"{name}.pskc",
              text=bytes(range(size)).hex() + "\n", says="added '1'")
        expect(f"{name}: the secret is right", bytes(range(length)).hex() in read(f"{name}.key").decode())


URIS = [
    "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&issuer=GitHub", "otpauth://totp/GitHub:?secret=JBSWY3DPEHPK3PXP&issuer=GitHub",
    "otpauth://totp/A:b?secret=JBSWY3DPEHPK3PXP&issuer=A&issuer=A", "otpauth://totp/A:b?secret=JBSWY3DPEHPK3PXP&counter=-1",
    "otpauth://hotp/A:b?secret=JBSWY3DPEHPK3PXP&counter=5&period=0&digits=6", "otpauth://totp/A:b?secret=JBSWY3DPEHPK3PXP&digits=8&digits=8",
    "otpauth://totp/A%3Ab?secret=jbsw%20y3dpehpk3pxp&period=60&algorithm=sha256",
]


def test_uris():
    """ykman reads the same URIs as the same accounts."""
    reader = ("import sys; from yubikit.oath import CredentialData; c = CredentialData.parse_uri(sys.argv[1]);"
              " print(c.secret.hex(), c.oath_type.name, c.hash_algorithm.name, c.digits, c.period, c.counter)")
    for number, uri in enumerate(URIS):
        works("a key", YKIT, "virtual", "new", f"uri{number}.key")
        read_by_ykman = works(f"ykman reads {uri}", "python3", "-c", reader, uri).split()
        works(f"ykit reads {uri}", YKIT, "--virtual", f"uri{number}.key", "oath", "import", "--yes", "-", text=uri + "\n")
        listed_here = works("the account is listed", YKIT, "--virtual", f"uri{number}.key", "oath", "export")
        secret, kind, algorithm, digits, period, _ = read_by_ykman
        expect("its secret is on the key", secret in read(f"uri{number}.key").decode())
        wanted = [f"otpauth://{kind.lower()}/", f"algorithm={algorithm}", f"digits={digits}", f"period={period}" if kind == "TOTP" else ""]
        expect("with the same parameters", [part for part in wanted if part not in listed_here], [])


UTF8 = ["Müller", "Größe", "Café", "José", "Société Générale", "Crédit Agricole", "São Paulo", "Αθήνα", "Привет", "日本語", "naïve €"]


def test_qr_codes():
    """Names in any alphabet, one or two QR codes in a picture."""
    if not shutil.which("qrencode"):
        return
    for number, name in enumerate(UTF8):
        uri = f"otpauth://totp/{name}:a?secret=JBSWY3DPEHPK3PXP&issuer={name}"
        subprocess.run(["qrencode", "-8", "-o", path(f"qr{number}.png"), uri], check=True)
        works("a key", YKIT, "virtual", "new", f"qr{number}.key")
        works(f"{name} is read from a QR code", YKIT, "--virtual", f"qr{number}.key", "oath", "import", "--yes", f"qr{number}.png",
              says=f"added '{name}:a'")
