# SPDX-License-Identifier: Apache-2.0
"""libfido2's fido2-cred and fido2-assert verify what ykit makes: every algorithm, with and without PIN, both PIN protocols,
hmac-secret, U2F, over HID and as a card. They accept it, and refuse it with a bit changed, and so does `ykit fido2 verify`.
ML-DSA, which libfido2 does not know, is signed by cryptography.

YKIT is the ykit to test.
"""

import base64
import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess

from cryptography.hazmat.primitives.asymmetric import mldsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from lib.peer import YKIT, expect, own_folder

PIN = "12345"
ALGORITHMS = {"es256": -7, "eddsa": -8, "rs256": -257}
#: Which line of a file is changed, and where in it; -1 is its last byte. In the authenticator data 34 bytes wrapped in
#: CBOR are the hash and the flags, then comes the counter.
CHANGES = {
    "credential": {"client data": (0, 3), "authenticator data": (3, 37), "signature": (5, -1)},
    "assertion": {"client data": (0, 3), "authenticator data": (2, 37), "signature": (3, -1)},
}


def run(*command, text="", **variables):
    return subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, timeout=60,
                          env={**os.environ, **variables})


def base(data):
    return base64.b64encode(data).decode()


def changed(lines, line, place):
    data = bytearray(base64.b64decode(lines[line]))
    data[place] ^= 1
    return [*lines[:line], base(data), *lines[line + 1:]]


class Judges:
    """ykit and a libfido2 tool, given the same task."""

    def __init__(self, name, ykit, tool):
        self.name, self.ykit, self.tool = name, ykit, tool

    def ask(self, lines):
        text = "".join(f"{line}\n" for line in lines)
        return run(YKIT, *self.ykit, text=text), run(*self.tool, text=text)

    def accept(self, lines):
        ours, theirs = self.ask(lines)
        expect(f"{self.name}: {self.tool[0]} accepts it", (theirs.returncode, theirs.stderr), (0, ""))
        expect(f"{self.name}: ykit fido2 verify agrees, word for word", (ours.returncode, ours.stdout),
               (0, theirs.stdout))
        return theirs.stdout.splitlines()

    def refuse(self, what, lines):
        ours, theirs = self.ask(lines)
        expect(f"{self.name}: with another {what} both refuse it", (ours.returncode != 0, theirs.returncode != 0),
               (True, True))


def ceremony(folder, name, way, algorithm, pin, secret):
    given = ["--uv", "required", "--pin-stdin"] if pin else []
    text = f"{PIN}\n" if pin else ""
    flags = (["-v"] if pin else []) + (["-h"] if secret else [])
    ask = pathlib.Path(folder) / "ask"
    ask.write_text("\n".join([base(os.urandom(32)), "a relying party", "alice", base(os.urandom(16))]) + "\n")
    made = run(YKIT, *way, "fido2", "register", "--format", "libfido2", "--options", ask, "--algorithm", algorithm,
               *given, *(["--hmac-secret"] if secret else []), text=text)
    expect(f"{name}: is made", made.returncode, 0)
    lines = made.stdout.splitlines()
    check = ["fido2", "verify", "--format", "libfido2", *(["--uv"] if pin else [])]
    judges = Judges(f"{name}, credential", [*check, "-"], ["fido2-cred", "-V", *flags, algorithm])
    known = judges.accept(lines)
    for what, place in CHANGES["credential"].items():
        judges.refuse(what, changed(lines, *place))
    judges.refuse("relying party", [lines[0], "another", *lines[2:]])
    ours, _ = judges.ask(changed(lines, 4, 9))
    expect(f"{name}: ykit refuses another identifier, which fido2-cred does not look at", ours.returncode, 13)
    key = pathlib.Path(folder) / "key.pem"
    key.write_text("\n".join(known[1:]) + "\n")

    ask.write_text("\n".join([base(os.urandom(32)), "a relying party", known[0]]
                             + ([base(b"s" * 32)] if secret else [])) + "\n")
    signed = run(YKIT, *way, "fido2", "assert", "--format", "libfido2", "--options", ask, *given, text=text)
    expect(f"{name}: signs", signed.returncode, 0)
    lines = signed.stdout.splitlines()
    judges = Judges(f"{name}, assertion", [*check, "--public-key", key, "-"],
                    ["fido2-assert", "-V", "-p", *flags, key, algorithm])
    judges.accept(lines[:4])
    for what, place in CHANGES["assertion"].items():
        judges.refuse(what, changed(lines[:4], *place))
    judges.refuse("relying party", [lines[0], "another", *lines[2:4]])
    if secret:
        again = run(YKIT, *way, "fido2", "assert", "--format", "libfido2", "--options", ask, *given, text=text)
        both = [lines[-1], again.stdout.splitlines()[-1]]
        expect(f"{name}: one salt makes one secret of 32 bytes",
               (both[0] == both[1], len(base64.b64decode(both[0]))), (True, 32))


def u2f(folder, way):
    ask = pathlib.Path(folder) / "ask"
    ask.write_text("\n".join([base(os.urandom(32)), "example.com", "alice", base(b"1")]) + "\n")
    made = run(YKIT, *way, "fido2", "register", "--format", "libfido2", "--options", ask, "--u2f")
    judges = Judges("U2F, credential", ["fido2", "verify", "--format", "libfido2", "-"], ["fido2-cred", "-V"])
    known = judges.accept(made.stdout.splitlines())
    judges.refuse("signature", changed(made.stdout.splitlines(), 5, -1))
    key = pathlib.Path(folder) / "key.pem"
    key.write_text("\n".join(known[1:]) + "\n")
    ask.write_text("\n".join([base(os.urandom(32)), "example.com", known[0]]) + "\n")
    signed = run(YKIT, *way, "fido2", "assert", "--format", "libfido2", "--options", ask, "--u2f")
    Judges("U2F, assertion", ["fido2", "verify", "--format", "libfido2", "--public-key", key, "-"],
           ["fido2-assert", "-V", "-p", key]).accept(signed.stdout.splitlines()[:4])


def test_libfido2():
    folder = own_folder()
    ways = {"HID": ["--virtual", f"{folder}/key.json"], "card": ["--virtual", f"{folder}/key.json", "--link", "pcsc"]}
    info = json.loads(run(YKIT, *ways["HID"], "--json", "fido2", "info").stdout)
    numbers = {entry["alg"] for entry in info["algorithms"]}
    algorithms = [name for name, number in ALGORITHMS.items() if number in numbers]
    for carrier, way in ways.items():
        for algorithm in algorithms:
            ceremony(folder, f"{algorithm} over {carrier}", way, algorithm, False, False)
    u2f(folder, ways["HID"])
    run(YKIT, *ways["HID"], "fido2", "pin", "set", "--new-pin-stdin", text=f"{PIN}\n")
    for carrier, way in ways.items():
        for algorithm in algorithms:
            ceremony(folder, f"{algorithm} with PIN and hmac-secret over {carrier}", way, algorithm, True, True)


def newer_openssl(folder):
    """A folder with the libcrypto of psycopg's wheel under its usual name."""
    package, = importlib.util.find_spec("psycopg_binary").submodule_search_locations
    library, = pathlib.Path(f"{package}.libs").glob("libcrypto-*.so.3")
    place = pathlib.Path(folder) / "openssl"
    place.mkdir()
    (place / "libcrypto.so.3").symlink_to(library)
    return str(place)


def test_mldsa():
    """Verified by ykit's own code with OpenSSL 3.0, and by OpenSSL 3.5."""
    folder = own_folder()
    newer = newer_openssl(folder)
    for kind in (mldsa.MLDSA44PrivateKey, mldsa.MLDSA65PrivateKey, mldsa.MLDSA87PrivateKey):
        key, (pem, digest) = kind.generate(), (pathlib.Path(folder) / "key.pem", os.urandom(32))
        pem.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        facts = hashlib.sha256(b"example.com").digest() + b"\x01" + bytes(4)
        lines = [base(digest), "example.com", base(b"\x58\x25" + facts), base(key.sign(facts + digest))]
        for by, variables in (("this system", {}), ("OpenSSL 3.5", {"LD_LIBRARY_PATH": newer, "LD_DEBUG": "libs"})):
            def judge(lines):
                return run(YKIT, "fido2", "verify", "--format", "libfido2", "--public-key", pem, "-",
                           text="".join(f"{line}\n" for line in lines), **variables)
            good = judge(lines)
            expect(f"{kind.__name__} by {by} is accepted", good.returncode, 0)
            if variables:
                expect("with that library", f"{newer}/libcrypto.so.3" in good.stderr)
            for what, place in CHANGES["assertion"].items():
                expect(f"and not with another {what}", judge(changed(lines, *place)).returncode, 8)
