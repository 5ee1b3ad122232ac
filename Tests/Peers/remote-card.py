# SPDX-License-Identifier: Apache-2.0
"""GnuPG, ykman and OpenSC use the applications of a key at the other end of `ykit remote --card`: a real pcscd with vpcd is the
far end, a program in place of ssh the connection, and a virtual key that is in none of its readers the near end.

What is typed as a PIN at the far end is never the key's.
"""

import contextlib
import os
import subprocess
import sys

from smartcard import scard

from lib.openpgp_bench import Card, GnuPG
from lib.peer import REAL, ROOT, YKIT, beside_pcscd, expect, holds, reader_port, within
from lib.piv_bench import FOLDER, openssl, path, read, run, script, works, write
from lib.ykman import Ykman

beside_pcscd()

OPENSC = "/usr/lib/x86_64-linux-gnu/opensc-pkcs11.so"
CONFIRM = f"{ROOT}/Tests/Guest/confirm.py"
SAID = path("said")
ykman = Ykman()


def near(*arguments, text=None):
    """ykit at the near end."""
    return run(YKIT, "--virtual", path("card-near.json"), *arguments, text=text)


def prepare(*arguments, text=None):
    status, output = near(*arguments, text=text)
    expect(f"near: {' '.join(arguments[:3])}", status == 0 or output)


def has_card():
    held = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)[1]
    try:
        names = scard.SCardListReaders(held, [])[1]
        states = scard.SCardGetStatusChange(held, 0, [(name, scard.SCARD_STATE_UNAWARE) for name in names])[1]
        return any(state[1] & scard.SCARD_STATE_PRESENT for state in states)
    finally:
        scard.SCardReleaseContext(held)


def said():
    return read(SAID).decode(errors="replace")


@contextlib.contextmanager
def remote(answer, *cards):
    """The connection, with this answer to each question; yields the process of the terminal at the near end."""
    tools = os.path.dirname(script("near-bin/ssh", 'for last; do :; done\nexec sh -c "$last"'))
    pins = {"YKIT_PIV_PIN": "123456", "YKIT_OPENPGP_PIN": "123456"}
    far = f"{REAL} bridge --stdio --vpcd 127.0.0.1:{reader_port()}"
    command = [sys.executable, CONFIRM, answer, YKIT, "--virtual", path("card-near.json"), "remote", "lab",
               "--command", far, *(word for card in cards for word in ("--card", card))]
    with open(SAID, "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=FOLDER,
            env={**os.environ, **pins, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": FOLDER})
    try:
        if not within(60, has_card, 0.05):
            raise SystemExit(f"FAIL no card at the far end: {said()}")
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            expect("the near end ends in order", process.wait(60), 0)
        expect("the card is gone at the far end", within(60, lambda: not has_card()))


def make_keys(gnupg):
    """Keys on the card, made by GnuPG while the card is in a reader of its own."""
    gnupg.run("--trust-model", "pgp", "--check-trustdb")
    with Card(name="near"):
        steps = [("cardedit.prompt", "admin"), ("cardedit.prompt", "generate"), ("cardedit.genkeys.backup_enc", "n"),
                 ("keygen.valid", "0"), ("keygen.name", "Test User"), ("keygen.email", "near@example.org"),
                 ("keygen.comment", ""), ("cardedit.prompt", "quit")]
        status, output, _ = gnupg.dialog(["--card-edit"], steps)
        expect("gpg: keys", status == 0 and "KEY_CREATED" in output or output[-900:])
        gnupg.close()
    prepare("piv", "keys", "generate", "9a", "near.pem", "--algorithm", "rsa2048")
    prepare("piv", "certificates", "generate", "9a", "--subject", "CN=near", "--pin-stdin", text="123456\n")
    prepare("oath", "add", "Acme:alice", "--secret-stdin", text="GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n")


def test_cards():
    gnupg = GnuPG("gpg-remote")
    make_keys(gnupg)
    write("message", b"a message of some length\n")
    gnupg.pins(user="00000000", admin="00000000")
    with remote("y", "openpgp", "piv", "oath"):
        status, output = gnupg.run("--output", "message.sig", "--detach-sign", "message")
        expect("gpg signs", status == 0 or output + said())
        status, output = gnupg.run("--verify", "message.sig", "message")
        expect("gpg: the signature is good", status == 0 and "Good signature" in output or output)
        gnupg.run("--recipient", "near@example.org", "--output", "message.gpg", "--encrypt", "message")
        status, output = gnupg.run("--decrypt", "message.gpg")
        expect("gpg decrypts", status == 0 and "a message of some length" in output or output)
        status, output, _ = gnupg.dialog(["--card-edit"], [
            ("cardedit.prompt", "admin"), ("cardedit.prompt", "name"), ("keygen.smartcard.surname", "Mallory"),
            ("keygen.smartcard.givenname", "M"), ("cardedit.prompt", "quit")])
        expect("gpg changes nothing", "Mallory" not in near("openpgp", "info")[1] or output)
        gnupg.close()
        for words in ("sign with the OpenPGP key", "decrypt with the OpenPGP key", "verify the OpenPGP PIN"):
            holds(f"asked here: {words}", f"lab asks to {words}", said())
        holds("what was refused is said", "refused lab: ", said())

        ykman.works("piv info", "piv", "info", says="CN=near")
        ykman.works("oath accounts code", "oath", "accounts", "code", says="Acme:alice")
        ykman.refuses("deletes no account", "oath", "accounts", "delete", "alice", "-f")
        ykman.refuses("resets nothing", "piv", "reset", "-f")
        ykman.refuses("generates no key", "piv", "keys", "generate", "9c", "-", "-m", "01020304050607080102030405060708"
                      "0102030405060708", "-P", "00000000")
        holds("asked here for codes", "lab asks to calculate the codes of all accounts", said())

        module = ["pkcs11-tool", "--module", OPENSC]
        works("OpenSC lists the certificate", *module, "-O", says="Certificate Object")
        works("OpenSC signs", *module, "--login", "--pin", "00000000", "--sign", "--mechanism", "SHA256-RSA-PKCS", "--id", "01",
              "--input-file", "message", "--output-file", "message.rsa")
        openssl("dgst", "-sha256", "-verify", "near.pem", "-signature", "message.rsa", "message")
        holds("asked here for the PIV key", "lab asks to sign or decrypt with the PIV key in slot 9a", said())
    holds("no try was lost", '"pin":{"retries":3,', near("piv", "info", "--json")[1])

    with remote("n", "openpgp"):
        status, output = gnupg.run("--yes", "--output", "message.no", "--detach-sign", "message")
        expect("with a no, gpg does not sign", status != 0 or output)
        ykman.refuses("PIV is not there", "piv", "info")
        gnupg.close()
    with remote("y", "piv") as process:
        near_end = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()[0]
        subprocess.run(["kill", "-9", near_end], check=True)
        expect("the near end is killed: the card goes", within(60, lambda: not has_card()))
        process.wait(60)
