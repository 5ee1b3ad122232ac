# SPDX-License-Identifier: Apache-2.0
"""`ykit piv` through a real pcscd on a virtual key: openssl verifies everything that ykit makes; OpenSC, yubico-piv-tool
and ykman read what ykit wrote, and ykit reads what each of them wrote. Another program counts the retries that wrong codes
cost.
"""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import time

from lib.peer import ROOT, YKIT, beside_pcscd, expect, own_folder, reader_port

beside_pcscd()
FOLDER = own_folder()

YKMAN = shutil.which("ykman") or f"{ROOT}/.build-venv/bin/ykman"
OPENSC = "/usr/lib/x86_64-linux-gnu/opensc-pkcs11.so"
DEFAULT_KEY = "0102030405060708" * 3
PIN, PUK = {"YKIT_PIN": "123456"}, {"YKIT_PUK": "12345678"}


def run(*command, settings=None, text=None):
    """The exit status, stdout and stderr of a run without a terminal to ask on."""
    result = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=FOLDER, timeout=120, errors="replace",
        start_new_session=True,
        env=dict(os.environ, HOME=FOLDER, XDG_STATE_HOME=FOLDER, XDG_DATA_HOME=FOLDER, **(settings or {})))
    return result.returncode, result.stdout, result.stderr


def works(name, *command, says=None, **options):
    status, out, err = run(*command, **options)
    fine = status == 0 and (says is None or says in out + err)
    expect(name, True if fine else f"{status}: {(out + err).strip()[-600:]}")
    return out


def ykit(name, *arguments, settings=PIN, **options):
    return works(f"ykit: {name}", YKIT, "piv", *arguments, settings=settings, **options)


def fails(name, status, *arguments, code=None, settings=None):
    """Expects a verb to fail with a status and a code, as text and in JSON."""
    got, out, _ = run(YKIT, "piv", *arguments, "--json", settings=settings)
    error = json.loads(out)["error"] or {}
    expect(f"ykit: {name}", (got, error.get("code"), error.get("exitCode")), (status, code, status))
    return error


def openssl(name, *arguments, says=None):
    return works(f"openssl: {name}", "openssl", *arguments, says=says)


def at_terminal(answers, *arguments):
    """The output for a user who answers the questions in turn, and the exit status."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(FOLDER)
        os.execv(YKIT, [YKIT, "piv", *arguments])
    seen, answers = "", list(answers)
    while True:
        try:
            part = os.read(terminal, 4096).decode()
        except OSError:
            break
        if not part:
            break
        seen += part
        if answers and re.search(answers[0][0], seen):
            os.write(terminal, answers.pop(0)[1].encode() + b"\n")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen


def questions():
    """The prompts: remaining retries first, then the PIN without echo; a word to type before a reset."""
    status, seen = at_terminal([("PIN: ", "123456")], "sign", "--slot", "9a", "message", "-f", "-o", "signature")
    expect("a person is asked for the PIN", (status, "123456" in seen), (0, False))
    expect("and told the tries before", "the key requires its PIN to sign (3 tries left; still the factory default)" in seen)
    openssl("the signature is right", "dgst", "-sha256", "-verify", "rsa2048.pub", "-signature", "signature", "message")
    status, seen = at_terminal([("PIN: ", "000000")], "sign", "--slot", "9a", "message", "-f", "-o", "signature")
    expect("a wrong PIN is not asked for again", (status, seen.count("PIN: ")), (8, 1))
    status, seen = at_terminal([("PIN: ", "123456")], "sign", "--slot", "9a", "message", "-f", "-o", "signature")
    expect("the next time fewer are left", (status, "2 tries left" in seen), (0, True))
    status, _ = at_terminal([(r"\[y/N\]", "n")], "keys", "generate", "9a")
    expect("no is no", status, 17)
    status, seen = at_terminal([("type 'reset'", "yes"), ("that is not", "")], "reset")
    expect("a reset wants the word", status, 17)
    status, seen = at_terminal([], "keys", "generate", "91", "big.pub", "-a", "rsa4096")
    expect("an RSA key shows how long it takes", (status, "generating an rsa4096 key" in seen or "generated" in seen), (0, True))
    status, seen = at_terminal([], "sign", "--slot", "9e", "short")
    expect("no bytes are thrown at a terminal", status, 2)


def write(name, content):
    with open(f"{FOLDER}/{name}", "w") as file:
        file.write(content)


def counted_by_others():
    """The PIN retries according to yubico-piv-tool."""
    return int(re.search(r"PIN tries left:\s*(\d+)", run("yubico-piv-tool", "-a", "status")[1])[1])


class Key:
    """A virtual key in the reader during the block."""

    def __init__(self, firmware, *options):
        self.firmware, self.options = firmware, options

    def __enter__(self):
        state = os.path.join(FOLDER, f"key-{self.firmware}.json")
        port = reader_port()
        command = [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", state, "--firmware",
                   self.firmware, *self.options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            if run("yubico-piv-tool", "-a", "version")[0] == 0:
                return self
            time.sleep(0.1)
        sys.exit("FAIL the virtual key does not appear in its reader")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        time.sleep(0.5)


HASHES = ["sha256", "sha384", "sha512"]
SLOTS = {"rsa1024": "82", "rsa2048": "9a", "rsa3072": "83", "rsa4096": "84", "ecc-p256": "9c", "ecc-p384": "9d",
         "ed25519": "9e"}


def make(kind, slot):
    """A key, a certificate, a request, an attestation."""
    name = f"{kind} in {slot}"
    ykit(f"makes {name}", "keys", "generate", slot, f"{kind}.pub", "-a", kind)
    ykit(f"exports {name}", "keys", "export", slot, "again.pub", "--force")
    expect(f"{name} is exported as it was made", pathlib.Path(f"{FOLDER}/again.pub").read_text(), pathlib.Path(f"{FOLDER}/{kind}.pub").read_text())
    ykit(f"certifies {name}", "certificates", "generate", slot, "--subject", f"CN={kind},O=ykit", "--san",
         "dns:example.com", "--days", "30")
    ykit(f"writes the certificate of {name}", "certificates", "export", slot, f"{kind}.pem", "--force")
    openssl(f"the certificate of {name} is right", "verify", "-auth_level", "0", "-check_ss_sig", "-CAfile",
            f"{kind}.pem", f"{kind}.pem")
    openssl(f"the certificate of {name} has its key", "x509", "-in", f"{kind}.pem", "-noout", "-pubkey",
            says=pathlib.Path(f"{FOLDER}/{kind}.pub").read_text())
    ykit(f"requests a certificate for {name}", "certificates", "request", slot, "request.pem", "--force", "--subject", "CN=req",
         "--hash", "sha384")
    openssl(f"the request for {name} is right", "req", "-verify", "-noout", "-in", "request.pem")
    ykit(f"attests {name}", "keys", "attest", slot, "attestation.pem", "--force", says="attestation")
    ykit("writes the attestation's issuer", "certificates", "export", "f9", "device.pem", "--force")
    openssl(f"the attestation of {name} is right", "verify", "-auth_level", "0", "-partial_chain", "-CAfile",
            "device.pem", "attestation.pem")
    ykit(f"checks the attestation of {name}", "attest", slot, "--root", "device.pem", says=kind)
    fails(f"trusts no attestation of {name} that nobody vouches for", 8, "attest", slot, code="not-vouched")


def sign(kind, slot):
    """Signatures of every hash and padding."""
    if kind == "ed25519":
        ykit("signs with ed25519", "sign", "--slot", slot, "short", "-f", "-o", "signature")
        openssl("a signature of ed25519 is right", "pkeyutl", "-verify", "-rawin", "-in", "short", "-sigfile",
                "signature", "-pubin", "-inkey", "ed25519.pub")
        return
    for name in HASHES:
        ykit(f"signs with {kind} and {name}", "sign", "--slot", slot, "--hash", name, "message", "-f", "-o", "signature")
        openssl(f"a signature of {kind} and {name} is right", "dgst", f"-{name}", "-verify", f"{kind}.pub",
                "-signature", "signature", "message")
        if kind.startswith("rsa") and (kind, name) != ("rsa1024", "sha512"):
            ykit(f"signs with {kind}, PSS and {name}", "sign", "--slot", slot, "--hash", name, "--padding", "pss",
                 "message", "-f", "-o", "signature")
            openssl(f"a signature of {kind}, PSS and {name} is right", "dgst", f"-{name}", "-sigopt",
                    "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest", "-verify", f"{kind}.pub",
                    "-signature", "signature", "message")
    run("openssl", "dgst", "-sha256", "-binary", "-out", "digest", "message")
    ykit(f"signs a digest with {kind}", "sign", "--slot", slot, "--digest", "digest", "-f", "-o", "signature")
    openssl(f"a signature of {kind} over a digest is right", "dgst", "-sha256", "-verify", f"{kind}.pub", "-signature",
            "signature", "message")


def decrypt(kind, slot):
    for words, options, ours in [
        ("PKCS#1", [], []), ("OAEP", ["rsa_padding_mode:oaep", "rsa_oaep_md:sha256"], ["--padding", "oaep"]),
        ("OAEP with SHA-1", ["rsa_padding_mode:oaep"], ["--padding", "oaep", "--hash", "sha1"]),
    ]:
        options = [part for option in options for part in ("-pkeyopt", option)]
        run("openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", f"{kind}.pub", "-in", "short", "-out", "cipher", *options)
        ykit(f"decrypts {words} with {kind}", "decrypt", "--slot", slot, "cipher", *ours, says="hush")


def derive(kind, slot, *options):
    run("openssl", "genpkey", *options, "-out", "peer.key")
    run("openssl", "pkey", "-in", "peer.key", "-pubout", "-out", "peer.pub")
    run("openssl", "pkeyutl", "-derive", "-inkey", "peer.key", "-peerkey", f"{kind}.pub", "-out", "theirs")
    ykit(f"agrees with {kind}", "derive", "--slot", slot, "peer.pub", "-f", "-o", "ours")
    expect(f"openssl has the same secret with {kind}", pathlib.Path(f"{FOLDER}/ours").read_bytes(),
           pathlib.Path(f"{FOLDER}/theirs").read_bytes())


def by_openssl():
    """Everything that ykit makes, verified by openssl."""
    write("message", "to be signed\n" * 1000)
    write("short", "hush")
    for kind, slot in SLOTS.items():
        make(kind, slot)
        sign(kind, slot)
        if kind.startswith("rsa"):
            decrypt(kind, slot)
    derive("ecc-p256", "9c", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    derive("ecc-p384", "9d", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
    ykit("makes x25519 in 85", "keys", "generate", "85", "x25519.pub", "-a", "x25519")
    derive("x25519", "85", "-algorithm", "X25519")
    for kind, slot in SLOTS.items():
        line = ykit(f"exports {kind} for SSH", "keys", "export", slot, "--format", "ssh")
        write("key.pub", line)
        works(f"ssh-keygen reads {kind}", "ssh-keygen", "-lf", "key.pub")
    ykit("finds nothing to mend in its JSON", "info", "--all", "--json", says='"slot":"84"')


def imports():
    """Keys of openssl, encrypted and not, imported to the card; their signatures match their public keys."""
    for kind, options in [("RSA", []), ("EC", ["-pkeyopt", "ec_paramgen_curve:P-256"]),
                          ("EC", ["-pkeyopt", "ec_paramgen_curve:P-384"]), ("ED25519", [])]:
        run("openssl", "genpkey", "-algorithm", kind, *options, "-aes256", "-pass", "pass:secret", "-out", "key.pem")
        run("openssl", "pkey", "-in", "key.pem", "-passin", "pass:secret", "-pubout", "-out", "key.pub")
        ykit(f"imports {kind} {' '.join(options[1:])}", "keys", "import", "86", "key.pem", "--force",
             settings={"YKIT_FILE_PASSWORD": "secret"})
        ykit("signs with it", "sign", "--slot", "86", "short", "-f", "-o", "signature")
        check = ["pkeyutl", "-verify", "-rawin", "-in", "short", "-sigfile", "signature", "-pubin", "-inkey", "key.pub"]
        openssl("the signature is right", *(check + ([] if kind == "ED25519" else ["-digest", "sha256"])))
    fails("an imported key is not attested", 15, "keys", "attest", "86", code="not-attestable")


def others_read():
    """OpenSC, yubico-piv-tool and ykman read what ykit wrote."""
    works("OpenSC: pkcs15-tool -D", "pkcs15-tool", "-D", says="PIV AUTH key")
    works("OpenSC: signs with ykit's key", "pkcs11-tool", "--module", OPENSC, "--login", "--pin", "123456", "--sign",
          "--id", "01", "-m", "SHA256-RSA-PKCS", "-i", "message", "-o", "signature")
    openssl("OpenSC's signature with ykit's key is right", "dgst", "-sha256", "-verify", "rsa2048.pub", "-signature",
            "signature", "message")
    works("yubico-piv-tool: status", "yubico-piv-tool", "-a", "status", says="rsa2048")
    for kind, slot in [("rsa2048", "9a"), ("ecc-p256", "9c"), ("ecc-p384", "9d")]:
        read = works(f"yubico-piv-tool: reads the certificate of {kind}", "yubico-piv-tool", "-a", "read-certificate",
                     "-s", slot, "-o", "-")
        expect("it is ykit's", read.strip(), pathlib.Path(f"{FOLDER}/{kind}.pem").read_text().strip())
        works(f"yubico-piv-tool: signs with {kind}", "yubico-piv-tool", "-a", "verify-pin", "-P", "123456", "-a",
              "test-signature", "-s", slot, "-i", f"{kind}.pem", says="Successful")
        works(f"yubico-piv-tool: decrypts or agrees with {kind}", "yubico-piv-tool", "-a", "verify-pin", "-P", "123456",
              "-a", "test-decipher", "-s", slot, "-i", f"{kind}.pem", says="Successful")
    information = works("ykman: piv info", YKMAN, "piv", "info", says="CN=rsa2048,O=ykit")
    expect("ykman counts what ykit says", re.search(r"PIN tries remaining:\s*(\S+)", information)[1], "3/3")
    for slot, kind in [("9a", "RSA2048"), ("9c", "ECCP256"), ("9e", "ED25519"), ("85", "X25519")]:
        works(f"ykman: knows the key in {slot}", YKMAN, "piv", "keys", "info", slot, says=kind)


def ykit_reads():
    """ykit reads what the others wrote."""
    ykit("sets a management key of the type that yubico-piv-tool 2.2 knows", "access", "change-management-key", "-a",
         "tdes", settings={"YKIT_NEW_MANAGEMENT_KEY": DEFAULT_KEY})
    works("yubico-piv-tool: makes a key", "yubico-piv-tool", "-a", "generate", "-s", "87", "-A", "ECCP256", "-o",
          "theirs.pub", "--key=" + DEFAULT_KEY)
    theirs = pathlib.Path(f"{FOLDER}/theirs.pub").read_text()
    expect("ykit exports the key of yubico-piv-tool", ykit("exports", "keys", "export", "87").strip(), theirs.strip())
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "theirs.key",
        "-subj", "/CN=theirs", "-out", "theirs.pem")
    works("yubico-piv-tool: writes a certificate", "yubico-piv-tool", "-a", "import-certificate", "-s", "95", "-i",
          "theirs.pem", "--key=" + DEFAULT_KEY)
    expect("ykit reads the certificate of yubico-piv-tool", ykit("reads", "certificates", "export", "95").strip(),
           pathlib.Path(f"{FOLDER}/theirs.pem").read_text().strip())
    works("ykman: makes a key", YKMAN, "piv", "keys", "generate", "-m", DEFAULT_KEY, "-P", "123456", "-a", "RSA2048",
          "--pin-policy", "ALWAYS", "88", "theirs.pub")
    ykit("knows ykman's key", "keys", "info", "88", says="always")
    works("ykman: certifies it", YKMAN, "piv", "certificates", "generate", "-m", DEFAULT_KEY, "-P", "123456", "-s",
          "CN=ykman", "88", "theirs.pub")
    ykit("signs with ykman's key", "sign", "--slot", "88", "message", "-f", "-o", "signature")
    openssl("the signature is right", "dgst", "-sha256", "-verify", "theirs.pub", "-signature", "signature", "message")
    ykit("reads ykman's certificate", "info", "--all", says="CN=ykman")
    works("ykman: writes a CHUID", YKMAN, "piv", "objects", "generate", "-m", DEFAULT_KEY, "-P", "123456", "CHUID")
    ykit("reads ykman's CHUID", "info", "--json", says='"chuid":"')
    works("OpenSC: lists what is there", "pkcs11-tool", "--module", OPENSC, "--login", "--pin", "123456",
          "--list-objects", says="Certificate for PIV Authentication")


def protected_key():
    """A management key protected by the PIN, set by ykman for ykit and vice versa."""
    works("ykman: protects the management key", YKMAN, "piv", "access", "change-management-key", "-m", DEFAULT_KEY, "-P",
          "123456", "-g", "-p", "-a", "AES256", "-f")
    ykit("uses the key that ykman protected", "keys", "generate", "89", "new.pub")
    ykit("certifies with it the key that wants the PIN for each use", "certificates", "generate", "9c", "--subject",
         "CN=always", "--force")
    ykit("protects another one", "access", "change-management-key", "--generate", "--protect", "-a", "aes128")
    works("ykman: uses the key that ykit protected", YKMAN, "piv", "keys", "generate", "-P", "123456", "-a", "ECCP256",
          "8a", "new.pub")
    fails("without the PIN it is not used", 17, "keys", "generate", "8b", code="no-terminal")
    ykit("sets the usual one again", "access", "change-management-key", "-a", "aes192",
         settings={**PIN, "YKIT_NEW_MANAGEMENT_KEY": DEFAULT_KEY})
    works("ykman: uses the usual one", YKMAN, "piv", "keys", "generate", "-m", DEFAULT_KEY, "-P", "123456", "-a",
          "ECCP256", "8a", "new.pub")


def refusals():
    """Wrong codes at every prompt, counted by another program before and after."""
    expect("3 tries before", counted_by_others(), 3)
    wrong, sign_it = {"YKIT_PIN": "000000"}, ["sign", "--slot", "9a", "message"]
    error = fails("wrong PIN", 8, *sign_it, code="pin-wrong", settings=wrong)
    expect("it says how many are left", error["retriesLeft"], 2)
    expect("one try was lost, not more", counted_by_others(), 2)
    for name, pin in [("an empty PIN", ""), ("a PIN that is too long", "123456789")]:
        status, _, _ = run(YKIT, "piv", *sign_it, "--pin-stdin", text=pin + "\n")
        expect(f"ykit: {name} is a usage error", status, 2)
    fails("no PIN, and nobody to ask", 17, *sign_it, code="no-terminal")
    fails("no key in the slot", 12, "sign", "--slot", "8f", "message", code="no-key", settings=wrong)
    fails("the wrong kind of key", 2, "derive", "--slot", "9a", "peer.pub", code="unfit-key", settings=wrong)
    expect("none of these cost a try", counted_by_others(), 2)
    ykit("the right PIN", *sign_it, "-f", "-o", "signature")
    expect("the right PIN gives all back", counted_by_others(), 3)
    bad_key = {"YKIT_MANAGEMENT_KEY": "ff" * 24}
    fails("wrong management key", 8, "keys", "generate", "90", code="management-key-wrong", settings=bad_key)
    fails("the usual management key when strict", 15, "keys", "generate", "90", "--strict",
          code="management-key-default")
    fails("a management key of another length", 2, "keys", "generate", "90", code="management-key-length",
          settings={"YKIT_MANAGEMENT_KEY": "ff" * 16})
    fails("a certificate of another key", 15, "certificates", "import", "9a", "ecc-p256.pem", code="mismatch")
    fails("nobody to ask before a key is lost", 17, "keys", "generate", "9a", code="no-terminal")
    for _ in range(2):
        fails("wrong PIN", 8, "certificates", "request", "9a", "--subject", "CN=x", code="pin-wrong", settings=wrong)
    fails("the last PIN", 9, *sign_it, code="pin-blocked", settings=wrong)
    fails("blocked PIN", 9, *sign_it, code="pin-blocked", settings=PIN)
    expect("others see it blocked", counted_by_others(), 0)
    fails("wrong PUK", 8, "access", "unblock-pin", code="puk-wrong",
          settings={"YKIT_PUK": "00000000", "YKIT_NEW_PIN": "123456"})
    ykit("the PUK frees it", "access", "unblock-pin", settings={**PUK, "YKIT_NEW_PIN": "123456"})
    expect("others count 3 again", counted_by_others(), 3)


def block_and_reset():
    wrong = {"YKIT_PUK": "00000000", "YKIT_NEW_PUK": "00000001"}
    codes = [json.loads(run(YKIT, "piv", "access", "change-puk", "--json", settings=wrong)[1])["error"]["code"]
             for _ in range(4)]
    expect("the PUK blocks", codes, ["puk-wrong", "puk-wrong", "puk-blocked", "puk-blocked"])
    works("ykman: sees it", YKMAN, "piv", "info", says="PUK tries remaining:      0/3")
    ykit("resets", "reset", "--force")
    information = works("ykman: sees a new key", YKMAN, "piv", "info", says="WARNING: Using default PIN!")
    expect("no slot is left", "Slot 9A" in information, False)


def removed():
    """The card is removed while ykit waits for a touch."""
    ykit("makes a key that wants a touch", "keys", "generate", "9a", "touch.pub", "--touch-policy", "always")
    waiting = subprocess.Popen(
        [YKIT, "piv", "sign", "--slot", "9a", "message", "--json"], cwd=FOLDER, env=dict(os.environ, **PIN),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    line = waiting.stderr.readline()
    while line and "touch" not in line:
        line = waiting.stderr.readline()
    expect("the person is asked for a touch", line.strip(), "touch the key")
    return waiting


def older():
    """Firmware without metadata, and with the older ciphers."""
    ykit("makes a key on old firmware", "keys", "generate", "9a", "old.pub", "-a", "rsa2048")
    ykit("signs there", "sign", "--slot", "9a", "message", "-f", "-o", "signature")
    openssl("the signature is right", "dgst", "-sha256", "-verify", "old.pub", "-signature", "signature", "message")
    ykit("certifies there", "certificates", "generate", "9a", "--subject", "CN=old")
    ykit("shows it", "info", says="CN=old")
    ykit("makes a key for 9c there", "keys", "generate", "9c", "old9c.pub")
    ykit("certifies it there", "certificates", "generate", "9c", "--subject", "CN=old9c")
    ykit("makes a key there that wants the PIN in 9e", "keys", "generate", "9e", "old9e.pub", "--pin-policy", "once")
    fails("without it there is no signature", 8, "sign", "--slot", "9e", "message", code="pin-needed")
    ykit("signs with it", "sign", "--slot", "9e", "message", "-f", "-o", "signature")
    openssl("the signature is right", "dgst", "-sha256", "-verify", "old9e.pub", "-signature", "signature", "message")
    fails("does not move keys there", 11, "keys", "move", "9a", "82", code="not-supported")
    fails("makes no Ed25519 there", 11, "keys", "generate", "82", "-a", "ed25519", code="not-supported")
    works("yubico-piv-tool: status of it", "yubico-piv-tool", "-a", "status", says="CN=old")


def test_piv():
    with Key("5.7.1"):
        by_openssl()
        imports()
        others_read()
        ykit_reads()
        questions()
        protected_key()
        refusals()
        block_and_reset()
    with Key("4.3.5"):
        older()
    with Key("5.4.3", "--touch", "never"):
        waiting = removed()
    out, _ = waiting.communicate(timeout=60)
    expect("ykit: the key was taken away", (waiting.returncode, json.loads(out)["error"]["code"]), (7, "removed"))
