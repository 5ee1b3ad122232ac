# SPDX-License-Identifier: Apache-2.0
"""What real keys said (captures/field) and foreign firmwares answered (captures/firmwares): every pasted log is imported,
checked, narrated and replayed by the verb that would have met it; every answer is compared with what the key's own tool
printed, or with an independent parser.

YKIT is the ykit to test.
"""

import base64
import json
import pathlib
import re
import subprocess

from cryptography import x509
from fido2.webauthn import AttestationObject, CollectedClientData

from lib.peer import REAL, ROOT, YKIT, expect, own_folder

FIELD = pathlib.Path(ROOT) / "captures/field"
FIRMWARES = pathlib.Path(ROOT) / "captures/firmwares"
WORK = pathlib.Path(own_folder())

# What is in no tool's format: bytes alone, and what a person decoded.
BARE = re.compile(r"-(getinfo|select|chain|verify-empty|5f52|init)$")
# Logs that have no whole exchange, and why.
INCOMPLETE = {
    "49-bridge-uhid-init": None, "51-fido-card-bridge-gitlab": "a command without a reply",
    "52-nitrokey3-getassertion-libfido2": "a report of a reply", "09-yubikey5-pcscd-ccid": "the card is powered on, no more",
    "yubico-piv-tool-63": "the card is powered on, no more", "libwebauthn-41": "a report of a reply",
    "credentialsd-36": "a report of a reply", "libfido2-633": "a reply that began before",
    "ykneo-openpgp-45": "a command of fewer bytes than it announces",
}
FIDO, MANAGEMENT, OTP, PIV, OPENPGP = "a0000006472f0001", "a000000527471117", "a0000005272001", "a000000308", "d27600012401"
VERBS = {FIDO: ["fido2", "info"], MANAGEMENT: ["info"], OTP: ["otp", "info"], PIV: ["piv", "info"], OPENPGP: ["openpgp", "info"]}
# What the key's own tool says in the same report, or what its model is known to have: members of the verb's answer.
SAID = {
    "36-yubikey-5.2.6-libfido2-1.5": (["fido2", "info"], {"deviceVersion": "5.2.6", "aaguid": "2fc0579f-8113-47ea-b116-bb5a8db9202a"}),
    "24-u2fkey-3000000-libfido2": (["fido2", "info"], {"deviceVersion": "1.21.49", "aaguid": "3b1adb99-0dfe-46fd-90b8-7f7614a4de2a"}),
    "12-fido2applet-omnikey-windows": (["fido2", "info"], {"versions": ["FIDO_2_0", "FIDO_2_1", "FIDO_2_1_PRE"], "minPINLength": 4}),
    "29-yubikey-5.4.3-fido-ccid-age-plugin": (["piv", "info"], {"firmware": "5.4.3", "serial": "16909060"}),
    "30-yubikey-5.7.4-piv-keyroost": (["piv", "info"], {"firmware": "5.7.4", "serial": "16909060"}),
    "keyroost-147": (["piv", "info"], {"firmware": "5.7.4", "serial": "16909060"}),
    "22-yubikey-neo-ykman3": (["otp", "info"], {"firmware": "3.5.0", "serial": "1193046"}),
    "libykneomgr-4": (["otp", "info"], {"firmware": "3.1.2", "serial": "66051"}),
    "ykman-264": (["info"], {"firmware": "5.1.2", "serial": "66051"}),
    "yubioath-727": (["info"], {"firmware": "5.2.6", "serial": "66051"}),
    "07-smartpgp-pcscd-thread": (["openpgp", "info"], {}),
}
# The number of exchanges, or of reports, counted by hand.
EVENTS = {
    "03-hyperfido-or-feitian-libfido2-1.3": 2, "04-nitrokey3-python-fido2-level5": 6, "06-pico-fido-ykman-traffic": 2,
    "07-smartpgp-pcscd-thread": 1, "08-openpgpcard-omnikey3121-pcscd": 1, "11-ledger-nanos-scdaemon": 1,
    "12-fido2applet-omnikey-windows": 3, "22-yubikey-neo-ykman3": 2, "24-u2fkey-3000000-libfido2": 5,
    "27-yubikey5nano-5.4.3-init-libfido2": 2, "29-yubikey-5.4.3-fido-ccid-age-plugin": 3, "30-yubikey-5.7.4-piv-keyroost": 5,
    "34-yubikey-neo-piv-opensc": 1, "35-yubikey4-opensc-pgp": 1, "36-yubikey-5.2.6-libfido2-1.5": 7,
    "37-unknown-2.1pre-libfido2-1.4": 2, "38-yubikey-5.1.2-libfido2-1.1": 4, "39-key-libfido2-timestamps": 3,
    "41-yubikey-5.4.3-nfc-init-libfido2": 2, "42-yubikey-5.4.3-ccid-init-libfido2": 2, "46-piv-printed-opensc-tool": 3,
    "48-yubikey-neo-chuid-opensc-tool": 1, "49-bridge-uhid-init": 3, "libykneomgr-4": 2, "libfido2-185": 4, "libfido2-695": 4,
    "systemd-28675": 4, "libfido2-140": 2, "libfido2-195": 3, "libfido2-480": 2, "vsmartcard-292": 1, "fido2-hid-bridge-7": 1,
    "u2f4moz-11": 2, "conformance-536": 2, "fido2applet-30": 1, "webauthn-rs-214": 2, "opensc-1444": 1, "opensc-2925": 2,
    "opensc-1243": 2, "opensc-1090": 1, "opensc-1417": 1, "opensc-3590": 1, "opensc-2202": 3, "opensc-2784": 1,
    "smartpgp-24": 2, "nitrokey-pro-34": 2, "keyroost-113": 1, "keyroost-147": 4, "ykman-264": 2, "yubioath-727": 2,
}


def run(*arguments, stdin=None, program=YKIT):
    result = subprocess.run([program, *map(str, arguments)], input=stdin, capture_output=True, timeout=120,
                            stdin=subprocess.DEVNULL if stdin is None else None)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def answer(*arguments, stdin=None, program=YKIT):
    status, out, error = run(*arguments, "--json", stdin=stdin, program=program)
    try:
        return status, json.loads(out)
    except ValueError:
        return status, {"error": out + error}


def logs():
    """Each log of logs.txt: its name, its source line and its text."""
    for piece in re.split(r"^=== ", (FIELD / "logs.txt").read_text(), flags=re.M)[1:]:
        head, source, text = piece.split("\n", 2)
        yield head, source.removeprefix("# source: ").split("; "), text


def events(path):
    """The events of a recording without their times."""
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    return [{key: value for key, value in line.items() if key != "ms"} for line in lines]


def imported(name, text, program=YKIT, session=None):
    output = WORK / f"{name}.jsonl"
    output.unlink(missing_ok=True)
    more = [] if session is None else ["--session", session]
    status, said = answer("capture", "import", "-", "--output", output, *more, stdin=text.encode(), program=program)
    if status == 13 and session is None and "choose one" in said["error"]["message"]:
        return imported(name, text, program, session="1")
    return status, said, output


def variants(text):
    """The same log as other people would paste it."""
    lines = text.splitlines()
    yield "with CRLF", "\r\n".join(lines)
    yield "quoted", "\n".join("> " + line for line in lines)
    yield "indented", "\n".join("    " + line for line in lines)
    yield "from the journal", "\n".join("Nov 21 10:00:00 host prog[12]: " + line for line in lines)
    yield "with times", "\n".join("14:07:32.928  " + line for line in lines)
    yield "with other lines", "Hello,\n```\n" + "\ndebug1: something else\n\n".join(lines) + "\n```\nThanks!"


def count(recorded):
    return sum(1 for event in recorded if set(event) & {"c", "w", "d", "sf", "gf"})


def verb_of(recorded):
    """The verb that would have met this session."""
    for event in recorded:
        if "w" in event or "d" in event:
            return VERBS[FIDO]
        if event.get("c", "").startswith("00a404"):
            for aid, verb in VERBS.items():
                if event["c"][10:].startswith(aid[:16]):
                    return verb
    return None


def test_logs():
    read, models = 0, set()
    for name, (_, model, *_), text in logs():
        if BARE.search(name) and name not in EVENTS:
            status, said, _ = imported(name, text)
            expect(f"{name}: bytes alone are no log", status, 13)
            continue
        status, said, output = imported(name, text)
        if name in INCOMPLETE and name not in EVENTS:
            expect(f"{name}: nothing to record", status, 13)
            continue
        if not expect(f"{name}: imported", status, 0):
            continue
        recorded = events(output)
        expect(f"{name}: the events", count(recorded), EVENTS.get(name))
        expect(f"{name}: valid", run("capture", "check", output)[0], 0)
        expect(f"{name}: narrated", run("capture", "show", output)[0], 0)
        verb, facts = SAID.get(name, (verb_of(recorded), {}))
        if verb:
            status, replayed = answer("--replay", output, "--replay-mode", "lookup", *verb)
            # 14: an exchange that the verb needs is not in the recording.
            expect(f"{name}: replayed by {' '.join(verb)}", status in ((0,) if facts else (0, 11, 12, 14)) or replayed)
            expect(f"{name}: what its own tool says", {key: replayed.get(key) for key in facts}, facts)
        for kind, variant in variants(text):
            status, _, other = imported(f"{name}-again", variant, program=REAL)
            expect(f"{name} {kind}", status == 0 and events(other) == recorded)
        read, models = read + 1, models | {model}
    expect("logs that are read", read, len(EVENTS))
    expect("models of which a log is read", len(models) >= 25)


def test_getinfo():
    """The authenticatorGetInfo of the FIDO Alliance's list: each member as the list has it."""
    def same(value):
        return value.replace("-", "") if isinstance(value, str) else value

    for number, line in enumerate((FIELD / "getinfo.ndjson").read_text().splitlines()):
        piece = json.loads(line)
        path = WORK / f"getinfo-{number}.jsonl"
        path.write_text("\n".join(map(json.dumps, [
            {"capture": 1, "link": "card", "device": piece["model"]}, {"c": "00a4040008a0000006472f000100", "r": "4649444f5f325f309000"},
            {"c": "80108000010400", "r": piece["getInfo"] + "9000"}])) + "\n")
        status, said = answer("--replay", path, "--replay-mode", "lookup", "fido2", "info")
        told = {key: value for key, value in piece["told"].items() if not isinstance(value, (dict, list)) or key in ("versions", "extensions", "options")}
        got = {key: same(said.get(key)) for key in told}
        expect(f"getInfo of {piece['model']}", (status, got), (0, {key: same(value) for key, value in told.items()}))


def packed(kind):
    for line in (FIELD / f"{kind}.ndjson").read_text().splitlines():
        piece = json.loads(line)
        path = WORK / f"{piece['name']}-{kind}.jsonl"
        header = {"capture": 1, "link": "card", **{key: piece[key] for key in ("reader", "atr") if key in piece}}
        path.write_text("\n".join(map(json.dumps, [header, *({"c": c, "r": r} for c, r in piece["exchanges"])])) + "\n")
        yield piece, path


def test_sessions():
    """The sessions in the manual of Yubico's SDK: valid, narrated, and replayed by the verb of their application."""
    for piece, path in packed("sessions"):
        name = piece["name"]
        expect(f"{name}: valid", run("capture", "check", path)[0], 0)
        status, shown = answer("capture", "show", path)
        expect(f"{name}: every command is known", (status, [e["summary"] for e in shown["events"] if not e["known"]]), (0, []))
        verb = verb_of(events(path))
        if verb:
            status, said = answer("--replay", path, "--replay-mode", "lookup", *verb)
            expect(f"{name}: replayed by {' '.join(verb)}", status in (0, 12, 13, 14, 15) or said)


def recording(name, header, *exchanges):
    path = WORK / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, [{"capture": 1, "link": "card", **header}, *({"c": c, "r": r} for c, r in exchanges)])) + "\n")
    return path


def test_otp_status_that_is_none():
    """YubiKeys of 5.0 to 5.2.4 answer SELECT of the OTP application by arbitrary bytes: these two are of a 5.2.3."""
    for status in ("af5c6250c3a8", "a0a27b13f880"):
        path = recording(
            f"otp-{status}", {"atr": "3b8d80018073c021c057597562694b6579f9"}, ("00a4040007a000000527200100", status + "9000"),
            ("0001100000", "00010203" + "9000"), ("00a4040008a00000052747111700", b"Virtual mgr - FW version 5.2.3".hex() + "9000"))
        replay = ["--replay", path, "--replay-mode", "lookup"]
        code, said = answer(*replay, "otp", "info")
        states = [(slot["programmed"], slot["touchTriggered"]) for slot in said["slots"]]
        expect(f"{status}: version and slots", (code, said["firmware"], states, said["lightInverted"]), (0, "5.2.3", [(None, None)] * 2, None))
        for verb in (["chalresp", "2", "--generate", "--output", WORK / "secret"], ["swap"], ["delete", "2"], ["settings", "2"]):
            code, said = answer(*replay, "otp", *verb)
            expect(f"{status}: otp {verb[0]} asks", (code, said["error"]["code"]), (17, "no-terminal"))
        code, said = answer(*replay, "otp", "calculate", "2", "00")
        expect(f"{status}: no slot is refused as empty", (code, said["error"]["code"]), (14, "replay-mismatch"))


def test_gaps_and_oddities():
    """What a recording has is shown beside what it lacks, and an ATR that is not well-formed is only a warning."""
    path = recording(
        "page", {"atr": "3bfd1300008131fe158073c021c057597562694b657940"},
        ("00a4040008a00000052747111700", b"Virtual mgr - FW version 5.7.4".hex() + "9000"),
        ("001d000000", "3b0102033f0302033f02040102030404010305030507040602000007010f0801000d02033f0e02033f0a01000f0100200300000021030000001001019000"))
    code, said = answer("--replay", path, "--replay-mode", "lookup", "info")
    expect("a page that is not recorded", (code, said["firmware"], said["serial"]), (0, "5.7.4", "16909060"))
    expect("is said", "unrecorded" in [warning["code"] for warning in said["warnings"]])
    path = recording("neo", {"atr": "3bfc1300008131fe15597562696b65794e454f7233e1"},
                     ("00a4040008a000000527471117", b"Virtual mgr - FW version 3.4.0".hex() + "9000"),
                     ("00a4040007a0000005272001", "030500018507060f00009000"), ("0001100000", "000102039000"))
    code, said = answer("--replay", path, "--replay-mode", "lookup", "info")
    expect("a NEO whose applications are not recorded", (code, said["firmware"], said["serial"]), (0, "3.4.0", "66051"))
    odd = recording("atr", {"atr": "3b8d0180fba000000397425446590401"}, ("00a4040008a0000006472f000100", "6a82"))
    code, said = answer("capture", "check", odd)
    expect("an odd ATR", (code, len(said["warnings"])), (0, 1))
    modality = recording(
        "modality", {}, ("00a4040008a0000006472f000100", "4649444f5f325f309000"),
        ("80108000010400", "00a4018168" + b"FIDO_2_0".hex() + "0350" + "00" * 16 + "04a1627576f5" + "12191884" + "9000"))
    shown = run("--replay", modality, "--replay-mode", "lookup", "fido2", "info")[1]
    expect("what is typed on the key, and what beside it", ("PIN typed on the key" in shown, "pattern drawn on the key" in shown, ", PIN, pattern" in shown),
           (True, True, True))


def objects(data):
    """The data objects of a BER-TLV, nested ones too, by tag."""
    found, index = {}, 0
    while index < len(data):
        start = index
        index += 1
        if data[start] & 0x1F == 0x1F:
            while data[index] & 0x80:
                index += 1
            index += 1
        tag = data[start:index].hex()
        length = data[index]
        index += 1
        if length & 0x80:
            size = length & 0x7F
            length = int.from_bytes(data[index:index + size])
            index += size
        value = data[index:index + length]
        index += length
        found[tag] = value
        if data[start] & 0x20:
            found |= objects(value)
    return found


def test_openpgp():
    """The application related data of OpenPGP cards, against a parser of this test."""
    for piece, path in packed("openpgp"):
        data = next(r for c, r in piece["exchanges"] if c.startswith("00ca006e"))
        told = objects(bytes.fromhex(data[:-4]))
        aid, tries, prints = told["4f"], list(told["c4"][4:7]), told["c5"]
        status, said = answer("--replay", path, "--replay-mode", "lookup", "openpgp", "info")
        expect(f"OpenPGP of {piece['source']}: status and version", (status, said.get("version")), (0, f"{aid[6]}.{aid[7]}"))
        expect(f"OpenPGP of {piece['source']}: serial", said.get("serial", "").lstrip("0"), aid[10:14].hex().lstrip("0"))
        expect(f"OpenPGP of {piece['source']}: tries", [said.get(f"{name}Retries") for name in ("user", "resetCode", "admin")], tries)
        expect(f"OpenPGP of {piece['source']}: keys",
               [key["fingerprint"] or "0" * 40 for key in said.get("keys", [])][:3], [prints[i:i + 20].hex() for i in (0, 20, 40)])


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_registrations():
    """WebAuthn registrations and assertions of real keys, with python-fido2 beside."""
    refused = []
    for line in (FIELD / "registrations.ndjson").read_text().splitlines():
        piece = json.loads(line)
        name, ceremony = piece["name"], piece["ceremony"]
        registration = ceremony.get("registration", ceremony)
        if "clientDataJSON" not in registration.get("response", {}):
            continue
        path = WORK / f"{name}.json"
        path.write_text(json.dumps(registration))
        client = CollectedClientData(unpadded(registration["response"]["clientDataJSON"]))
        arguments = ["--origin", client.origin, "--challenge", base64.urlsafe_b64encode(client.challenge).decode().rstrip("=")]
        if "rp" in ceremony:
            arguments += ["--rp", ceremony["rp"]]
        if "attestationObject" not in registration["response"]:
            arguments += ["--registration", WORK / f"{name.removesuffix('.get')}.reg.json"]
            if not (WORK / f"{name.removesuffix('.get')}.reg.json").exists():
                continue
        status, said = answer("fido2", "verify", path, *arguments)
        if "attestationObject" in registration["response"]:
            theirs = AttestationObject(unpadded(registration["response"]["attestationObject"])).auth_data
            credential = base64.urlsafe_b64encode(theirs.credential_data.credential_id).decode().rstrip("=")
            if status == 8:  # A rule that python-fido2 leaves to the caller.
                refused.append(name)
                continue
            expect(f"{name}: verified", status, 0)
            expect(f"{name}: read as python-fido2 does", (said.get("credentialId"), said.get("counter")), (credential, theirs.counter))
        else:
            expect(f"{name}: verified", status, 0)
    expect("refused", refused, [])


def test_attestations():
    """The attestations of two keys: each is signed by its issuer, whose certificate says too little for openssl verify."""
    text = (FIELD / "attestations.pem").read_bytes()
    certificates = x509.load_pem_x509_certificates(text)
    expect("attestations", len(certificates), 4)
    for leaf, issuer in (certificates[:2], certificates[2:]):
        leaf.verify_directly_issued_by(issuer)
        expect(f"{leaf.subject.rfc4514_string()} is signed by its issuer", True)


def test_firmwares():
    """Recordings of foreign firmwares: valid, narrated, and replayed by the verb of their application."""
    number = 0
    for file in sorted(FIRMWARES.glob("*.ndjson")):
        for recording in re.split(r"^(?=\{\"capture\")", file.read_text(), flags=re.M)[1:]:
            header = json.loads(recording.split("\n", 1)[0])
            path = WORK / f"{file.stem}-{header['name']}.jsonl"
            path.write_text(recording)
            number += 1
            valid, shown = run("capture", "check", path)[0], run("capture", "show", "--brief", path)[0]
            expect(f"{file.stem} {header['name']}: valid and narrated", (valid, shown), (0, 0))
            verb = verb_of(events(path))
            if verb:
                status, said = answer("--replay", path, "--replay-mode", "lookup", *verb)
                expect(f"{file.stem} {header['name']}: replayed by {' '.join(verb)}", status in (0, 10, 11, 12, 13, 14, 15) or said)
    expect("recordings of foreign firmwares", number, 259)


def test_article():
    """The article on other people's logs, typed."""
    text = (pathlib.Path(ROOT) / "Sources/ykit/ykit.docc/ReadingLogs.md").read_text()
    home = WORK / "article"
    home.mkdir(exist_ok=True)
    (home / "bin").mkdir(exist_ok=True)
    (home / "bin/ykit").symlink_to(YKIT)
    blocks = re.findall(r"^```([a-z]*)\n(.*?)^```$", text, re.S | re.M)
    report = next(body for kind, body in blocks if kind == "text")
    (home / "report.txt").write_text(report)
    for _, body in (block for block in blocks if block[0] == ""):
        command, wanted = None, []
        for line in [*body.splitlines(), "$ "]:
            if not line.startswith("$ "):
                wanted.append(line)
                continue
            if command:
                done = subprocess.run(["sh", "-c", f"PATH={home}/bin:$PATH; {command}"], cwd=home, capture_output=True, text=True, stdin=subprocess.DEVNULL)
                said = [each.rstrip() for each in (done.stdout + done.stderr).splitlines()]
                shown = [each for each in wanted if each != "…"]
                expect(f"article: {command}", said[:len(shown)] if "…" in wanted else said, shown)
            command, wanted = line[2:], []
