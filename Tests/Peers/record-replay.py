# SPDX-License-Identifier: Apache-2.0
"""Every verb that uses a key is recorded through a real pcscd, then replayed strictly, with the same answer. This is
repeated for FIDO with the HID device in the same process, for PIV with the card there, and for OTP and the configuration
with both.

No secret of the session may be in a recording, and a replay must fail if a command in the recording is changed.
"""

import base64
import json
import os
import pathlib
import subprocess
import tempfile

from lib.peer import YKIT, beside_pcscd, expect, in_reader

beside_pcscd()

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SECRETS = [base64.b32decode(SECRET).hex(), b"correct horse".hex(), b"correct cow".hex()]
NEW = {"YKIT_OATH_NEW_PASSWORD": "correct horse"}
OLD = {"YKIT_OATH_PASSWORD": "correct horse"}
URI = f"otpauth://totp/Web:gina?secret={SECRET}&issuer=Web"
#: What is typed, its standard input, and its environment; in an order in which each finds what it needs.
STEPS = [
    (["info"], "", {}), (["apdu", "--app", "oath", "A1"], "", {}),
    (["oath", "info"], "", {}), (["oath", "list", "--long"], "", {}), (["oath", "list", "--codes"], "", {}),
    (["oath", "add", "Acme:alice", "--secret-stdin"], SECRET, {}),
    (["oath", "add", "Acme:count", "--type", "hotp", "--secret-stdin"], SECRET, {}),
    (["oath", "add", "Slow:bob", "--period", "60", "--secret-stdin"], SECRET, {}),
    (["oath", "uri", "-"], URI, {}), (["oath", "import", "-", "--yes"], URI.replace("gina", "hugo"), {}),
    (["oath", "calculate"], "", {}), (["oath", "calculate", "count"], "", {}),
    (["oath", "calculate", "alice", "--json"], "", {}), (["oath", "export"], "", {}),
    (["oath", "rename", "Acme:alice", "Acme:alina", "--force"], "", {}), (["oath", "delete", "Slow:bob", "--force"], "", {}),
    (["oath", "access", "change"], "", NEW), (["oath", "list"], "", OLD), (["oath", "calculate", "alina"], "", OLD),
    (["oath", "access", "remember"], "", OLD), (["oath", "access", "forget"], "", {}),
    (["oath", "access", "change", "--clear"], "", OLD), (["oath", "reset", "--force"], "", {}),
]
PIN = {"YKIT_PIN": "correct horse"}
SITE = ["--rp", "example.com"]
SALT = "5a" * 32
CREATE = json.dumps({"publicKey": {
    "rp": {"id": "example.com", "name": "Example"}, "user": {"id": "AQ", "name": "web", "displayName": "Web"},
    "challenge": "Y2hhbGxlbmdl", "pubKeyCredParams": [{"type": "public-key", "alg": -7}], "attestation": "direct"}})
GET = json.dumps({"challenge": "Y2hhbGxlbmdl", "rpId": "example.com"})
HASH = base64.b64encode(b"h" * 32).decode()
#: The same for FIDO. HANDLE stands for the handle that u2f register gave.
FIDO_STEPS = [
    (["fido2", "info"], "", {}), (["fido2", "select"], "", {}), (["fido2", "config", "list"], "", {}),
    (["fido2", "register", *SITE, "--user", "early", "--resident"], "", {}),
    (["fido2", "assert", *SITE], "", {}), (["fido2", "assert", *SITE, "--no-touch"], "", {}),
    (["u2f", "version"], "", {}), (["u2f", "register", "--app", "https://example.com"], "", {}),
    (["u2f", "authenticate", "HANDLE", "--app", "https://example.com"], "", {}),
    (["u2f", "check", "HANDLE", "--app", "https://example.com"], "", {}),
    (["fido2", "register", *SITE, "--user", "old", "--u2f"], "", {}),
    (["fido2", "pin", "set"], "", {"YKIT_NEW_PIN": "correct cow"}),
    (["fido2", "pin", "change"], "", {"YKIT_PIN": "correct cow", "YKIT_NEW_PIN": "correct horse"}),
    (["fido2", "pin", "verify"], "", PIN), (["fido2", "pin", "retries"], "", {}),
    (["fido2", "register", *SITE, "--user", "alice", "--resident", "--large-blob", "--hmac-secret", "--uv", "required"],
     "", PIN),
    (["--json", "fido2", "register", "--origin", "https://example.com", "--options", "-"], CREATE, PIN),
    (["fido2", "register", "--format", "libfido2", "--options", "-"], f"{HASH}\nexample.com\nlib\nAQ==\n", PIN),
    (["--json", "fido2", "assert", "--origin", "https://example.com", "--options", "-", "--user", "alice"], GET, PIN),
    (["fido2", "assert", "--format", "libfido2", "--resident", "--options", "-"], f"{HASH}\nexample.com\n", PIN),
    (["fido2", "assert", *SITE, "--user", "alice", "--salt", SALT], "", PIN),
    (["fido2", "credentials", "list", "--long"], "", PIN),
    (["fido2", "credentials", "update", "alice", "--display-name", "Alice"], "", PIN),
    (["fido2", "large-blob", "set", "alice", "-"], "a blob", PIN), (["fido2", "large-blob", "get", "alice"], "", PIN),
    (["fido2", "large-blob", "list"], "", PIN), (["fido2", "large-blob", "delete", "alice", "--force"], "", PIN),
    (["fido2", "large-blob", "prune", "--force"], "", PIN),
    (["fido2", "credentials", "delete", "alice", "--force"], "", PIN),
    (["fido2", "config", "always-uv", "on"], "", PIN), (["fido2", "config", "min-pin-length", "6"], "", PIN),
    (["fido2", "config", "enable-enterprise-attestation"], "", PIN),
    (["fido2", "config", "force-pin-change"], "", PIN), (["fido2", "reset", "--force"], "", {}),
]
CODE = {"YKIT_PIN": "135790"}
SCALAR = "11223344556677889900aabbccddeeff" * 2
#: A P-256 key (RFC 5915, without its public half), which openssl and ykit read.
KEY_FILE = ("-----BEGIN EC PRIVATE KEY-----\n"
            + base64.b64encode(bytes.fromhex("30310201010420" + SCALAR + "a00a06082a8648ce3d030107")).decode()
            + "\n-----END EC PRIVATE KEY-----\n")
MANAGEMENT = "a1b2c3d4e5f60718" * 3
#: The same for PIV. CERTIFICATE stands for what certificates export gave, ISSUER for a file with it.
PIV_STEPS = [
    (["piv", "info"], "", {}), (["piv", "keys", "generate", "9a"], "", {}),
    (["piv", "keys", "generate", "9d", "-a", "rsa2048"], "", {}), (["piv", "keys", "info", "9a"], "", {}),
    (["piv", "access", "change-pin"], "", {"YKIT_PIN": "123456", "YKIT_NEW_PIN": "135790"}),
    (["piv", "access", "change-puk"], "", {"YKIT_PUK": "12345678", "YKIT_NEW_PUK": "24681357"}),
    (["piv", "access", "unblock-pin"], "", {"YKIT_PUK": "24681357", "YKIT_NEW_PIN": "135790"}),
    (["piv", "access", "change-management-key"], "", {"YKIT_NEW_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "keys", "export", "9a", "--format", "ssh"], "", {}), (["piv", "keys", "attest", "9a"], "", {}),
    (["piv", "certificates", "export", "f9"], "", {}), (["piv", "attest", "9a", "--root", "ISSUER"], "", {}),
    (["piv", "certificates", "generate", "9a", "--subject", "CN=alice"], "", {**CODE, "YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "certificates", "request", "9a", "--subject", "CN=alice"], "", CODE),
    (["piv", "certificates", "export", "9a"], "", {}),
    (["piv", "certificates", "import", "9a", "-", "--force"], "CERTIFICATE", {"YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "certificates", "delete", "9a", "--force"], "", {"YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "objects", "generate", "chuid", "--force"], "", {"YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "objects", "import", "5f0001", "-"], "an object", {"YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "objects", "export", "5f0001"], "", {}),
    (["piv", "sign", "--slot", "9a", "--format", "base64"], "a message", CODE),
    (["piv", "sign", "--slot", "9d", "--format", "base64"], "a message", CODE),
    (["piv", "keys", "import", "82", "-"], KEY_FILE, {"YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "derive", "--slot", "82", "--format", "base64", "-"], "CERTIFICATE", CODE),
    (["piv", "keys", "move", "82", "83"], "", {"YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "keys", "delete", "83", "--force"], "", {"YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "access", "change-management-key", "--generate", "--protect"], "",
     {**CODE, "YKIT_MANAGEMENT_KEY": MANAGEMENT}),
    (["piv", "reset", "--force"], "", {}), (["piv", "access", "set-retries", "5", "6", "--force"], "",
                                           {"YKIT_PIN": "123456"}),
]
SECRETS += [code.encode().hex() for code in ("123456", "135790", "12345678", "24681357", "hush hush")]
SECRETS += [SCALAR, MANAGEMENT]
NIST, AES, ACCESS = "303132333435363738393a3b3c3d3e3f40414243", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "6e5d4c3b2a19"
#: The same for the OTP slots.
OTP_STEPS = [
    (["otp", "info"], "", {}),
    (["otp", "yubiotp", "1", "--public-id", "vvcccccccccb"], "", {"YKIT_OTP_KEY": AES, "YKIT_OTP_PRIVATE_ID": ACCESS}),
    (["otp", "ndef", "1", "--prefix", "https://example.com/#"], "", {}),
    (["otp", "chalresp", "2"], "", {"YKIT_OTP_KEY": NIST}), (["otp", "calculate", "2", "53616d706c65202332"], "", {}),
    (["otp", "calculate", "2", "--totp", "--time", "59", "--digits", "8"], "", {}), (["otp", "swap", "--force"], "", {}),
    (["otp", "static", "2", "--layout", "us", "--password-stdin", "--force"], "hush hush", {}),
    (["otp", "hotp", "2", "--force"], "", {"YKIT_OTP_KEY": SECRET}),
    (["otp", "settings", "2", "--force"], "", {"YKIT_OTP_NEW_ACCESS_CODE": ACCESS}),
    (["otp", "delete", "2", "--force"], "", {"YKIT_OTP_ACCESS_CODE": ACCESS}), (["otp", "delete", "1", "--force"], "", {}),
]
LOCK, OTHER_LOCK = "c0ffee0102030405060708090a0b0c0d", "0dc0ffee0102030405060708090a0b0c"
#: The same for what is switched on.
CONFIG_STEPS = [
    (["info"], "", {}), (["config", "usb", "--list"], "", {}), (["config", "usb", "-f", "-d", "oath"], "", {}),
    (["config", "usb", "-f", "--enable-all"], "", {}), (["config", "nfc", "-f", "--disable-all"], "", {}),
    (["config", "nfc", "--list"], "", {}), (["config", "nfc", "-f", "--enable-all"], "", {}),
    (["config", "lock-code", "-f"], "", {"YKIT_NEW_LOCK_CODE": LOCK}),
    (["config", "usb", "-f", "--chalresp-timeout", "9"], "", {"YKIT_LOCK_CODE": LOCK}),
    (["config", "lock-code", "-f"], "", {"YKIT_LOCK_CODE": LOCK, "YKIT_NEW_LOCK_CODE": OTHER_LOCK}),
    (["config", "lock-code", "-f", "--clear"], "", {"YKIT_LOCK_CODE": OTHER_LOCK}), (["config", "mode"], "", {}),
    (["config", "mode", "-f", "otp+fido+ccid"], "", {}),
]
SECRETS += [NIST, AES, ACCESS, LOCK, OTHER_LOCK, "0b18160b2c0b18160b"]
#: Verbs that need what is overwritten: secrets that a key made or gives back, answers to challenges, keys of large blobs.
OVERWRITTEN = ("fido2 large-blob set", "fido2 large-blob get", "fido2 large-blob list", "fido2 large-blob delete",
               "fido2 large-blob prune", "piv derive", "otp calculate",
               "piv access change-management-key --generate --protect")
#: Verbs that go on without what one application did not answer, and one whose answer is the status word.
TOLERANT: list = []


def run(folder, arguments, text, settings):
    home = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/state", "YKIT_KEYRING": "file"}
    environment = {**os.environ, **home, **settings}
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
    return subprocess.run([YKIT, *arguments], input=text, capture_output=True, text=True, timeout=120, env=environment)


def changed(recording):
    """The recording with another instruction in its last command, or command in its last report or frame."""
    lines = recording.read_text().splitlines()
    place = max(number for number, line in enumerate(lines)
                if '"c":' in line or '"w":' in line or '"sf":' in line and '8f"' not in line)
    event = json.loads(lines[place])
    name, byte = next((name, byte) for name, byte in [("c", 1), ("w", 4), ("sf", 1)] if name in event)
    command = bytearray.fromhex(event[name])
    command[byte] ^= 1
    event[name] = command.hex()
    lines[place] = json.dumps(event)
    other = recording.with_suffix(".changed.jsonl")
    other.write_text("\n".join(lines) + "\n")
    return other


def told(recording):
    """The secrets in a recording, also where a frame of the OTP keyboard has them in parts of seven bytes."""
    text = recording.read_text()
    events = [json.loads(line) for line in text.splitlines()]
    frames = "".join(event["sf"][:14] for event in events if "sf" in event)
    return [secret for secret in SECRETS if secret in text or secret in frames]


def replayed(words, said):
    """What a replay says: the same, but that it keeps nothing on this computer."""
    if words == "oath access remember":
        return said.split(" in ")[0] + " in a replay, which keeps nothing\n"
    return said


def step(folder, number, arguments, text, settings, way=(), link=""):
    words = " ".join([*link.split(), *(word for word in arguments if not word.startswith("{"))])
    recording = pathlib.Path(folder) / f"{link}{number}.jsonl"
    before = run(folder, [*way, "--record", str(recording), *arguments], text, settings)
    expect(f"{words}: is recorded", (before.returncode, before.stderr if before.returncode else ""), (0, ""))
    expect(f"{words}: no secret in the recording", told(recording), [])
    if words != "oath access forget":
        after = run(folder, ["--replay", str(recording), *arguments], text, settings)
        if " ".join(arguments).startswith(OVERWRITTEN) or "--salt" in arguments:
            expect(f"{words}: a replay makes nothing up", (after.returncode, "overwritten" in after.stderr), (14, True))
        else:
            expect(f"{words}: replays", (after.returncode, after.stdout), (0, replayed(words, before.stdout)))
    broken = run(folder, ["--replay", str(changed(recording)), *arguments], text, settings)
    expect(f"{words}: a changed recording is noticed", broken.returncode == 14 or words in TOLERANT)
    return before.stdout


def fido(folder, way, link):
    """The verbs of FIDO over one way to a key."""
    handle = ""
    for number, (arguments, text, settings) in enumerate(FIDO_STEPS):
        if (arguments, link) == (["fido2", "select"], "card "):
            no_touch(folder, way)
            continue
        given = [handle if word == "HANDLE" else word for word in arguments]
        out = step(folder, number, given, text, settings, way, link)
        if arguments[:2] == ["u2f", "register"]:
            handle = out.strip()


def no_touch(folder, way):
    """A touch chooses among keys over HID; one in a reader is not asked, and there is nothing to record."""
    recording = pathlib.Path(folder) / "card-select.jsonl"
    result = run(folder, [*way, "--record", str(recording), "fido2", "select"], "", {})
    expect("card fido2 select: is refused", (result.returncode, result.stdout, "over HID" in result.stderr), (11, "", True))
    expect("card fido2 select: nothing is recorded", recording.exists(), False)


def piv(folder, way, link):
    """The verbs of PIV over one way to a key."""
    certificate, issuer = "", f"{folder}/{link}issuer.pem"
    for number, (arguments, text, settings) in enumerate(PIV_STEPS):
        text = certificate if text == "CERTIFICATE" else text
        arguments = [issuer if word == "ISSUER" else word for word in arguments]
        out = step(folder, f"piv{number}", arguments, text, settings, way, link)
        if arguments[1:3] == ["certificates", "export"]:
            certificate = out
            pathlib.Path(issuer).write_text(out)
    decrypted(folder, way, link)


def steps(folder, those, way, link):
    """Verbs over one way to a key."""
    for number, (arguments, text, settings) in enumerate(those):
        step(folder, f"{those[0][0][0]}{number}", arguments, text, settings, way, link)


def decrypted(folder, way, link):
    """What a private key decrypts is in no recording, so only one with secrets replays it."""
    code, pem, cipher = {"YKIT_PIN": "123456"}, f"{folder}/{link}rsa.pem", f"{folder}/{link}cipher"
    run(folder, [*way, "piv", "keys", "generate", "9d", pem, "-a", "rsa2048"], "", {})
    subprocess.run(["openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", pem, "-out", cipher], input=b"hush hush",
                   check=True)
    for words, options, wanted in [("without secrets", [], (14, "")), ("with secrets", ["--keep-secrets"], (0, "hush hush"))]:
        recording = f"{folder}/{link}{words}.jsonl"
        verb = ["piv", "decrypt", "--slot", "9d", cipher]
        before = run(folder, [*way, "--record", recording, *options, *verb], "", code)
        expect(f"{link}piv decrypt {words}: is recorded", (before.returncode, before.stdout), (0, "hush hush"))
        expect(f"{link}piv decrypt {words}: the PIN is in the recording", bool(told(pathlib.Path(recording))),
               bool(options))
        after = run(folder, ["--replay", recording, *verb], "", code)
        expect(f"{link}piv decrypt {words}: replays", (after.returncode, after.stdout), wanted)


def test_record_replay():
    with tempfile.TemporaryDirectory() as folder:
        with in_reader("--state", f"{folder}/key", ready=lambda: run(folder, ["oath", "info"], "", {}).returncode == 0):
            for number, (arguments, text, settings) in enumerate(STEPS):
                step(folder, number, arguments, text, settings)
            fido(folder, ["--link", "pcsc"], "card ")
            piv(folder, [], "")
            steps(folder, OTP_STEPS + CONFIG_STEPS, [], "")
        fido(folder, ["--virtual", f"{folder}/hid-key"], "HID ")
        piv(folder, ["--virtual", f"{folder}/piv-key"], "virtual ")
        for link in ["hid", "pcsc"]:
            steps(folder, OTP_STEPS, ["--virtual", f"{folder}/{link}-otp-key", "--link", link], f"virtual {link} ")
            steps(folder, CONFIG_STEPS, ["--virtual", f"{folder}/{link}-key", "--link", link], f"virtual {link} ")
