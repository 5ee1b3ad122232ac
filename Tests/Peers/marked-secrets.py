# SPDX-License-Identifier: Apache-2.0
"""No recording contains a secret: every verb that handles one runs with a marked value as the secret, and the recording is
searched for that value in all encodings; then the remaining data is attacked offline.

Each verb is recorded twice with the same virtual key, with secrets overwritten and with --keep-secrets. The second
recording proves that the search works, and is then redacted and described. YKIT is the ykit to test.
"""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from lib.peer import ROOT, YKIT, expect, own_folder

WORK = pathlib.Path(own_folder())
classified = set()


def run(arguments, environment=None, text="", files=()):
    command = [YKIT] + [str(word) for word in arguments]
    return subprocess.run(
        command, input=text.encode() if isinstance(text, str) else text, capture_output=True, timeout=120, cwd=WORK,
        env={**os.environ, "XDG_STATE_HOME": str(WORK / "state"), **(environment or {})})


class Recording:
    """The bytes of a recording: of every event, and of each direction with headers removed and parts joined."""

    def __init__(self, path):
        self.text = path.read_bytes()
        self.events, out, back = [], bytearray(), bytearray()
        self.header = json.loads(self.text.splitlines()[0])
        self.pairs = []
        for line in self.text.splitlines()[1:]:
            event = json.loads(line)
            for key in ("c", "w", "sf"):
                if key in event:
                    data = bytes.fromhex(event[key])
                    self.events.append(data)
                    out += self.content(key, data)
            for key in ("r", "d", "gf"):
                if key in event:
                    data = bytes.fromhex(event[key])
                    self.events.append(data)
                    back += self.content(key, data)
            if "c" in event:
                self.pairs.append((bytes.fromhex(event["c"]), bytes.fromhex(event["r"])))
        self.joined = [bytes(out), bytes(back)]

    @staticmethod
    def content(key, data):
        if key in ("w", "d"):
            return data[7:] if data[4] & 0x80 else data[5:]
        if key in ("sf", "gf"):
            return data[:7]
        if key == "r":
            return data[:-2]
        if len(data) > 7 and data[4] == 0:
            return data[7:7 + int.from_bytes(data[5:7], "big")]
        return data[5:5 + data[4]] if len(data) > 5 else b""

    def all(self):
        return self.events + self.joined + [bytes.fromhex(self.header.get("random", ""))]

    def finds(self, secret):
        """The encodings in which the secret, or eight bytes of it, is in the recording."""
        found = set()
        window = min(8, len(secret))
        parts = {secret[i:i + window] for i in range(len(secret) - window + 1)}
        haystacks = self.all()
        if any(part in data for part in parts for data in haystacks):
            found.add("bytes")
        found |= texts(self.text, secret)
        for data in haystacks:
            found |= texts(data, secret)
        return found


def texts(data, secret):
    """Encodings of the secret in a text: hexadecimal, base64 at every offset, UTF-16."""
    found = set()
    lower = data.lower()
    if secret in data:
        found.add("raw")
    if secret.hex().encode() in lower:
        found.add("hex")
    for name, encode in [("base64", base64.b64encode), ("base64url", base64.urlsafe_b64encode)]:
        for shift in range(3):
            core = encode(b"\0" * shift + secret + b"\0" * 3)[(0, 2, 3)[shift]:]
            core = core[:max(4, len(secret) * 4 // 3 - 4)]
            if core in data:
                found.add(name)
    try:
        word = secret.decode("ascii")
        for coding in ("utf-16-le", "utf-16-be"):
            if word.encode(coding) in data:
                found.add(coding)
    except UnicodeDecodeError:
        pass
    return found


def record(name, key, line, secrets, environment=None, text="", link="pcsc", clear=True, code=0, keep=None, store=None):
    """Runs a verb with both kinds of recording. `secrets` are the marked values, or a function that gets them from the
    output; `clear` says whether they go over the link unencrypted, so that the kept recording has to show them, all of
    them or those of these labels.
    `store` is a file that the verb changes, the same before each run."""
    words = shlex.split(line)
    verb = [word for word in words if not word.startswith("-")]
    classified.add(tuple(verb))
    state = WORK / key
    results = {}
    stored = (WORK / store).read_bytes() if store and (WORK / store).exists() else None
    for kept in (True, False):
        if stored is not None:
            (WORK / store).write_bytes(stored)
        elif store:
            (WORK / store).unlink(missing_ok=True)
        copy = WORK / f"{key}.copy"
        shutil.copy(state, copy)
        path = WORK / f"{re.sub('[^a-z0-9]+', '-', name)}-{link}-{'kept' if kept else 'redacted'}.jsonl"
        path.unlink(missing_ok=True)
        options = ["--virtual", copy, "--link", link, "--record", path] + (["--keep-secrets"] if kept else [])
        for output in WORK.glob("out.*"):
            output.unlink()
        result = run(options + words, environment, text)
        if result.returncode != code:
            expect(f"{name} ({link}) runs", (result.returncode, result.stderr.decode()), (code, ""))
            return None
        # A secret that the key generates each time, or that is written to a file, differs between the two.
        results[kept] = (path, result, secrets(result) if callable(secrets) else secrets)
    shutil.copy(copy, state)
    path, result, wanted = results[False]
    kept_path, _, kept_wanted = results[True]
    for label, secret in wanted.items():
        expect(f"{name} ({link}): {label} is not in the recording", Recording(path).finds(secret), set())
    redacted = WORK / "redacted.jsonl"
    redacted.unlink(missing_ok=True)
    run(["capture", "redact", kept_path, "--output", redacted])
    shown = run(["capture", "show", kept_path, "--bytes"]).stdout
    for label, secret in kept_wanted.items():
        if clear is True or clear and label in clear:
            expect(f"{name} ({link}): the search sees {label} that is kept", bool(Recording(kept_path).finds(secret)))
        expect(f"{name} ({link}): {label} is redacted", Recording(redacted).finds(secret), set())
        expect(f"{name} ({link}): {label} is not shown", texts(shown, secret), set())
    if keep:
        shutil.copy(path, WORK / f"{keep}.jsonl")
        shutil.copy(kept_path, WORK / f"{keep}-kept.jsonl")
    return result


def mark(label, size):
    """A marked value: bytes that occur nowhere else."""
    return hashlib.shake_256(b"marked " + label.encode()).digest(size)


def new(key, *options):
    (WORK / key).unlink(missing_ok=True)
    expect(f"new virtual key {key}", run(["virtual", "new", key, *options]).returncode, 0)


def oath():
    new("oath.json")
    secret = mark("account", 20)
    base32 = base64.b32encode(secret).decode()
    password = "MarkedOathPw-7f3a"
    def access():
        return hashlib.pbkdf2_hmac("sha1", password.encode(), salt(WORK / "set-kept.jsonl"), 1000, 16)
    record("oath add", "oath.json", "oath add Acme:alice --secret-stdin", {"secret": secret}, text=base32 + "\n")
    uri = f"otpauth://totp/Acme:bob?secret={base64.b32encode(mark('uri', 20)).decode()}&issuer=Acme"
    record("oath uri", "oath.json", "oath uri -", {"secret": mark("uri", 20)}, text=uri + "\n")
    record("oath import", "oath.json", "oath import - --yes", {"secret": mark("import", 20)},
           text=f"otpauth://totp/Acme:eve?secret={base64.b32encode(mark('import', 20)).decode()}&issuer=Acme\n")
    record("oath access change", "oath.json", "oath access change --new-password-stdin",
           {"password": password.encode()}, text=password + "\n", clear=False, keep="set")
    for verb in ["oath list", "oath calculate", "oath info", "oath rename Acme:alice Acme:carol --force"]:
        if verb == "oath info":
            continue
        record(verb, "oath.json", verb, {"password": password.encode(), "access key": access()},
               {"YKIT_OATH_PASSWORD": password}, clear=False, keep="list" if verb == "oath list" else None)
    for name in ("set", "list"):
        expect(f"dictionary attack on a kept recording of '{name}'", guess(WORK / f"{name}-kept.jsonl", password))
        expect(f"dictionary attack on a recording of '{name}'", guess(WORK / f"{name}.jsonl", password), False)
    replay = run(["--replay", WORK / "list.jsonl", "oath", "list"], {"YKIT_OATH_PASSWORD": password})
    expect("a recording without the proof is replayed", (replay.returncode, b"alice" in replay.stdout), (0, True))


def salt(path):
    for command, reply in Recording(path).pairs:
        if command[1] == 0xA4 and reply[0] == 0x79:
            start = 2 + reply[1]
            return reply[start + 2:start + 2 + reply[start + 1]]
    raise AssertionError("no salt")


def guess(path, password):
    """Whether a password can be confirmed with the data in a recording: any response to any challenge."""
    recording = Recording(path)
    key = hashlib.pbkdf2_hmac("sha1", password.encode(), salt(path), 1000, 16)
    challenges = {match for data in recording.all() for match in re.findall(rb"\x74\x08(.{8})", data, re.S)}
    return any(hmac.digest(key, challenge, "sha1") in data for challenge in challenges for data in recording.all())


def fido(link):
    new("fido.json")
    pin = "MarkedFidoPin-91c2"
    env = {"YKIT_PIN": pin, "YKIT_NEW_PIN": pin}
    pins = {"PIN": pin.encode(), "PIN hash": hashlib.sha256(pin.encode()).digest()[:16]}
    blob = b"MarkedCredBlob-5d11-0123456789ab"
    large = b"MarkedBigValue-" + base64.b32encode(mark("large", 30))
    (WORK / "large").write_bytes(large)
    options = dict(link=link, environment=env)
    record("fido2 pin set", "fido.json", "fido2 pin set", pins, clear=False, **options)
    record("fido2 pin verify", "fido.json", "fido2 pin verify", pins, clear=False, **options)
    record("fido2 pin change", "fido.json", "fido2 pin change", pins, clear=False, **options)
    text = base64.urlsafe_b64encode(blob).decode().rstrip("=")
    record("fido2 register", "fido.json",
           f"fido2 register --rp example.com --user alice --resident --large-blob --cred-blob {text}", {"credBlob": blob},
           keep="register", **options)
    record("fido2 assert --cred-blob", "fido.json", "fido2 assert --rp example.com --cred-blob", {"credBlob": blob},
           keep="assert-blob", **options)
    salts = base64.b64encode(mark("salt", 32)).decode()
    record("fido2 assert --salt", "fido.json", f"--json fido2 assert --rp example.com --salt {salts}", hmac_secrets,
           clear=False, keep="assert-salt", **options)
    record("fido2 secret", "fido.json",
           "fido2 secret --format systemd --keyslot 1 --token-output out.token --output out.pass", passphrase,
           clear=False, **options)
    for verb in ["ssh generate --output out.id --resident", "ssh keys --resident-only", "ssh sign --key id --output - large",
                 "ssh delete ssh: --force"]:
        record(verb, "fido.json", verb, pins, clear=False, **options)
        if "generate" in verb:
            os.replace(WORK / "out.id", WORK / "id")
    record("fido2 large-blob set", "fido.json", "fido2 large-blob set alice large", {"large blob": large}, clear=False,
           keep="blob-set", **options)
    for verb in ["fido2 large-blob get alice", "fido2 credentials list", "fido2 large-blob list"]:
        record(verb, "fido.json", verb, {"large blob": large, "large-blob key": blob_key("register-kept")}, clear=False,
               keep="blob-get" if "get" in verb else None, **options)
    for name, wanted in [("blob-get-kept", True), ("blob-get", False), ("blob-set", False)]:
        expect(f"decrypting the large blob from '{name}' ({link})", large_blob(WORK / f"{name}.jsonl", large), wanted)
    for name, words, what in [
            ("assert-blob", "fido2 assert --rp example.com --cred-blob", b"credBlob"),
            ("assert-salt", f"--json fido2 assert --rp example.com --salt {salts}", b"hmac-secret"),
            ("blob-get", "fido2 large-blob get alice", b"large-blob key")]:
        replay = run(["--replay", WORK / f"{name}.jsonl"] + shlex.split(words), env)
        said = replay.stderr + replay.stdout
        expect(f"a replay of '{name}' ({link}) makes nothing up", (replay.returncode, what in said), (14, True))


def u2f(link):
    """The U2F PIN of a YubiKey 4 FIPS goes over the link as it is."""
    new("u2f.json", "--model", "yubikey4-fips")
    pins = {name: f"MarkedU2fPin-{name}" for name in ("first", "second")}
    first, second = ({name: pin.encode()} for name, pin in pins.items())
    options = dict(link=link)
    record("u2f pin set", "u2f.json", "u2f pin set", first, {"YKIT_NEW_PIN": pins["first"]}, **options)
    record("u2f pin verify", "u2f.json", "u2f pin verify", first, {"YKIT_PIN": pins["first"]}, **options)
    record("u2f pin change", "u2f.json", "u2f pin change", {**first, **second},
           {"YKIT_PIN": pins["first"], "YKIT_NEW_PIN": pins["second"]}, **options)
    record("u2f register", "u2f.json", "u2f register --app https://example.com", second, {"YKIT_PIN": pins["second"]}, **options)


def passphrase(_):
    """The secret that 'ykit fido2 secret' wrote, in base64."""
    text = (WORK / "out.pass").read_bytes()
    return {"passphrase": text, "hmac-secret": base64.b64decode(text)}


def hmac_secrets(result):
    found = re.findall(rb'"([A-Za-z0-9_-]{43})="|"([A-Za-z0-9_-]{43})"', result.stdout)
    values = [base64.urlsafe_b64decode((a or b) + b"=") for a, b in found]
    return {f"output {index}": value for index, value in enumerate(values) if b"secret" in result.stdout}


def blob_key(name):
    """The key in an unredacted recording: 05 58 20 and 32 bytes at the end of the reply to makeCredential."""
    for data in Recording(WORK / f"{name}.jsonl").joined:
        match = re.search(rb"\x05\x58\x20(.{32})", data, re.S)
        if match:
            return match[1]
    raise AssertionError("no large-blob key")


def large_blob(path, plain):
    """Whether any 32 bytes of a recording decrypt any entry of the large-blob array."""
    recording = Recording(path)
    for data in recording.joined:
        for entry in re.finditer(rb"\xa3\x01\x58(.)", data, re.S):
            start = entry.end()
            sealed = data[start:start + entry[1][0]]
            rest = data[start + len(sealed):]
            if rest[:2] != b"\x02\x4c":
                continue
            nonce, size = rest[2:14], rest[15:17]
            if rest[14] != 0x03:
                continue
            origin = size[0] if size[0] < 24 else size[1]
            for keys in recording.joined:
                for place in range(len(keys) - 31):
                    try:
                        AESGCM(keys[place:place + 32]).decrypt(nonce, sealed, b"blob" + origin.to_bytes(8, "little"))
                        return True
                    except InvalidTag:
                        continue
    return False


def p256(name):
    """Generates a P-256 key in a file; returns its private number."""
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", name],
                   cwd=WORK, check=True, capture_output=True)
    text = subprocess.run(["openssl", "ec", "-in", name, "-text", "-noout"], cwd=WORK, capture_output=True).stdout
    return bytes.fromhex(re.search(rb"priv:(.*?)pub:", text, re.S)[1].decode().replace(":", "").replace(" ", "")
                         .replace("\n", ""))[-32:]


def piv():
    new("piv.json")
    pin, puk, other = "8Mk1Pq7z", "7Zx3Wk2y", "5Rt6Yu9v"
    change = {"YKIT_PIN": "123456", "YKIT_NEW_PIN": pin}
    record("piv access change-pin", "piv.json", "piv access change-pin", {"PIN": pin.encode()}, change)
    record("piv access change-puk", "piv.json", "piv access change-puk", {"PUK": puk.encode()},
           {"YKIT_PUK": "12345678", "YKIT_NEW_PUK": puk})
    record("piv access unblock-pin", "piv.json", "piv access unblock-pin", {"PUK": puk.encode(), "PIN": other.encode()},
           {"YKIT_PUK": puk, "YKIT_NEW_PIN": other})
    pins = {"YKIT_PIN": other}
    key = mark("management", 24)
    record("piv access change-management-key", "piv.json",
           "piv access change-management-key --new-management-key-stdin --protect --algorithm aes192",
           {"management key": key}, pins, text=key.hex() + "\n")
    record("piv keys generate", "piv.json", "piv keys generate 9d out.pem --algorithm rsa2048",
           {"management key": key, "PIN": other.encode()}, pins, keep="printed")
    shutil.copy(WORK / "out.pem", WORK / "rsa.pem")
    scalar = p256("key.pem")
    record("piv keys import", "piv.json", "piv keys import 9c key.pem --force", {"private key": scalar}, pins)
    subprocess.run(["openssl", "pkey", "-in", "key.pem", "-pubout", "-out", "peer.pem"], cwd=WORK, check=True)
    record("piv derive", "piv.json", "piv derive --slot 9c peer.pem --output out.secret",
           lambda _: {"secret": (WORK / "out.secret").read_bytes()[:32]}, pins, keep="derive")
    plain = mark("plain", 40)
    (WORK / "plain").write_bytes(plain)
    subprocess.run(["openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", "rsa.pem", "-in", "plain", "-out", "message"],
                   cwd=WORK, check=True)
    record("piv decrypt", "piv.json", "piv decrypt --slot 9d message --output out.plain", {"plaintext": plain}, pins,
           keep="decrypt")
    record("piv sign", "piv.json", "piv sign --slot 9d plain --padding pss --output out.sig", {"PIN": other.encode()},
           pins, keep="pss")
    record("attest prove", "piv.json", "attest prove 9d out.proof --challenge c", {"PIN": other.encode()}, pins)
    for name, words in [("derive", "piv derive --slot 9c peer.pem --output out.again"),
                        ("decrypt", "piv decrypt --slot 9d message --output out.again"),
                        ("pss", "piv sign --slot 9d plain --padding pss --output out.again"),
                        ("printed", "piv keys generate 9d out.again --algorithm rsa2048")]:
        replay = run(["--replay", WORK / f"{name}.jsonl"] + words.split(), pins)
        expect(f"a replay of '{name}' makes nothing up",
               (replay.returncode, b"overwritten" in replay.stderr, (WORK / "out.again").exists()), (14, True, False))


def otp(link):
    new("otp.json")
    key, code = mark("hmac", 20), mark("code", 6)
    record("otp chalresp", "otp.json", "otp chalresp 2 --key-stdin --force", {"key": key}, text=key.hex() + "\n", link=link)
    record("otp calculate", "otp.json", "otp calculate 2 53616d706c65202332",
           lambda result: {"response": bytes.fromhex(result.stdout.decode().strip())}, link=link, keep="calculate")
    replay = run(["--replay", WORK / "calculate.jsonl", "otp", "calculate", "2", "53616d706c65202332"])
    expect(f"a replay of a response ({link}) makes nothing up", replay.returncode, 14)
    password = "MarkedStatic12"
    record("otp static", "otp.json", "otp static 1 --layout us --password-stdin --force", {"password": password.encode()},
           text=password + "\n", link=link, clear=False)
    record("otp settings", "otp.json", "otp settings 2 --force", {"access code": code},
           {"YKIT_OTP_NEW_ACCESS_CODE": code.hex()}, link=link)
    record("otp hotp", "otp.json", "otp hotp 1 --key-stdin --force", {"key": key}, text=base64.b32encode(key).decode() + "\n",
           link=link)


def tag():
    new("tag.json")
    record("otp yubiotp", "tag.json", "otp yubiotp 1 --serial-public-id --generate --output out.identity --force", {})
    read = record("nfc read", "tag.json", "nfc read",
                  lambda result: {"one-time password": re.search(rb"[cbdefghijklnrtuv]{44}", result.stdout)[0][12:]},
                  keep="tag")
    if read:
        replay = run(["--replay", WORK / "tag.jsonl", "nfc", "read"])
        expect("a replay of a tag makes nothing up", (replay.returncode, b"overwritten" in replay.stderr), (14, True))


def config(link):
    new("config.json")
    code = mark("lock", 16)
    record("config lock-code", "config.json", "config lock-code --new-lock-code-stdin --force", {"lock code": code},
           text=code.hex() + "\n", link=link)
    record("config usb", "config.json", "config usb --disable otp --force", {"lock code": code},
           {"YKIT_LOCK_CODE": code.hex()}, link=link)


def hsmauth():
    # Firmware 5.8 is the first that can change the password of a credential.
    new("hsmauth.json", "--firmware", "5.8.0")
    derived, one, other = b"MarkedDerive-83b", b"MarkedCredPw-4c1", b"MarkedCredPw-9e7"
    first, second = b"MarkedManage-2d6", b"MarkedManage-7a0"
    keys = hashlib.pbkdf2_hmac("sha256", derived, b"Yubico", 10000, 32)
    named = {"derivation": "DERIVATION_PASSWORD", "management": "MANAGEMENT_PASSWORD", "new": "NEW_PASSWORD",
             "own": "PASSWORD"}
    def env(**given):
        return {f"YKIT_HSMAUTH_{named[name]}": value.decode() for name, value in given.items()}
    def halves(data):
        return {"K-ENC": data[:16], "K-MAC": data[16:]}
    record("hsmauth change-management-password", "hsmauth.json", "hsmauth change-management-password",
           {"management password": first}, env(management=b"00" * 16, new=first))
    record("hsmauth change-management-password again", "hsmauth.json", "hsmauth change-management-password",
           {"old management password": first, "management password": second}, env(management=first, new=second))
    passwords = {"password": one, "management password": second}
    settings = env(management=second, own=one)
    record("hsmauth add --derive", "hsmauth.json", "hsmauth add one --derive",
           {"derivation password": derived, **halves(keys), **passwords}, {**settings, **env(derivation=derived)},
           clear={"K-ENC", "K-MAC", *passwords})
    imported = mark("hsmauth keys", 32)
    (WORK / "keys.hex").write_text(imported.hex() + "\n")
    record("hsmauth add --import", "hsmauth.json", "hsmauth add two --import keys.hex",
           {**halves(imported), **passwords}, settings)
    record("hsmauth add --generate --key-file", "hsmauth.json", "hsmauth add three --generate --key-file out.keys",
           lambda _: {**halves(bytes.fromhex((WORK / "out.keys").read_text())), **passwords}, settings)
    record("hsmauth add p256 --generate", "hsmauth.json", "hsmauth add four --algorithm p256 --generate", passwords,
           settings)
    scalar = p256("hsm.pem")
    record("hsmauth add p256 --import", "hsmauth.json", "hsmauth add five --algorithm p256 --import hsm.pem",
           {"private key": scalar, **passwords}, settings)
    for label in ("one", "four"):
        record(f"hsmauth challenge {label}", "hsmauth.json", f"hsmauth challenge {label}",
               {} if label == "one" else {"password": one}, settings)
    calculate = f"hsmauth calculate one --context {mark('context', 16).hex()} --show-keys"
    record("hsmauth calculate", "hsmauth.json", calculate,
           lambda result: {"password": one, **{line.split()[0]: bytes.fromhex(line.split()[1])
                                               for line in result.stdout.decode().splitlines()}}, settings, keep="session")
    replay = run(["--replay", WORK / "session.jsonl", *calculate.split()], settings)
    expect("a replay of session keys makes nothing up",
           (replay.returncode, b"overwritten" in replay.stderr, replay.stdout), (14, True, b""))
    record("hsmauth change-password", "hsmauth.json", "hsmauth change-password one",
           {"password": one, "new password": other}, env(own=one, new=other))
    record("hsmauth change-password --admin", "hsmauth.json", "hsmauth change-password one --admin",
           {"management password": second, "new password": one}, env(management=second, new=one))
    record("hsmauth delete", "hsmauth.json", "hsmauth delete two --force", {"management password": second}, settings)


def openpgp():
    new("openpgp.json", "--firmware", "5.7.4")
    usual, usual_admin, user, admin = b"123456", b"12345678", b"MarkedUser-51f", b"MarkedAdmin-0c8"
    code, other = b"MarkedReset-e37", b"MarkedUser-b22"
    def pins(**given):
        return {f"YKIT_{name.upper()}": value.decode() for name, value in given.items()}
    record("openpgp change-pin", "openpgp.json", "openpgp access change-pin", {"user PIN": user},
           pins(pin=usual, new_pin=user))
    record("openpgp change-admin-pin", "openpgp.json", "openpgp access change-admin-pin", {"admin PIN": admin},
           pins(admin_pin=usual_admin, new_admin_pin=admin))
    settings, secrets = pins(pin=user, admin_pin=admin), {"admin PIN": admin}
    record("openpgp set-reset-code", "openpgp.json", "openpgp access set-reset-code", {**secrets, "reset code": code},
           {**settings, **pins(reset_code=code)})
    record("openpgp unblock-pin", "openpgp.json", "openpgp access unblock-pin --reset-code",
           {"reset code": code, "new PIN": other}, pins(reset_code=code, new_pin=other))
    record("openpgp unblock-pin by the admin PIN", "openpgp.json", "openpgp access unblock-pin",
           {**secrets, "new PIN": user}, {**settings, **pins(new_pin=user)})
    for line in ("access set-retries 5 5 5", "access set-signature-policy once",
                 "keys generate sig --type nistp256", "keys set-touch sig off", "keys generate aut --type nistp256",
                 "keys set-ca-fingerprint 1 000102030405060708090a0b0c0d0e0f10111213"):
        record(f"openpgp {line}", "openpgp.json", f"openpgp {line}", secrets, settings)
    scalar = p256("pgp.pem")
    record("openpgp import", "openpgp.json", "openpgp keys import dec pgp.pem", {**secrets, "private key": scalar},
           settings)
    (WORK / "message").write_bytes(b"a message")
    for verb in ("sign message", "authenticate message"):
        record(f"openpgp {verb}", "openpgp.json", f"openpgp {verb} --output out.sig", {"user PIN": user}, settings)
    p256("peer-private.pem")
    subprocess.run(["openssl", "pkey", "-in", WORK / "peer-private.pem", "-pubout", "-out", WORK / "peer.pem"], check=True)
    record("openpgp decrypt", "openpgp.json", "openpgp decrypt peer.pem --output out.secret",
           lambda _: {"user PIN": user, "shared secret": (WORK / "out.secret").read_bytes()}, settings)
    record("openpgp attest", "openpgp.json", "openpgp attest sig out.pem", {"user PIN": user}, settings, code=8)
    subprocess.run(["openssl", "req", "-x509", "-new", "-key", WORK / "pgp.pem", "-subj", "/CN=dec", "-out",
                    WORK / "pgp-cert.pem"], check=True, stderr=subprocess.DEVNULL)
    record("openpgp certificates import", "openpgp.json", "openpgp certificates import dec pgp-cert.pem", secrets,
           settings)
    for line in ("certificates delete dec", "keys delete dec"):
        record(f"openpgp {line}", "openpgp.json", f"openpgp {line} --force", secrets, settings)
    record("openpgp set-kdf", "openpgp.json", "openpgp access set-kdf on --force --same-admin-pin", secrets,
           {**settings, **pins(new_pin=user)})


def secure_channels():
    new("sd.json")
    keys = {name: mark(f"SCP03 {name}", 16) for name in ("ENC", "MAC", "DEK")}
    (WORK / "own").write_text(":".join(key.hex() for key in keys.values()))
    record("sd keys import", "sd.json", "--scp=03 sd keys import 03,1 own --force", keys, clear=False)
    record("sd keys list", "sd.json", "--scp=03,1 --scp-keys=own sd keys list", keys, clear=False)


def securid(link):
    """Tokens in a file that the key seals: the exchange with the key reveals neither PIN nor seed."""
    new("securid.json")
    pin = "MarkedSealPin-60d8"
    env = {"YKIT_PIN": pin, "YKIT_NEW_PIN": pin}
    expect("the key that seals has a PIN", run(["--virtual", "securid.json", "fido2", "pin", "set"], env).returncode, 0)
    values = json.loads((ROOT / "Tests/YKCTKIPTests/exchange/decoded.json").read_text())["values"]
    hidden = {"PIN": pin.encode(), "PIN hash": hashlib.sha256(pin.encode()).digest()[:16],
              "seed": bytes.fromhex(values["K_TOKEN_hex"])}
    shutil.copy(ROOT / "Tests/YKSecurIDTests/vectors/result.sdtid", WORK / "token.sdtid")
    (WORK / "tokens.json").unlink(missing_ok=True)
    def coded(result):
        return {**hidden, "code": re.search(rb"\d{8}", result.stdout)[0]}
    for verb, secrets in [
            ("securid import token.sdtid --allow-expired", hidden), ("securid rename 451959993894 desk", hidden),
            ("securid code desk --time 1735689600 --allow-expired", coded),
            ("securid watch desk --for 0 --allow-expired", coded),
            ("securid export desk --force", hidden)]:
        words = f"{verb} --store tokens.json"
        record(verb, "securid.json", words, secrets, env, link=link, clear=False, store="tokens.json", keep="seal")
    replay = run(["--replay", WORK / "seal.jsonl", *words.split()], env)
    expect(f"a replay of a sealed token ({link}) makes nothing up", (replay.returncode, replay.stdout), (14, b""))
    spare = "securid store add-key --from-passphrase --passphrase-fd 0 --store spare.json"
    passphrase = "MarkedPassphrase-1f94"
    made = run(["securid", "import", "token.sdtid", "--allow-expired", "--software", "--passphrase-stdin", "--store",
                "spare.json"], text=passphrase + "\n")
    expect("a store of a passphrase", (made.returncode, made.stderr if made.returncode else b""), (0, b""))
    record("securid store add-key", "securid.json", spare, {**hidden, "passphrase": passphrase.encode()}, env,
           text=passphrase + "\n", link=link, clear=False, store="spare.json")
    (WORK / "spare.json").unlink()


def approvals():
    """The PIN of a new account's key; the server is unreachable, so that nothing is enrolled."""
    new("approve.json")
    pin = "Mk-4c1d7"
    changed = run(["--virtual", "approve.json", "piv", "access", "change-pin"], {"YKIT_PIN": "123456", "YKIT_NEW_PIN": pin})
    expect("the PIN of the key is marked", changed.returncode, 0)
    credential = "9311ee50678983c0f29d3d843f86e39405e2b427"
    link = ("otpauth://pipush/alice?url=http%3A//localhost%3A9/ttype/push&issuer=i&serial=PIPU0000CAFE&v=1&enrollment_credential=" + credential)
    record("approve enroll", "approve.json", f"approve enroll '{link}' --force --store approvals.json",
           {"PIN": pin.encode(), "credential": credential.encode()}, {"YKIT_PIN": pin}, clear=["PIN"], code=16)
    password = "MarkedPassword-77f0"
    shutil.copy(ROOT / "Tests/CLITests/fixtures/approve.json", WORK / "accounts.json")
    result = run(["--virtual", "approve.json", "approve", "history", "work", "--server", "--user", "alice", "--password-stdin", "--timeout", "2",
                  "--store", "accounts.json"], text=password + "\n")
    expect("a password that goes nowhere is not told", (result.returncode, password.encode() in result.stdout + result.stderr), (16, False))


def approval_codes():
    """Secrets of offline codes are written to the sealed store, those of other codes to the OATH application."""
    new("codes.json")
    pin = "MarkedCodePin-2b7e"
    env = {"YKIT_PIN": pin, "YKIT_NEW_PIN": pin}
    expect("the key of the codes has a PIN", run(["--virtual", "codes.json", "fido2", "pin", "set"], env).returncode, 0)
    seed, pin_of_code = mark("OCRA", 20), b"MarkedOcraPin-90ad"
    hidden = {"PIN": pin.encode(), "PIN hash": hashlib.sha256(pin.encode()).digest()[:16], "secret": seed}
    suite = "OCRA-1:HOTP-SHA256-8:QH40-PSHA256"
    options = dict(environment=env, link="hid", clear=False, store="offline.json")
    record("approve add", "codes.json", f"approve add bank {suite} --secret-stdin --store offline.json", hidden, text=seed.hex() + "\n", **options)
    def coded(result):
        return {**hidden, "PIN of the code": pin_of_code, "code": re.search(rb"\d{8}", result.stdout)[0]}
    record("approve offline", "codes.json", "approve offline bank --text pay --code-pin-stdin --store offline.json", coded,
           text=pin_of_code.decode() + "\n", **options)
    new("spare-key.json")
    other = json.loads((WORK / "codes.json").read_text())["device"]["serial"]
    record("approve store add-key", "spare-key.json", f"approve store add-key --from {WORK}/codes.json --key-name spare --store offline.json",
           hidden, **{**options, "environment": {**env, f"YKIT_FIDO_PIN_{other}": pin}})
    secret = mark("approve open", 20)
    uri = f"otpauth://totp/Approve:alice?secret={base64.b32encode(secret).decode()}&serial=TOTP1"
    record("approve open", "codes.json", "approve open - --force --store opened.json", {"secret": secret}, text=uri + "\n", store="opened.json")
    for name in ("offline.json", "opened.json"):
        text = (WORK / name).read_bytes()
        expect(f"{name} has no secret in the clear", [label for label, value in {"seed": seed, "secret": secret}.items()
                                                      if value in text or value.hex().encode() in text.lower() or base64.b32encode(value) in text], [])


def age():
    """A file key is wrapped without a key, and unwrapped with a slot's result for the stanza's point."""
    new("age.json")
    pin = "Mk-9e2a4"
    env = {"YKIT_PIN": pin}
    changed = run(["--virtual", "age.json", "piv", "access", "change-pin"], {"YKIT_PIN": "123456", "YKIT_NEW_PIN": pin})
    expect("the PIN of age's key is marked", changed.returncode, 0)
    record("age generate", "age.json", "age generate --touch-policy never", {"PIN": pin.encode()}, env)
    made = run(["--virtual", "age.json", "age", "generate", "--touch-policy", "never", "--json"], env)
    key = json.loads(made.stdout)["keys"][0]
    file_key = mark("age plugin", 16)
    coded = base64.b64encode(file_key).decode().rstrip("=")
    oks = "-> ok\n\n" * 4
    wrapped = run(["age", "plugin", "--state", "recipient-v1"],
                  text=f"-> add-recipient {key['recipient']}\n\n-> wrap-file-key\n{coded}\n-> done\n\n{oks}").stdout.decode()
    stanza = re.search(r"-> recipient-stanza 0 .*\n[^-]*\n", wrapped)[0]
    record("age plugin", "age.json", "age plugin --state identity-v1", {"PIN": pin.encode(), "file key": file_key}, env,
           text=f"-> add-identity {key['identity']}\n\n{stanza}-> done\n\n{oks}", clear=["PIN"])
    kept, redacted = (Recording(WORK / f"age-plugin-pcsc-{way}.jsonl") for way in ("kept", "redacted"))
    shared = re.search(rb"\x7c\x22\x82\x20(.{32})", b"".join(kept.all()), re.S)
    expect("the kept recording has what the slot made", shared is not None)
    expect("... and the other has not", redacted.finds(shared[1]) if shared else None, set())


#: Verbs that send and get no secret of their own, or no recording can be made of.
WITHOUT = [
    "list", "info", "setup", "compare", "inventory", "luks", "bridge", "remote", "guard", "doctor", "apdu", "completion", "schema", "qr",
    "udev-rules", "oath-info", "oath-export", "oath-delete",
    "oath-access-remember", "oath-access-forget", "oath-reset", "fido2-info", "fido2-select", "fido2-wink",
    "fido2-pin-retries", "fido2-verify", "fido2-try", "fido2-sign-key", "fido2-credentials-update", "fido2-credentials-delete",
    "fido2-large-blob-delete", "fido2-large-blob-prune", "fido2-config", "fido2-fingerprints", "fido2-reset",
    "u2f-version", "u2f-check", "u2f-authenticate", "u2f-reset", "piv-info", "piv-access-set-retries",
    "piv-keys-info", "piv-keys-export", "piv-keys-attest", "piv-keys-move", "piv-keys-delete", "piv-certificates",
    "piv-attest", "piv-objects", "piv-reset", "otp-info", "otp-ndef", "otp-swap", "otp-delete", "otp-parse",
    "otp-verify", "nfc-parse", "config-nfc", "config-mode", "config-reset", "arculus", "capture", "virtual",
    "openpgp-info", "openpgp-keys-export", "openpgp-certificates-export", "openpgp-random", "openpgp-reset",
    "hsmauth-info", "hsmauth-list", "hsmauth-export-public-key", "hsmauth-reset", "securid-version",
    "securid-detect", "securid-list", "securid-info", "securid-use", "securid-binding-id", "approve-accounts",
    "approve-list", "approve-show", "approve-yes", "approve-no", "approve-history", "approve-address",
    "approve-watch", "approve-clear", "approve-move-store", "approve-logout", "approve-qr-type", "approve-code",
    "approve-sync", "approve-migrate-check", "approve-migrate-run", "approve-store-info",
    "approve-store-remove-key", "age-list", "age-identity", "securid-store-info", "securid-store-remove-key",
    "securid-delete", "securid-reset", "ssh-download", "ssh-verify", "ssh-agent", "2fa", "sd-info", "sd-data",
    "attest-verify", "attest-challenge", "secrets-info", "secrets-code", "secrets-verify", "secrets-reset",
    "sd-keys-export", "sd-keys-generate", "sd-keys-delete", "sd-keys-set-allowlist", "sd-reset",
]


def coverage():
    """Every verb is either tested here, or it or its group is listed among those without a secret."""
    def names(words):
        return {"-".join(words[:count]) for count in range(1, len(words) + 1)}

    verbs = {verb.replace(" ", "-") for verb in json.loads(run(["schema", "--json"]).stdout)["verbs"]}
    marked = {max(names(words) & verbs, key=len, default="") for words in classified}
    for verb in sorted(verbs - marked):
        if not names(verb.split("-")) & set(WITHOUT):
            expect(f"'{verb}' is marked or without a secret", False)
    expect("nothing else is listed as without a secret", [name for name in WITHOUT if not any(
        name in names(verb.split("-")) for verb in verbs - marked)], [])


def nitrokey(way):
    new("nitrokey.json", "--model", "nitrokey3")
    first, second = b"MarkedSecrets-81", b"MarkedSecrets-c5"
    secret, password, note = mark("entry", 20), b"MarkedEntryPw-3e", b"MarkedMetadata-7"
    settings = {"YKIT_SECRETS_PIN": first.decode(), "YKIT_SECRETS_PASSWORD": password.decode(),
                "YKIT_SECRETS_METADATA": note.decode(), "YKIT_OATH_SECRET": base64.b32encode(secret).decode()}
    fields, pin = {"password": password, "metadata": note}, {"PIN": first}
    def verb(line, secrets, **given):
        record(f"secrets {line}", "nitrokey.json", f"secrets {line}", secrets, {**settings, **given}, link=way)
    verb("pin set", {"new PIN": first}, YKIT_NEW_PIN=first.decode())
    verb("pin verify", pin)
    verb("add one", {"secret": secret, **fields})
    verb("add two --type password --login alice --protected", {**pin, **fields})
    verb("add three --type reverse-hotp", {**pin, "secret": secret, **fields})
    verb("list --protected", pin)
    verb("show one", fields)
    verb("show two", {**pin, **fields})
    verb("update two --login bob", {**pin, **fields})
    verb("export out.json --protected", {**pin, **fields})
    verb("rename two four --force", pin)
    verb("delete four --force", pin)
    verb("pin change", {"old PIN": first, "new PIN": second}, YKIT_NEW_PIN=second.decode())


def test_marked_secrets():
    oath()
    for way in ("hid", "pcsc"):
        fido(way)
        u2f(way)
    piv()
    for way in ("hid", "pcsc"):
        otp(way)
        config(way)
    tag()
    for way in ("hid", "pcsc"):
        nitrokey(way)
    hsmauth()
    openpgp()
    secure_channels()
    for way in ("hid", "pcsc"):
        securid(way)
    approvals()
    approval_codes()
    age()
    coverage()
