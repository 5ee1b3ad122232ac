# SPDX-License-Identifier: Apache-2.0
"""Attestations, judged from files: those that real keys made and others published; those of virtual keys, with openssl,
yubico-piv-tool and pyca/cryptography on the other side, in both directions; and what must not be believed: a card of public
bytes, expired, swapped, mixed, imported and software ones.

YKIT is the ykit to test.
"""

import base64
import datetime
import hashlib
import json
import os
import subprocess

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID, ObjectIdentifier
from fido2 import cbor

from lib.fake_card import FakeCard
from lib.model_list import Service, der, payload
from lib.peer import REAL, ROOT, YKIT, beside_pcscd, expect, reader_port
from lib.piv_bench import FOLDER, Key, openssl, path, read, run, works, write

beside_pcscd()

PUBLISHED = ROOT / "Tests/Fixtures/attestation"
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
YUBICO = "1.3.6.1.4.1.41482."
PEM = serialization.Encoding.PEM


def ykit(*words, text=None, program=YKIT):
    """The exit status and the answer; PINs are those of a new key."""
    done = subprocess.run(
        [program, "--json", *words], capture_output=True, text=True, input=text, timeout=120, cwd=FOLDER,
        env={**os.environ, "HOME": FOLDER, "XDG_STATE_HOME": FOLDER, "YKIT_PIN": "123456"})
    return done.returncode, json.loads(done.stdout)


def verify(*words):
    """The exit status, and the result of each verdict."""
    status, answer = ykit("attest", "verify", *map(str, words))
    return status, [verdict["result"] for verdict in answer["verdicts"] or []]


def verdict(*words):
    status, answer = ykit("attest", "verify", *map(str, words))
    return status, answer["verdicts"][0]


def virtual(*words, key="key.json", **options):
    return ykit("--virtual", path(key), *words, **options)


def published(name):
    return [PUBLISHED / f"{name}-{part}.pem" for part in ("att", "int")]


def roots(key="key.json"):
    """The roots that a virtual key made for itself."""
    with open(path(key), encoding="utf-8") as file:
        state = json.load(file)
    for name in ("piv", "openpgp"):
        if root := state.get(name, {}).get("attestationRoot"):
            certificate = x509.load_der_x509_certificate(bytes.fromhex(root))
            write(f"{name}-root.pem", certificate.public_bytes(PEM))


def load(name):
    return x509.load_pem_x509_certificate(read(name))


# The published ones.

def test_published():
    status, old = verdict(*published("yubikey-5ci"))
    expect("a YubiKey 5Ci of firmware 5.2.4", (status, old["result"], old["firmware"], old["slot"], old["touchPolicy"]),
           (0, "proven", "5.2.4", "93", "cached"))
    expect("its root, and the flaw of its firmware", (old["root"], [flaw["name"] for flaw in old["advisories"]]),
           ("CN=Yubico PIV Root CA Serial 263751", ["EUCLEAK"]))
    status, new = verdict(*reversed(published("yubikey-5c-5-7-4")))
    expect("a YubiKey 5C of firmware 5.7.4, files in the other order",
           (status, new["result"], new["firmware"], new["serial"], new["pinPolicy"], new["advisories"]),
           (0, "proven", "5.7.4", "33162554", "never" if new["pinPolicy"] == "never" else "once", []))
    expect("its root", new["root"], "CN=Yubico Attestation Root 1")
    for name, found in (("yubikey-5ci", old), ("yubikey-5c-5-7-4", new)):
        statement, device = (x509.load_pem_x509_certificate(file.read_bytes()) for file in published(name))
        statement.verify_directly_issued_by(device)
        stated = {each.oid.dotted_string: each.value.value for each in statement.extensions}
        firmware, policies = stated[YUBICO + "3.3"], stated[YUBICO + "3.8"]
        spki = statement.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        expect(f"pyca/cryptography reads the same of {name}",
               (found["firmware"], int(found["serial"]), found["pinPolicy"], found["touchPolicy"], found["keyDigest"]),
               (".".join(map(str, firmware)), int.from_bytes(stated[YUBICO + "3.7"][2:], "big"),
                ["", "never", "once", "always"][policies[0]], ["", "never", "always", "cached"][policies[1]],
                hashlib.sha256(spki).hexdigest()))
    for first, second in ((0, 1), (1, 0)):
        pairs = [published("yubikey-5ci"), published("yubikey-5c-5-7-4")]
        expect("mixed files", verify(pairs[first][0], pairs[second][1]), (8, ["notRooted"]))
    expect("the statement alone", verify(published("yubikey-5ci")[0]), (8, ["notRooted"]))
    expect("both at once", verify(*published("yubikey-5ci"), *published("yubikey-5c-5-7-4")), (0, ["proven"] * 2))
    for requirement, status in (("touch=always", 15), ("touch=cached|always", 0), ("firmware>=5.2.4", 0), ("firmware>=5.7", 15),
                                ("fips", 15), ("generated", 0), ("serial=1", 15), ("slot=93", 0), ("pin=once", 15)):
        expect(f"--require {requirement}", verify(*published("yubikey-5ci"), "--require", requirement)[0], status)
    status, answer = ykit("attest", "verify", str(published("yubikey-5ci")[0]), "--require", "touch=never,blue")
    expect("an unknown requirement is named", (status, "'blue'" in answer["error"]["message"]), (2, True))
    with open(PUBLISHED / "registrations.jsonl", encoding="utf-8") as file:
        for line in map(json.loads, file):
            name = write("registration.json", json.dumps(line["registration"]).encode())
            expect(f"a real registration of model {line['aaguid']}", verify(name), (0, ["proven"]))


# A virtual key.

# Statements of pyca/cryptography, so that each mark can have each value.

REQUIREMENTS = [
    ("touch=always", [2, 2], [2, 3]), ("touch=cached", [2, 3], [2, 1]), ("touch=never", [2, 1], [2, 2]),
    ("touch=always|cached", [2, 3], [2, 1]), ("pin=once", [2, 1], [3, 1]), ("pin=always", [3, 1], [2, 1]),
    ("pin=never", [1, 1], [2, 1]), ("pin=once|always", [3, 1], [1, 1]),
]


def maker():
    """A device of a maker whose root is maker.pem, and a key in it."""
    key, subject = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    device = authority("maker", key)
    write("maker.pem", device.public_bytes(PEM))
    return key, device, subject


def stated(signer, name, subject, fields, file="stated.pem"):
    """A statement with these fields, below 41482, and its device."""
    key, device = signer
    statement = signed_by(device, key, name, subject, [(YUBICO + field, bytes(value)) for field, value in fields.items()])
    write(file, statement.public_bytes(PEM) + device.public_bytes(PEM))
    return statement


def required(condition, file="stated.pem", root="maker.pem"):
    return verify(file, "--root", root, "--require", condition)


def test_requirements():
    key, device, subject = maker()
    both = ((0, ["proven"]), (15, ["unmet"]))
    for condition, yes, no in REQUIREMENTS:
        for policies, wanted in zip((yes, no), both, strict=True):
            stated((key, device), "YubiKey PIV Attestation 9a", subject, {"3.8": policies})
            expect(f"{condition} of policies {policies}", required(condition), wanted)
    fields = {"3.3": [5, 7, 4], "3.7": [2, 4, 0, 0xBC, 0x61, 0x4E], "3.8": [2, 1], "3.9": [1]}
    stated((key, device), "YubiKey PIV Attestation 9a", subject, fields)
    for condition, is_met in (("firmware>=5.7", 1), ("firmware>=5.7.4", 1), ("firmware>=5.7.5", 0), ("firmware>=6", 0),
                              ("serial=12345678", 1), ("serial=1|12345678", 1), ("serial=12345679", 0), ("slot=9a", 1), ("slot=9c|9A", 1),
                              ("slot=9c", 0), ("fips", 0), ("generated", 1), ("generated,slot=9a,pin=once,serial=12345678", 1),
                              ("generated,slot=9a,pin=once,serial=1", 0)):
        expect(f"{condition} of a whole statement", required(condition), both[not is_met])
    for condition, said in (("touch=never", {"3.7": [2, 1, 1]}), ("pin=once", {"3.7": [2, 1, 1]}), ("firmware>=5.0", {"3.7": [2, 1, 1]}),
                            ("serial=1", {"3.8": [2, 1]}), ("fips", {"3.8": [2, 1]})):
        stated((key, device), "YubiKey PIV Attestation 9a", subject, said)
        expect(f"a statement that says nothing about {condition}", required(condition), both[1])
    stated((key, device), "YubiKey PIV Attestation 9a", subject, {"3.8": [2, 1], "3.9": [0x81]})
    expect("fips by the form factor", required("fips"), (0, ["proven"]))
    marked = authority("marked", key, marks=("3.10", "3.11"))
    write("marked.pem", marked.public_bytes(PEM))
    stated((key, marked), "YubiKey PIV Attestation 9a", subject, {"3.8": [2, 1]})
    expect("fips by the certificate of the device", required("fips", root="marked.pem"), (0, ["proven"]))
    status, found = verdict("stated.pem", "--root", "marked.pem")
    expect("which may be of the CSPN series too", (status, found["fips"], found["cspn"]), (0, True, True))
    for origin, wanted in ((1, (0, ["proven"])), (0, (15, ["imported"]))):
        stated((key, device), "YubiKey OPGP Attestation SIG", subject, {"5.2": [2, 1, origin]})
        expect(f"generated, of an OpenPGP key of source {origin}", required("generated"), wanted)
    for policy, wanted in ((1, "always"), (2, "always"), (3, "cached"), (4, "cached"), (0, "never")):
        stated((key, device), "YubiKey OPGP Attestation SIG", subject, {"5.2": [2, 1, 1], "5.8": [4, 1, policy]})
        expect(f"touch={wanted}, of an OpenPGP key of policy {policy}", required(f"touch={wanted}"), (0, ["proven"]))
    in_certificates(key, device, subject)
    flaws(key, device, subject)


def in_certificates(key, device, subject):
    """A certificate that contains a statement, as a certificate authority issues it from such a request."""
    statement = stated((key, device), "YubiKey PIV Attestation 9a", subject, {"3.7": [2, 1, 7], "3.8": [2, 2]})
    issuer = ec.generate_private_key(ec.SECP256R1())
    for what, holder, wanted in (("its key", subject, (0, ["proven"])), ("another key", issuer, (8, ["mismatch"]))):
        for oid, value in (("3.11", der(statement)), ("3.1", der(statement)), ("3.11", base64.b64encode(der(statement)))):
            fields = [(YUBICO + oid, value), (YUBICO + "3.2", der(device))]
            issued = signed_by(authority("CA", issuer), issuer, "Alice", holder, fields)
            write("issued.pem", issued.public_bytes(PEM))
            expect(f"a certificate for {what}, {oid}", verify("issued.pem", "--root", "maker.pem", "--require", "serial=7")
                   if holder is subject else verify("issued.pem", "--root", "maker.pem"), wanted)
    write("ca.pem", authority("CA", issuer).public_bytes(PEM))
    expect("the authority of the certificate is no root of its statement", verify("issued.pem", "--root", "ca.pem"), (8, ["notRooted"]))


def flaws(key, device, subject):
    """Published flaws of the firmware that a statement names, as far as they concern its key."""
    rsa_key = rsa.generate_private_key(65537, 2048)
    for version, who, what, wanted in (
            ([5, 4, 3], subject, "an elliptic curve key", ["EUCLEAK"]), ([5, 4, 3], rsa_key, "an RSA key", []),
            ([5, 7, 0], subject, "a repaired firmware", []), ([4, 3, 4], rsa_key, "an early RSA key", ["ROCA"]),
            ([4, 3, 5], rsa_key, "an RSA key of the repaired firmware 4", [])):
        stated((key, device), "YubiKey PIV Attestation 9a", who, {"3.3": version, "3.8": [2, 2]})
        status, found = verdict("stated.pem", "--root", "maker.pem")
        expect(f"flaws of {what}", (status, [flaw["name"] for flaw in found["advisories"]]), (0, wanted))


def test_virtual_key():
    subprocess.run([YKIT, "virtual", "new", path("key.json"), "--firmware", "5.7.1"], check=True, capture_output=True)
    virtual("piv", "keys", "generate", "9a", "public.pem", "--pin-policy", "once")
    virtual("piv", "keys", "generate", "9e", "--pin-policy", "never", "--touch-policy", "never")
    roots()
    requests()
    proofs()
    from_card()
    ssh()
    registrations()
    openpgp()


def requests():
    for format_ in ("pem", "der"):
        status, _ = virtual("piv", "certificates", "request", "9a", f"request.{format_}", "--subject", "CN=Alice", "--attest",
                            "--format", format_)
        expect(f"a request with the attestation inside, {format_}", status, 0)
    text = works("openssl verifies it", "openssl", "req", "-in", "request.pem", "-noout", "-verify", "-text")
    expect("openssl shows both extensions", [oid in text for oid in (YUBICO + "3.11", YUBICO + "3.2")], [True, True])
    request = x509.load_pem_x509_csr(read("request.pem"))
    inner = {each.oid.dotted_string: each.value.value for each in request.extensions}
    statement, device = (x509.load_der_x509_certificate(inner[YUBICO + name]) for name in ("3.11", "3.2"))
    statement.verify_directly_issued_by(device)
    expect("pyca/cryptography finds the request's key in the attestation", (request.is_signature_valid, statement.public_key()),
           (True, request.public_key()))
    write("statement.pem", statement.public_bytes(PEM))
    write("device.pem", device.public_bytes(PEM))
    works("openssl verifies the path", "openssl", "verify", "-CAfile", "piv-root.pem", "-untrusted", "device.pem", "statement.pem")
    root = ["--root", "piv-root.pem"]
    for name in ("request.pem", "request.der"):
        expect(f"ykit verifies {name}", verify(name, *root), (0, ["proven"]))
    expect("but not to Yubico's roots", verify("request.pem"), (8, ["notRooted"]))
    expect("wrong intermediate certificate", verify("statement.pem", published("yubikey-5ci")[1], *root), (8, ["notRooted"]))
    # As others write it: powershellYK's extension, base64, and in a certificate.
    key, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    own = signed_by(authority("maker", key), key, "YubiKey PIV Attestation 9a", other, [(YUBICO + "3.8", b"\x02\x02")])
    write("maker.pem", authority("maker", key).public_bytes(PEM))
    encoded = {".3.1 in DER": (YUBICO + "3.1", der(own)), "base64": (YUBICO + "3.11", base64.b64encode(der(own)))}
    for what, (oid, value) in encoded.items():
        for name, signer, result in (("its own key", other, "proven"), ("another key", key, "mismatch")):
            made = (x509.CertificateSigningRequestBuilder().subject_name(named("Alice"))
                    .add_extension(x509.UnrecognizedExtension(ObjectIdentifier(oid), value), critical=False)
                    .add_extension(x509.UnrecognizedExtension(ObjectIdentifier(YUBICO + "3.2"), der(load("maker.pem"))), critical=False)
                    .sign(signer, hashes.SHA256()))
            write("other.csr", made.public_bytes(PEM))
            expect(f"a request of pyca/cryptography, {what}, signed with {name}", verify("other.csr", "--root", "maker.pem"),
                   (0 if result == "proven" else 8, [result]))
    bare = x509.CertificateSigningRequestBuilder().subject_name(named("Alice")).sign(key, hashes.SHA256())
    write("bare.csr", bare.public_bytes(PEM))
    expect("a request without an attestation", verify("bare.csr"), (15, ["software"]))
    broken(key, other)


def named(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def authority(name, key, until=NOW + DAY * 90, constraints=True, issuer=None, issuer_key=None, marks=()):
    builder = (x509.CertificateBuilder().subject_name(named(name)).issuer_name(named(issuer or name)).public_key(key.public_key())
               .serial_number(1).not_valid_before(NOW - DAY * 90).not_valid_after(until))
    if constraints:
        builder = builder.add_extension(x509.BasicConstraints(True, None), critical=True)
    for mark in marks:
        builder = builder.add_extension(x509.UnrecognizedExtension(ObjectIdentifier(YUBICO + mark), b"\x05\x00"), critical=False)
    return builder.sign(issuer_key or key, hashes.SHA256())


def signed_by(issuer, key, name, subject, fields):
    builder = (x509.CertificateBuilder().subject_name(named(name)).issuer_name(issuer.subject).public_key(subject.public_key())
               .serial_number(2).not_valid_before(NOW - DAY).not_valid_after(NOW + DAY))
    for oid, value in fields:
        builder = builder.add_extension(x509.UnrecognizedExtension(ObjectIdentifier(oid), value), critical=False)
    return builder.sign(key, hashes.SHA256())


def broken(key, other):
    """Chains that are wrong in one place each, by pyca/cryptography."""
    fields = [(YUBICO + "3.8", b"\x02\x02")]

    def chain(what, wanted, device, *middle):
        device_key = key
        statement = signed_by(device, device_key, "YubiKey PIV Attestation 9a", other, fields)
        write("chain.pem", b"".join(each.public_bytes(PEM) for each in (statement, device, *middle)))
        expect(what, verify("chain.pem", "--root", "root.pem"), wanted)

    root_key, middle_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root = authority("root", root_key)
    write("root.pem", root.public_bytes(PEM))
    device = authority("device", key, constraints=False, issuer="root", issuer_key=root_key)
    chain("F9 without basic constraints", (0, ["proven"]), device)
    chain("an expired F9, since a device has no clock", (0, ["proven"]),
          authority("device", key, until=NOW - DAY, constraints=False, issuer="root", issuer_key=root_key))
    device = authority("device", key, issuer="middle", issuer_key=middle_key)
    chain("an intermediate certificate", (0, ["proven"]), device,
          authority("middle", middle_key, issuer="root", issuer_key=root_key))
    chain("an expired intermediate certificate", (8, ["notRooted"]), device,
          authority("middle", middle_key, until=NOW - DAY, issuer="root", issuer_key=root_key))
    chain("an intermediate certificate without basic constraints", (8, ["notRooted"]), device,
          authority("middle", middle_key, constraints=False, issuer="root", issuer_key=root_key))
    alone = signed_by(authority("YubiKey PIV Attestation 9a", other), other, "YubiKey PIV Attestation 9a", other, fields)
    write("alone.pem", alone.public_bytes(PEM))
    expect("a statement signed by its own key", verify("alone.pem"), (15, ["software"]))


def proofs():
    status, made = ykit("attest", "challenge", "challenge.txt")
    expect("a challenge", (status, read("challenge.txt").decode()), (0, made["challenge"]))
    words = ["--challenge-file", "challenge.txt", "--root", "piv-root.pem"]
    status, _ = virtual("attest", "prove", "9a", "proof.pem", "--challenge-file", "challenge.txt")
    expect("attest prove", status, 0)
    expect("the challenge is answered", verify("proof.pem", *words), (0, ["proven"]))
    status, found = verdict("proof.pem", *words, "--for", "request.pem", "--require", "pin=once,generated,firmware>=5.7")
    expect("by the key of the request", (status, found["notShown"]), (0, []))
    block = base64.b64decode(read("proof.pem").decode().split("ATTESTATION PROOF-----")[1].split("-----END")[0])
    size = block[3]
    challenge, signature = block[4:4 + size], block[6 + size:]
    load("statement.pem").public_key().verify(signature, b"ykit attestation proof\n" + challenge, ec.ECDSA(hashes.SHA256()))
    expect("pyca/cryptography verifies the signature over it", challenge.decode(), made["challenge"])
    ykit("attest", "challenge", "other.txt")
    expect("another challenge", verify("proof.pem", "--challenge-file", "other.txt", "--root", "piv-root.pem"), (8, ["mismatch"]))
    virtual("piv", "keys", "attest", "9e", "silent.pem", "--chain")
    expect("no answer", verify("silent.pem", *words), (8, ["unchecked"]))
    write("swapped.pem", read("silent.pem") + b"-----BEGIN YKIT" + read("proof.pem").split(b"-----BEGIN YKIT")[1])
    expect("another key's answer", verify("swapped.pem", *words), (8, ["mismatch"]))
    expect("another key than expected", verify("silent.pem", "--for", "public.pem", "--root", "piv-root.pem"), (8, ["mismatch"]))
    status, made = virtual("attest", "prove", "9a", "answer.json", "--format", "step", "--token", "TOKEN", "--thumbprint", "PRINT")
    statement = cbor.decode(base64.urlsafe_b64decode(json.loads(read("answer.json"))["attObj"] + "=="))
    leaf = x509.load_der_x509_certificate(statement["attStmt"]["x5c"][0])
    leaf.public_key().verify(cbor.decode(statement["attStmt"]["sig"]), b"TOKEN.PRINT", ec.ECDSA(hashes.SHA256()))
    expect("pyca/cryptography verifies the ACME statement as step-ca does", (status, statement["fmt"]), (0, "step"))
    for challenge, wanted in (("TOKEN.PRINT", (0, ["proven"])), ("TOKEN.OTHER", (8, ["mismatch"]))):
        expect(f"so does ykit: {challenge}", verify("answer.json", "--challenge", challenge, "--root", "piv-root.pem"), wanted)
    acme()
    virtual("piv", "keys", "generate", "9c", "--algorithm", "ecc-p384")
    status, answer = virtual("attest", "prove", "9c", "--format", "step", "--token", "T", "--thumbprint", "P")
    expect("step-ca does not accept P-384", (status, answer["error"]["code"]), (11, "not-supported"))


def acme():
    """The other keys that step-ca accepts, and what an order's permanent identifier is compared with."""
    serial = verdict("answer.json", "--challenge", "TOKEN.PRINT", "--root", "piv-root.pem")[1]["serial"]
    for slot, algorithm in (("82", "rsa2048"), ("83", "ed25519")):
        virtual("piv", "keys", "generate", slot, "--algorithm", algorithm)
        name = f"{algorithm}.json"
        virtual("attest", "prove", slot, name, "--format", "step", "--token", "TOKEN", "--thumbprint", "PRINT")
        statement = cbor.decode(base64.urlsafe_b64decode(json.loads(read(name))["attObj"] + "=="))["attStmt"]
        public, signature = x509.load_der_x509_certificate(statement["x5c"][0]).public_key(), cbor.decode(statement["sig"])
        if algorithm == "ed25519":
            public.verify(signature, b"TOKEN.PRINT")
        else:
            public.verify(signature, b"TOKEN.PRINT", padding.PKCS1v15(), hashes.SHA256())
        words = [name, "--challenge", "TOKEN.PRINT", "--root", "piv-root.pem", "--require"]
        expect(f"step of an {algorithm} key, with the serial number of the order", verify(*words, f"serial={serial}"), (0, ["proven"]))
        expect("with another", verify(*words, "serial=1"), (15, ["unmet"]))
        write("raw.cbor", base64.urlsafe_b64decode(json.loads(read(name))["attObj"] + "=="))
        expect("as CBOR", verify("raw.cbor", *words[1:-1]), (0, ["proven"]))
    other = cbor.encode({"fmt": "apple", "attStmt": {}})
    write("apple.cbor", other)
    expect("another format", ykit("attest", "verify", "apple.cbor")[0], 11)
    write("cut.cbor", read("raw.cbor")[:-1])
    expect("a truncated one", ykit("attest", "verify", "cut.cbor")[0], 13)


def from_card():
    for slot, gaps in (("9e", []), ("9a", ["presence"])):
        status, answer = virtual("piv", "attest", slot, "--root", "piv-root.pem")
        expect(f"piv attest {slot}: what is not shown", (status, answer["result"], answer["notShown"]), (0, "proven", gaps))
    done = subprocess.run([YKIT, "--virtual", path("key.json"), "piv", "attest", "9a", "--root", "piv-root.pem"],
                          capture_output=True, text=True, cwd=FOLDER)
    expect("and people read it", "not proof that the key is here" in done.stdout)
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "own.key")
    virtual("piv", "keys", "import", "9d", "own.key")
    for words in (["piv", "attest", "9d"], ["piv", "keys", "attest", "9d"], ["attest", "prove", "9d", "--challenge", "c"]):
        status, answer = virtual(*words)
        expect(f"{' '.join(words)}: an imported key", (status, answer["error"]["code"]), (15, "not-attestable"))
    run(YKIT, "--virtual", path("key.json"), "--record", "recording.jsonl", "piv", "attest", "9e")
    expect("a recording of the card", verify("recording.jsonl", "--root", "piv-root.pem"), (0, ["proven"]))


def ssh():
    write("challenge", b"some bytes\n")
    status, _ = virtual("ssh", "generate", "--output", "id_sk", "--attestation", "id_sk.att", "--challenge", "challenge",
                        "--algorithm", "ecdsa")
    expect("ssh generate --attestation", status, 0)
    # The fields as OpenSSH's PROTOCOL.u2f lists them.
    data, fields = read("id_sk.att"), []
    while len(fields) < 4:
        size = int.from_bytes(data[:4], "big")
        fields.append(data[4:4 + size])
        data = data[4 + size:]
    leaf = x509.load_der_x509_certificate(fields[1])
    message = cbor.decode(fields[3]) + hashlib.sha256(read("challenge")).digest()
    leaf.public_key().verify(fields[2], message, ec.ECDSA(hashes.SHA256()))
    expect("pyca/cryptography verifies the attestation", fields[0], b"ssh-sk-attest-v01")
    write("fido.pem", leaf.public_bytes(PEM))
    words = ["id_sk.att", "--root", "fido.pem", "--for", "id_sk.pub"]
    expect("with its challenge", verify(*words, "--challenge-file", "challenge"), (0, ["proven"]))
    expect("without it", verify(*words), (8, ["unchecked"]))
    expect("with another", verify(*words, "--challenge", "some bytes"), (8, ["mismatch"]))
    expect("not to Yubico's roots", verify("id_sk.att", "--challenge-file", "challenge"), (8, ["notRooted"]))
    virtual("ssh", "generate", "--output", "id_other", "--algorithm", "ecdsa")
    expect("of another key", verify(*words[:3], "--for", "id_other.pub", "--challenge-file", "challenge"), (8, ["mismatch"]))


def registrations():
    status, made = virtual("fido2", "register", "--rp", "example.com", "--user", "alice", "--origin", "https://example.com")
    write("made.json", json.dumps(made).encode())
    expect("a WebAuthn registration", (status, verify("made.json", "--root", "fido.pem")), (0, (0, ["proven"])))
    status, found = verdict("made.json", "--root", "fido.pem")
    service, aaguid = Service(), found["aaguid"]
    write("list-root.der", der(service.root))
    leaf = [base64.b64encode(der(load("fido.pem"))).decode()]
    for number, (what, reports, wanted) in enumerate((
            ("certified", [{"status": "FIDO_CERTIFIED_L1", "effectiveDate": "2024-01-01"}], (0, ["proven"])),
            ("revoked", [{"status": "REVOKED", "effectiveDate": "2024-01-01"}], (15, ["compromised"])))):
        write("list.jwt", service.sign(payload(aaguid, reports, number=number + 1, roots=leaf)))
        words = ["--metadata", "list.jwt", "--metadata-root", "list-root.der"]
        expect(f"a model that is {what}", verify("made.json", *words), wanted)
    write("list.jwt", service.sign(payload("00" * 15 + "01", [], number=9)))
    expect("a model that is not listed", verify("made.json", *words), (8, ["notRooted"]))
    status, made = virtual("fido2", "register", "--rp", "example.com", "--user", "bob", "--attestation", "none")
    write("none.json", json.dumps(made).encode())
    expect("a registration without attestation", verify("none.json"), (15, ["software"]))
    # The verb for registrations trusts by the same rule.
    for trusted, file, wanted in (("fido.pem", "made.json", 0), ("maker.pem", "made.json", 8), ("fido.pem", "none.json", 8)):
        status, answer = ykit("fido2", "verify", file, "--trust", trusted)
        expect(f"fido2 verify {file} --trust {trusted}", (status, answer["verified"]), (wanted, wanted == 0))
        results = verify(file, "--root", trusted)[1]
        expect("attest verify agrees", results == ["proven"], answer["verified"])


def openpgp():
    virtual("openpgp", "keys", "generate", "sig", "--type", "ecc-p256", "--touch", "on", "--admin-pin-stdin", text="12345678\n")
    status, answer = virtual("openpgp", "attest", "sig", "openpgp.pem", "--pin-stdin", text="123456\n")
    expect("openpgp attest, not to Yubico's roots", (status, answer["result"]), (8, "notRooted"))
    roots()
    virtual("openpgp", "certificates", "export", "att", "att.pem")
    load("openpgp.pem").verify_directly_issued_by(load("att.pem"))
    status, found = verdict("openpgp.pem", "att.pem", "--root", "openpgp-root.pem", "--require", "touch=always,generated")
    expect("it is verified from files", (status, found["form"], found["slot"], found["generated"]), (0, "openpgp", "signature", True))
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "own.key")
    virtual("openpgp", "keys", "import", "dec", "own.key", "--admin-pin-stdin", text="12345678\n")
    status, answer = virtual("openpgp", "attest", "dec", "no.pem", "--pin-stdin", text="123456\n")
    expect("an imported key", (status, answer["error"]["code"]), (15, "not-attestable"))
    key, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    for origin, wanted in ((0, (15, ["imported"])), (1, (0, ["proven"]))):
        device = authority("ATT", key)
        made = signed_by(device, key, "YubiKey OPGP Attestation SIG", other, [(YUBICO + "5.2", bytes([2, 1, origin]))])
        write("pgp.pem", made.public_bytes(PEM) + device.public_bytes(PEM))
        write("att-root.pem", device.public_bytes(PEM))
        expect(f"a statement of pyca/cryptography, source {origin}", verify("pgp.pem", "--root", "att-root.pem"), wanted)


# Over a real pcscd.

def test_yubico_piv_tool():
    with Key("5.4.3"):
        works("yubico-piv-tool: generate", "yubico-piv-tool", "-a", "generate", "-s", "9a", "-A", "ECCP256", "-o", "tool.pem")
        works("yubico-piv-tool: attest", "yubico-piv-tool", "-a", "attest", "-s", "9a", "-o", "tool-att.pem")
        works("yubico-piv-tool: read f9", "yubico-piv-tool", "-a", "read-certificate", "-s", "f9", "-o", "tool-f9.pem")
        ykit("--link", "pcsc", "piv", "keys", "attest", "9a", "ours.pem")
        expect("ykit exports an attestation of the same key", load("ours.pem").public_key(), load("tool-att.pem").public_key())
        expect("ykit verifies what yubico-piv-tool wrote",
               verify("tool-att.pem", "tool-f9.pem", "--root", "tool-f9.pem", "--for", "tool.pem"), (0, ["proven"]))
        status, output = run("yubico-piv-tool", "-v2", "-a", "verify-pin", "-P", "123456", "-a", "request-certificate", "-s", "9a",
                             "-S", "/CN=peer/", "-i", "tool.pem", "-o", "tool.csr", "--attestation")
        if status == 0:
            expect("and its request with the attestation", verify("tool.csr", "--root", "tool-f9.pem"), (0, ["proven"]))
        else:  # Version 2.2 with OpenSSL 3 (its issue 388), as in piv-virtual.py.
            expect("yubico-piv-tool fails to make a request", "attest" in output.lower() or "> 00 87" not in output)


class PublicBytes:
    """A card that answers with a published attestation to whatever slot it is asked for; its serial number is 1234."""

    def __init__(self, name, metadata=b""):
        self.statement, self.device = (der(x509.load_pem_x509_certificate(file.read_bytes())) for file in published(name))
        self.metadata, self.rest = metadata, b""

    def answer(self, command):
        instruction = command[1]
        if instruction == 0xC0:
            return self.part()
        self.rest = {
            0xA4: bytes.fromhex("61114f0600001000010079074f05a000000308"), 0xFD: bytes([5, 7, 4]),
            0xF8: (1234).to_bytes(4, "big"), 0xF9: self.statement, 0xF7: self.metadata,
        }.get(instruction, b"")
        if instruction == 0xA4 and bytes.fromhex("a000000308") not in command:
            return b"\x6a\x82"
        if instruction == 0xCB and bytes.fromhex("5fff01") in command:
            inner = b"\x70\x82" + len(self.device).to_bytes(2, "big") + self.device + bytes.fromhex("710100fe00")
            self.rest = b"\x53\x82" + len(inner).to_bytes(2, "big") + inner
        return self.part() if self.rest else b"\x6a\x82"

    def part(self):
        first, self.rest = self.rest[:256], self.rest[256:]
        return first + (bytes([0x61, min(len(self.rest), 255) if len(self.rest) < 256 else 0]) if self.rest else b"\x90\x00")


def test_public_bytes():
    key = ec.generate_private_key(ec.SECP384R1()).public_key()
    point = key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    other = bytes([1, 1, 0x14, 2, 2, 2, 1, 3, 1, 1, 4, len(point) + 2, 0x86, len(point)]) + point
    for name, metadata, reason in (("yubikey-5c-5-7-4", b"", "slot 82"), ("yubikey-5ci", b"", "slot 93"),
                                   ("yubikey-5c-5-7-4", other, "slot 82")):
        card = FakeCard(reader_port(), PublicBytes(name, metadata).answer)
        try:
            expect("the card is inserted", card.is_inserted(
                lambda: subprocess.run([REAL, "--link", "pcsc", "piv", "info"], capture_output=True).returncode == 0))
            status, answer = ykit("--link", "pcsc", "piv", "attest", "9a", program=REAL)
            expect(f"a card of public bytes ({name})", (status, answer["result"], reason in answer["error"]["message"]),
                   (8, "mismatch", True))
            slot = name == "yubikey-5ci" and "93" or "82"
            status, answer = ykit("--link", "pcsc", "piv", "attest", slot, program=REAL)
            expect("asked for the published slot, it has another serial number",
                   (status, answer["result"], "serial number" in answer["error"]["message"]), (8, "mismatch", True))
            for words in (["piv", "keys", "attest", "9a"], ["attest", "prove", "9a", "--challenge", "c"],
                          ["piv", "certificates", "request", "9a", "--subject", "CN=a", "--attest"]):
                status, answer = ykit("--link", "pcsc", *words, program=REAL)
                expect(f"{' '.join(words[:3])} refuses it", (status, answer["error"]["code"]), (8, "attestation-mismatch"))
        finally:
            card.unplug()
