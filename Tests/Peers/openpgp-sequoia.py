# SPDX-License-Identifier: Apache-2.0
"""Sequoia with Rust's openpgp-card (pysequoia) uses the OpenPGP application of virtual cards through a real pcscd.

gpg generates keys on the card and ykit imports others; Sequoia signs and decrypts with them, and gpg and Sequoia verify.
YKIT is the ykit that serves the virtual key.
"""

import glob
import os
import sys

from lib.peer import again

# The wheel contains a libpcsclite that is older than Debian's pcscd and cannot communicate with it.
LIBRARY = next(iter(glob.glob("/usr/lib/*/libpcsclite.so.1")), None)
if LIBRARY and os.environ.get("LD_PRELOAD") != LIBRARY:
    os.execve(sys.executable, again(), {**os.environ, "LD_PRELOAD": LIBRARY, "RUST_BACKTRACE": "0"})

import pysequoia  # noqa: E402

from lib.openpgp_bench import Card, GnuPG  # noqa: E402
from lib.peer import YKIT, beside_pcscd, expect  # noqa: E402
from lib.piv_bench import read, run, write  # noqa: E402

beside_pcscd()

TEXT = b"a message for Sequoia\n"


def refused(name, action):
    try:
        action()
        expect(name, "it was not refused")
    except BaseException as fault:  # pysequoia panics, which is no Exception
        expect(name, bool(str(fault)))


def generated(gnupg, name):
    """Keys of gpg's on the card, and the certificate that goes with them."""
    who = f"{name}@example.org"
    status, output, _ = gnupg.dialog(["--edit-card"], [
        ("cardedit.prompt", "admin"), ("cardedit.prompt", "key-attr"),
        *(answer for _ in range(3) for answer in (("cardedit.genkeys.algo", "2"), ("keygen.curve", "1"))),
        ("cardedit.prompt", "generate"), ("cardedit.genkeys.backup_enc", "n"), ("keygen.valid", "0"),
        ("keygen.name", "Test User"), ("keygen.email", who), ("keygen.comment", ""), ("cardedit.prompt", "quit")])
    expect(f"gpg: {name}: keys on the card", "KEY_CREATED" in output or output[-900:])
    status, exported = gnupg.run("--armor", "--export", who)
    expect(f"gpg: {name}: its certificate", status == 0 or exported)
    gnupg.close()
    return pysequoia.Cert.from_bytes(exported.encode())


def card(name, *options):
    with Card(*options, name=f"sequoia-{name}"):
        gnupg = GnuPG(f"sequoia-{name}")
        try:
            gnupg.run("--trust-model", "pgp", "--check-trustdb")
            cert = generated(gnupg, name)
            found = pysequoia.Card.all()
            expect(f"sequoia: {name}: finds the card", len(found), 1)
            ident = found[0].ident
            del found
            opened = pysequoia.Card.open(ident)
            prints = {key.fingerprint.lower() for key in opened.keys}
            expect(f"sequoia: {name}: three keys, gpg's fingerprints", len(prints) == 3 and cert.fingerprint.lower() in prints or prints)
            signed = pysequoia.sign(opened.signer("123456"), TEXT)
            write("sequoia.pgp", signed)
            status, output = gnupg.run("--verify", "sequoia.pgp")
            expect(f"gpg: {name}: accepts Sequoia's signature", status == 0 and "Good signature" in output or output)
            verified = pysequoia.verify(signed, store=lambda ids: [cert])
            expect(f"sequoia: {name}: accepts it as well", bytes(verified.bytes), TEXT)
            sealed = pysequoia.encrypt(bytes=TEXT, recipients=[cert])
            plain = pysequoia.decrypt(bytes=sealed, decryptor=opened.decryptor("123456"))
            expect(f"sequoia: {name}: decrypts its own", bytes(plain.bytes), TEXT)
            write("plain", TEXT)
            status, output = gnupg.run("--recipient", f"{name}@example.org", "--output", "gpg.pgp", "--yes", "--encrypt", "plain")
            plain = pysequoia.decrypt(bytes=read("gpg.pgp"), decryptor=opened.decryptor("123456"))
            expect(f"sequoia: {name}: decrypts gpg's", bytes(plain.bytes), TEXT)
            refused(f"sequoia: {name}: a wrong PIN signs nothing", lambda card=opened: pysequoia.sign(card.signer("000000"), TEXT))
            del opened
            status, info = run(YKIT, "--link", "pcsc", "openpgp", "info")
            expect(f"ykit: {name}: the wrong PIN cost a try", status == 0 and "2" in info and prints & set(info.split()) == prints or info)
        finally:
            gnupg.close()


def test_sequoia():
    card("yubikey", "--firmware", "5.7.4")
    card("plain", "--model", "openpgp")
