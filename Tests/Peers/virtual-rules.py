# SPDX-License-Identifier: Apache-2.0
"""The rules of the specifications that a client in order never meets, request by request, on the virtual key: members of a
wrong type, tokens of another relying party, protocol or time, enumerations that are interrupted, and what a second SELECT
leaves unlocked. CBOR, PIN protocols and key agreement are those of python-fido2.
"""

import hashlib
import pathlib
import socket
import struct
import subprocess
import time

from fido2 import cbor
from fido2.ctap2.pin import PinProtocolV1, PinProtocolV2

from lib.peer import REAL, expect, own_folder, received

FIDO, PIV, OPENPGP = "a0000006472f0001", "a000000308", "d27600012401"
PIN, HASH, OTHER = "1234", b"\x11" * 32, "b.example"
ES256 = {"type": "public-key", "alg": -7}
OK, PARAMETER, TYPE, CBOR, MISSING, ALGORITHM, DENIED = 0x00, 0x02, 0x11, 0x12, 0x14, 0x26, 0x27
UNSUPPORTED, OPTION, NONE, NOT_ALLOWED, PIN_BLOCKED, PROOF = 0x2B, 0x2C, 0x2E, 0x30, 0x32, 0x33
MAKE, GET, INFO, PIN_COMMAND, NEXT, BIO, MANAGE, LARGE_BLOBS, CONFIG = 1, 2, 4, 6, 8, 9, 0x0A, 0x0C, 0x0D


class Key:
    """A virtual key in a reader that this test is: APDUs go to it as they are."""

    def __init__(self, *options):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            listener.settimeout(20)
            self.process = subprocess.Popen(
                [REAL, "virtual", "serve", "--vpcd", f"127.0.0.1:{listener.getsockname()[1]}",
                 "--state", str(pathlib.Path(own_folder()) / "key.json"), *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.socket = listener.accept()[0]
        self.socket.settimeout(60)
        self.tell(b"\x01")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.socket.close()

    def tell(self, message):
        self.socket.sendall(struct.pack(">H", len(message)) + message)

    def apdu(self, command):
        """Data and status word of a command in hexadecimal."""
        self.tell(bytes.fromhex(command))
        reply = received(self.socket, struct.unpack(">H", received(self.socket, 2))[0])
        data, status = reply[:-2], reply[-2:].hex()
        if status.startswith("61"):
            rest, status = self.apdu("00c0000000")
            data += rest
        return data, status

    def status(self, command):
        return self.apdu(command)[1]

    def select(self, aid):
        return self.apdu(f"00a40400{len(aid) // 2:02x}{aid}00")

    def ctap(self, code, request=None):
        """Status and answer of a CTAP2 message."""
        message = bytes([code]) + (b"" if request is None else cbor.encode(request))
        data, status = self.apdu("80100000" + f"00{len(message):04x}" + message.hex() + "0000")
        if status != "9000":
            return status, None
        return data[0], cbor.decode(data[1:]) if len(data) > 1 else None

    def make(self, **members):
        """makeCredential; members are named by their numbers, None leaves one out."""
        request = {1: HASH, 2: {"id": "a.example", "name": "A"}, 3: {"id": b"u", "name": "n"}, 4: [ES256]}
        return self.ctap(MAKE, changed(request, members))

    def get(self, **members):
        return self.ctap(GET, changed({1: "a.example", 2: HASH}, members))


def changed(request, members):
    request = {**request, **{int(name[1:]): value for name, value in members.items()}}
    return {number: value for number, value in request.items() if value is not None}


class Pin:
    """The platform's side of a PIN protocol."""

    def __init__(self, key, version=2):
        self.key, self.version = key, version
        self.protocol = PinProtocolV2() if version == 2 else PinProtocolV1()

    def shared(self):
        return self.protocol.encapsulate(self.key.ctap(PIN_COMMAND, {1: self.version, 2: 2})[1][1])

    def set(self, pin=PIN):
        platform, shared = self.shared()
        sealed = self.protocol.encrypt(shared, pin.encode().ljust(64, b"\0"))
        proof = self.protocol.authenticate(shared, sealed)
        return self.key.ctap(PIN_COMMAND, {1: self.version, 2: 3, 3: platform, 4: proof, 5: sealed})[0]

    def ask(self, pin, subcommand, more):
        """The status of a request for a token, and the token."""
        platform, shared = self.shared()
        sealed = self.protocol.encrypt(shared, hashlib.sha256(pin.encode()).digest()[:16])
        status, answer = self.key.ctap(PIN_COMMAND, {1: self.version, 2: subcommand, 3: platform, 6: sealed, **more})
        return status, status == OK and self.protocol.decrypt(shared, answer[2])

    def token(self, permissions=None, party=None):
        more = {} if permissions is None else {9: permissions, **({10: party} if party else {})}
        return self.ask(PIN, 5 if permissions is None else 9, more)[1]

    def proof(self, token, message=HASH):
        return self.protocol.authenticate(token, message)

    def make(self, token, party="a.example", user=b"u", **more):
        return self.key.make(_2={"id": party}, _3={"id": user, "name": "n"}, _8=self.proof(token), _9=self.version, **more)

    def manage(self, token, subcommand, parameters=None):
        message = bytes([subcommand]) + (b"" if parameters is None else cbor.encode(parameters))
        request = {1: subcommand, 3: self.version, 4: self.proof(token, message)}
        return self.key.ctap(MANAGE, request if parameters is None else {**request, 2: parameters})

    def configure(self, token, subcommand, parameters=None):
        message = b"\xff" * 32 + bytes([CONFIG, subcommand]) + (b"" if parameters is None else cbor.encode(parameters))
        request = {1: subcommand, 3: self.version, 4: self.proof(token, message)}
        return self.key.ctap(CONFIG, request if parameters is None else {**request, 2: parameters})[0]


def sha256(text):
    return hashlib.sha256(text.encode()).digest()


def credential(answer):
    data = answer[1][2]
    return {"type": "public-key", "id": data[55:55 + struct.unpack(">H", data[53:55])[0]]}


def altered(value):
    """The bytes with another last one."""
    return value[:-1] + bytes([value[-1] ^ 1])


def flags(answer):
    return answer[1][2][32]


def check_members_of_creation(key):
    one = {"id": b"x" * 16, "type": "public-key"}
    for wanted, requests in {
        TYPE: [
            {"_4": ["x", ES256]}, {"_4": ["x"]}, {"_4": [{"type": b"public-key", "alg": -7}]},
            {"_4": [{"type": "public-key", "alg": "x"}, ES256]}, {"_5": ["x"]}, {"_5": [{**one, "id": "x"}]},
            {"_5": [{**one, "type": b"public-key"}]}, {"_7": {"rk": 1}}, {"_7": {"rk": "x"}}, {"_7": {"up": 0}},
            {"_7": {"uv": "true"}}, {"_2": {"id": "a.example", "name": b"x"}}, {"_3": {"id": b"u", "name": b"x"}},
            {"_3": {"id": b"u", "displayName": 8}}, {"_6": {"credProtect": "x"}}, {"_6": {"credProtect": True}},
            {"_6": {"credBlob": "x"}}, {"_6": {"hmac-secret": 1}}, {"_6": {"minPinLength": 1}},
            {"_6": {"largeBlobKey": 1}, "_7": {"rk": True}},
        ],
        MISSING: [
            {"_4": [{"alg": -7}]}, {"_4": [{"type": "public-key"}, ES256]}, {"_5": [{"id": b"x"}]},
            {"_5": [{"type": "public-key"}]}, {"_1": None}, {"_2": None}, {"_3": None}, {"_4": None},
        ],
        ALGORITHM: [{"_4": [{"type": "unicorns", "alg": -7}]}, {"_4": [{"type": "public-key", "alg": 1234}]}],
        PARAMETER: [{"_6": {"credProtect": 0}}, {"_6": {"credProtect": 4}}],
        OPTION: [{"_7": {"up": False}}, {"_7": {"uv": True}}, {"_6": {"largeBlobKey": False}, "_7": {"rk": True}}],
        OK: [{}, {"_7": {"makeTea": True}}, {"_5": [{**one, "type": "unicorn"}]}, {"_6": {"unicorn": 1}}],
    }.items():
        for request in requests:
            expect(f"makeCredential with {request}", key.make(**request)[0], wanted)


def check_members_of_assertion(key):
    own = credential(key.make())
    for wanted, requests in {
        TYPE: [
            {"_3": [own, "x"]}, {"_3": [{**own, "type": b"public-key"}]}, {"_3": [{**own, "id": "x"}]},
            {"_3": [own], "_5": {"up": "x"}}, {"_3": [own], "_4": {"hmac-secret": True}},
            {"_3": [own], "_4": {"credBlob": b"x"}}, {"_3": [own], "_4": {"largeBlobKey": 1}},
        ],
        MISSING: [{"_3": [{"id": own["id"]}]}, {"_3": [{"type": "public-key"}, own]}],
        NONE: [{"_3": [{**own, "type": "unicorn"}]}, {"_3": [{**own, "id": altered(own["id"])}]}],
        UNSUPPORTED: [{"_3": [own], "_5": {"rk": True}}, {"_3": [own], "_5": {"rk": False}}],
        OPTION: [{"_3": [own], "_4": {"largeBlobKey": False}}, {"_3": [own], "_5": {"uv": True}}],
        OK: [{"_3": [own]}, {"_3": [own], "_5": {"up": False}}, {"_3": [own], "_5": {"makeTea": True}}],
    }.items():
        for request in requests:
            expect(f"getAssertion with {request}", key.get(**request)[0], wanted)


def check_tokens(key):
    one, two = Pin(key, 1), Pin(key, 2)
    expect("a PIN is set", two.set(), OK)
    expect("an unknown PIN protocol", key.ctap(PIN_COMMAND, {1: 9, 2: 1})[0], PARAMETER)
    for name, subcommand, more, wanted in [
        ("no permissions", 9, {9: 0}, PARAMETER), ("permissions that are missing", 9, {}, MISSING),
        ("permissions in the older command", 5, {9: 1, 10: "a.example"}, PARAMETER),
        ("a relying party in the older command", 5, {10: "a.example"}, PARAMETER),
    ]:
        expect(f"a token with {name}", two.ask(PIN, subcommand, more)[0], wanted)
    token = one.token(1, "a.example")
    expect("a token of protocol 1 in protocol 2", two.make(token)[0], PROOF)
    expect("and in its own", one.make(token)[0], OK)
    expect("a second time", one.make(token)[0], PROOF)
    older = two.token()
    expect("a token without permissions", two.make(older)[0], OK)
    expect("a second time", two.make(older)[0], PROOF)
    expect("for credential management", two.manage(two.token(), 1)[0], PROOF)
    token = two.token(4)
    expect("a token for credential management", two.manage(token, 1)[0], OK)
    expect("a wrong PIN", two.ask("9999", 9, {9: 4})[0], 0x31)
    expect("ends the token", two.manage(token, 1)[0], PROOF)


def check_management(key):
    pin = Pin(key)
    made = {
        (party, user): pin.make(pin.token(1, party), party, user, _7={"rk": True})
        for party, user in [("a.example", b"1"), ("a.example", b"2"), (OTHER, b"1")]
    }
    own, foreign = credential(made["a.example", b"1"]), credential(made[OTHER, b"1"])
    token = pin.token(4, "a.example")
    name = {"id": b"1", "name": "changed"}
    for what, subcommand, parameters, wanted in [
        ("counts", 1, None, PROOF), ("relying parties", 2, None, PROOF), ("its credentials", 4, {1: sha256("a.example")}, OK),
        ("another's credentials", 4, {1: sha256(OTHER)}, PROOF), ("another's name", 7, {2: foreign, 3: name}, PROOF),
        ("the deletion of another's", 6, {2: foreign}, PROOF), ("its name", 7, {2: own, 3: name}, OK),
        ("its deletion", 6, {2: own}, OK), ("what is gone", 6, {2: own}, NONE),
    ]:
        expect(f"a token of one relying party: {what}", pin.manage(token, subcommand, parameters)[0], wanted)
    pin.make(pin.token(1, "a.example"), "a.example", b"1", _7={"rk": True})
    token = pin.token(4)

    def begin(subcommand=2, parameters=None):
        return pin.manage(token, subcommand, parameters)[0]

    def following(subcommand=3):
        return key.ctap(MANAGE, {1: subcommand})[0]

    expect("relying parties, two", (begin(), following(), following()), (OK, OK, NOT_ALLOWED))
    expect("relying parties, then credentials", (begin(), following(5)), (OK, NOT_ALLOWED))
    expect("credentials, then relying parties", (begin(4, {1: sha256("a.example")}), following()), (OK, NOT_ALLOWED))
    expect("credentials, two", (begin(4, {1: sha256("a.example")}), following(5)), (OK, OK))
    expect("getInfo ends an enumeration", (begin(), key.ctap(INFO)[0], following()), (OK, OK, NOT_ALLOWED))
    expect("makeCredential ends it", (begin(), key.make()[0], following()), (OK, OK, NOT_ALLOWED))


def check_presence(key):
    pin = Pin(key)
    proof = {"_6": pin.proof(pin.token(2, "a.example")), "_7": 2}
    first = key.get(_5={"up": False}, **proof)
    expect("without a touch: flags", flags(first), 0x04)
    expect("and of the next assertion", flags(key.ctap(NEXT)), 0x04)
    proof = {"_6": pin.proof(pin.token(2, "a.example")), "_7": 2}
    platform, shared = pin.shared()
    salts = pin.protocol.encrypt(shared, b"\1" * 32)
    request = {1: platform, 2: salts, 3: pin.protocol.authenticate(shared, salts), 4: 2}
    expect("a secret without a touch", key.get(_4={"hmac-secret": request}, _5={"up": False}, **proof)[0], UNSUPPORTED)
    expect("and with one", key.get(_4={"hmac-secret": request}, **proof)[0], OK)


def check_large_blobs_and_rules(key):
    for name, request, wanted in [
        ("of all", {1: 17, 3: 0}, OK), ("without an offset", {1: 17}, PARAMETER), ("with a length", {1: 17, 3: 0, 4: 17}, PARAMETER),
        ("with a proof", {1: 17, 3: 0, 5: b"x" * 16}, PARAMETER), ("with a protocol", {1: 17, 3: 0, 6: 1}, PARAMETER),
        ("and a write", {1: 1, 2: b"x", 3: 0}, PARAMETER),
    ]:
        expect(f"a read of large blobs {name}", key.ctap(LARGE_BLOBS, request)[0], wanted)
    pin = Pin(key)
    token = pin.token(0x20)
    for rules in ({1: "x"}, {2: "x"}, {2: [1]}, {3: "x"}):
        expect(f"rules for PINs {rules}", pin.configure(token, 3, rules), TYPE)
    expect("the user is always verified", pin.configure(token, 2), OK)
    info = key.ctap(INFO)[1]
    expect("then there is no U2F", (info[1], key.select(FIDO)), (["FIDO_2_0", "FIDO_2_1_PRE", "FIDO_2_1"], (b"FIDO_2_0", "9000")))
    pin.configure(pin.token(0x20), 2)
    expect("and else there is", key.select(FIDO), (b"U2F_V2", "9000"))


def check_time(key):
    """A token that is not used, and an assertion that is not fetched, are gone in time: 19.8 s over NFC, and 30 s."""
    pin = Pin(key)
    unused, used = pin.token(4), None
    time.sleep(20)
    expect("a token that was not used for 20 s", pin.manage(unused, 1)[0], PROOF)
    used = pin.token(4)
    expect("a token that was", pin.manage(used, 1)[0], OK)
    expect("two assertions", key.get(_6=pin.proof(pin.token(2, "a.example")), _7=2)[1][5], 2)
    time.sleep(31)
    expect("the second after 31 s", key.ctap(NEXT)[0], NOT_ALLOWED)


def check_end(key):
    expect("a session with an end", key.status("80120200"), "6b00")
    expect("its end", key.status("80120100"), "9000")
    expect("nothing after it", (key.ctap(INFO)[0], key.status("0003000000")), ("6986", "6986"))
    expect("until SELECT", (key.select(FIDO)[1], key.ctap(INFO)[0]), ("9000", OK))


def test_fido():
    with Key("--nfc") as key:
        key.select(FIDO)
        check_members_of_creation(key)
        check_members_of_assertion(key)
        check_tokens(key)
        check_management(key)
        check_presence(key)
        check_large_blobs_and_rules(key)
        check_time(key)
        check_end(key)


def test_fingers():
    with Key("--nfc", "--fingerprints", "--wrong-fingers", "5") as key:
        key.select(FIDO)
        pin = Pin(key)
        pin.set()
        token = pin.token(8)

        def enrol(subcommand, parameters):
            message = bytes([1, subcommand]) + cbor.encode(parameters)
            return key.ctap(BIO, {1: 1, 2: subcommand, 3: parameters, 4: 2, 5: pin.proof(token, message)})[1]

        answer = enrol(1, {3: 10000})
        while answer[6]:
            answer = enrol(2, {1: answer.get(4, answer.get(1)), 3: 10000}) | {4: answer[4]}
        wanted = [DENIED, DENIED, PIN_BLOCKED, PIN_BLOCKED]
        expect("wrong fingers", [key.make(_7={"uv": True})[0] for _ in wanted], wanted)
        expect("and in an assertion", key.get(_5={"uv": True})[0], PIN_BLOCKED)


def test_selection():
    verify, query = "0020008008313233343536ffff", "00200080"
    with Key() as key:
        key.select(PIV)
        expect("PIV: the PIN", (key.status(verify), key.status(query)), ("9000", "9000"))
        expect("stays verified when PIV is selected again", (key.select(PIV)[1], key.status(query)), ("9000", "9000"))
        expect("or nothing is", (key.select("a0000000990011")[1], key.status(query)), ("6a82", "9000"))
        expect("not when another application is", (key.select(OPENPGP)[1], key.select(PIV)[1], key.status(query)),
               ("9000", "9000", "63c3"))
        for name, command, wanted in [
            ("another reference", "0020000008313233343536ffff", "6a80"), ("P1 01", "0020018008313233343536ffff", "6a80"),
            ("P1 FF with a PIN", "0020ff8008313233343536ffff", "6a80"), ("six bytes", "0020008006313233343536", "6a80"),
            ("a sensor that is not there", "00200096020300", "6a88"),
        ]:
            expect(f"VERIFY with {name}", key.status(command), wanted)
        for _ in range(3):
            key.status("00200080083939393939393939")
        expect("six bytes when the PIN is blocked", key.status("0020008006313233343536"), "6a80")
        key.select(OPENPGP)
        expect("OpenPGP: the PIN", (key.status("0020008206313233343536"), key.status("00200082")), ("9000", "9000"))
        expect("stays verified", (key.select(OPENPGP)[1], key.status("00200082")), ("9000", "9000"))
