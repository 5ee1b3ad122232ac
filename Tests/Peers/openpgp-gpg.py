# SPDX-License-Identifier: Apache-2.0
"""GnuPG with scdaemon, and OpenSC, use the OpenPGP application of virtual cards through a real pcscd; ykit uses what GnuPG
made, and vice versa.

YKIT is the ykit that serves the virtual key.
"""

import json
import os
import time

from lib.openpgp_bench import Card, GnuPG
from lib.peer import YKIT, beside_pcscd, expect
from lib.piv_bench import FOLDER, openssl, path, read, run, write, ykit_with

beside_pcscd()

ykit = ykit_with("--link", "pcsc", "openpgp")

PROMPT = "cardedit.prompt"
# What signs OpenPGP documents on each card, and other hashes that it signs.
KINDS = {
    "yubikey": (("rsa2048", ["sha512"]), ("rsa3072", []), ("rsa4096", ["sha384"]), ("nistp256", ["sha384"]),
                ("nistp384", [])),
    "plain": (("rsa2048", []), ("nistp256", []), ("nistp521", [])),
}


def works(gnupg, name, *arguments, says="", **options):
    status, output = gnupg.run(*arguments, **options)
    expect(f"gpg: {name}", status == 0 and says in output or f"{status}: {output.strip()[-900:]}")
    return output


def talks(gnupg, name, arguments, answers, says=""):
    status, output, left = gnupg.dialog(arguments, answers)
    expect(f"gpg: {name}", status == 0 and not left and says in output or f"{status}: {left} {output[-1500:]}")
    return output


def card_edit(gnupg, name, *steps, says=""):
    answers = [(PROMPT, "admin")]
    for step in steps:
        answers.append((PROMPT, step) if isinstance(step, str) else step)
    return talks(gnupg, name, ["--edit-card"], answers + [(PROMPT, "quit")], says)


def generate(gnupg, name):
    """Generates three keys on the card."""
    card_edit(
        gnupg, f"{name}: generate", "generate", ("cardedit.genkeys.backup_enc", "n"), ("keygen.valid", "0"),
        ("keygen.name", "Test User"), ("keygen.email", f"{name}@example.org"), ("keygen.comment", ""),
        says="KEY_CREATED")


def use(gnupg, name):
    """Signs and decrypts with the keys on the card."""
    write("message", b"a message of some length\n")
    who = f"{name}@example.org"
    for file in ("message.sig", "message.gpg", "message.out"):
        if os.path.exists(os.path.join(FOLDER, file)):
            os.remove(os.path.join(FOLDER, file))
    works(gnupg, f"{name}: sign", "--local-user", who, "--output", "message.sig", "--detach-sign", "message")
    works(gnupg, f"{name}: verify", "--verify", "message.sig", "message", says="Good signature")
    works(gnupg, f"{name}: encrypt", "--recipient", who, "--output", "message.gpg", "--encrypt", "message")
    works(gnupg, f"{name}: decrypt", "--output", "message.out", "--decrypt", "message.gpg")
    decrypted = read("message.out") if os.path.exists(os.path.join(FOLDER, "message.out")) else None
    expect(f"gpg: {name}: it is the message", decrypted, read("message"))


def set_attributes(gnupg, name, *choices):
    """Selects the types of the three keys: (1, bits) for RSA, (2, number of the curve) for ECC."""
    answers = []
    for kind, value in choices:
        answers.append(("cardedit.genkeys.algo", str(kind)))
        answers.append(("cardedit.genkeys.size" if kind == 1 else "keygen.curve", str(value)))
    card_edit(gnupg, f"{name}: key-attr", "key-attr", *answers)


def ssh(gnupg, name):
    """The authentication key as gpg-agent shows it to SSH."""
    socket = gnupg.run("--list-dirs", "agent-ssh-socket", program="gpgconf")[1].strip()
    works(gnupg, f"{name}: start the agent", "/bye", program="gpg-connect-agent")
    os.environ["SSH_AUTH_SOCK"] = socket
    status, listed = gnupg.run("-L", program="ssh-add")
    expect(f"gpg: {name}: SSH key of the card", status == 0 and "cardno:" in listed or listed)
    write("ssh.pub", listed.encode())
    write("data", b"signed by SSH\n")
    status, output = gnupg.run("-Y", "sign", "-n", "file", "-f", "ssh.pub", "data", program="ssh-keygen")
    expect(f"gpg: {name}: SSH signature", status == 0 or output)
    write("allowed", b"me " + " ".join(listed.split()[:2]).encode() + b"\n")
    if status == 0:
        status, output = gnupg.run(
            "-Y", "verify", "-n", "file", "-f", "allowed", "-I", "me", "-s", "data.sig", program="ssh-keygen",
            text="signed by SSH\n")
        expect(f"gpg: {name}: SSH accepts it", status == 0 or output)
        os.remove(os.path.join(FOLDER, "data.sig"))
    return listed


def keytocard(gnupg, name):
    """An RSA key and its subkeys, made by gpg on this computer and moved to the card."""
    who = f"moved-{name}@example.org"
    works(gnupg, f"{name}: make an RSA key", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key",
          who, "rsa2048", "sign", "never")
    listed = works(gnupg, f"{name}: list it", "--with-colons", "--list-secret-keys", who)
    print_ = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr"))
    for kind in (("rsa2048", "encr"), ("rsa2048", "auth")):
        works(gnupg, f"{name}: add a subkey", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-add-key",
              print_, *kind, "never")
    prompt = "keyedit.prompt"
    talks(gnupg, f"{name}: keytocard", ["--edit-key", who], [
        (prompt, "keytocard"), ("keyedit.keytocard.use_primary", "y"), ("cardedit.genkeys.storekeytype", "1"),
        ("cardedit.genkeys.replace_key", "y"),
        (prompt, "key 1"), (prompt, "keytocard"), ("cardedit.genkeys.storekeytype", "2"),
        ("cardedit.genkeys.replace_key", "y"), (prompt, "key 1"), (prompt, "key 2"), (prompt, "keytocard"),
        ("cardedit.genkeys.storekeytype", "3"), ("cardedit.genkeys.replace_key", "y"), (prompt, "save")])
    use(gnupg, f"moved-{name}")
    status, info = run(YKIT, "--link", "pcsc", "openpgp", "info")
    expect(f"ykit: {name}: the moved keys", status == 0 and sum("rsa2048" in line and "imported" in line for line in info.splitlines()) == 3
           and print_.lower() in info or info)


def opensc(name):
    """OpenSC's driver for the card, with its RSA keys."""
    os.environ["OPENSC_DRIVER"] = "openpgp"
    for check, command, says in (
            ("openpgp-tool", ["openpgp-tool", "--card-info", "--key-info"], "Sig Algorithm:   RSA2048"),
            ("pkcs15-tool", ["pkcs15-tool", "--dump"], "Private RSA Key [Signature key]"),
            ("pkcs11-tool", ["pkcs11-tool", "-L"], "OpenPGP card")):
        status, output = run(*command)
        expect(f"opensc: {name}: {check}", status == 0 and says in output or f"{status}: {output[-900:]}")
    write("digest", bytes(range(32)))
    status, output = run("pkcs15-crypt", "--sign", "--sha-256", "--pkcs1", "--key", "1", "--pin", "123456", "--raw",
                         "--input", "digest", "--output", "digest.sig")
    expect(f"opensc: {name}: pkcs15-crypt signs", status == 0 or output)
    status, output = run("pkcs15-tool", "--read-public-key", "1", "--output", "sign.pem")
    expect(f"opensc: {name}: reads the public key", status == 0 or output)
    status, output = run("openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "sign.pem", "-in", "digest", "-sigfile",
                         "digest.sig", "-pkeyopt", "digest:sha256")
    expect(f"opensc: {name}: openssl accepts it", status == 0 and "Verified Successfully" in output or output)
    status, output = run("pkcs15-tool", "--read-public-key", "2", "--output", "decrypt.pem")
    expect(f"opensc: {name}: reads the other public key", status == 0 or output)
    openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", "decrypt.pem", "-in", "digest", "-out", "digest.enc")
    status, output = run("pkcs15-crypt", "--decipher", "--pkcs1", "--key", "2", "--pin", "123456", "--raw", "--input",
                         "digest.enc", "--output", "digest.dec")
    expect(f"opensc: {name}: pkcs15-crypt decrypts", status == 0 and read("digest.dec") == bytes(range(32)) or output)
    status, output = run("pkcs11-tool", "--slot-index", "1", "--sign", "--id", "01", "--mechanism", "SHA256-RSA-PKCS",
                         "--login", "--pin", "123456", "--input-file", "digest", "--output-file", "digest.sig11")
    expect(f"opensc: {name}: pkcs11-tool signs", status == 0 or output)
    status, output = run("openssl", "dgst", "-sha256", "-verify", "sign.pem", "-signature", "digest.sig11", "digest")
    expect(f"opensc: {name}: openssl accepts that too", status == 0 or output)
    status, output = run("pkcs11-tool", "--slot-index", "0", "--decrypt", "--id", "02", "--mechanism", "RSA-PKCS",
                         "--login", "--pin", "123456", "--input-file", "digest.enc", "--output-file", "digest.dec11")
    expect(f"opensc: {name}: pkcs11-tool decrypts",
           status == 0 and os.path.exists(path("digest.dec11")) and read("digest.dec11") == bytes(range(32)) or output)


def kdf(gnupg, name):
    """PINs sent as hashes. GnuPG 2.2 sets up a derivation that YubiKeys perform and other cards only store."""
    card_edit(gnupg, f"{name}: kdf-setup", "kdf-setup")
    works(gnupg, f"{name}: KDF is on", "--card-status", says="KDF setting ......: on")
    card_edit(gnupg, f"{name}: a name with the derived PIN", "login", ("cardedit.change_login", "derived"))
    works(gnupg, f"{name}: the name", "--card-status", says="Login data .......: derived")
    status, info = run(YKIT, "--link", "pcsc", "openpgp", "info")
    expect(f"ykit: {name}: sees the derivation", status == 0 and "hashed (KDF)" in info or info)


def made_by_ykit(gnupg, name):
    """gpg finds keys that ykit imports, with fingerprint and time, and both use them."""
    gnupg.close()
    for slot, kind, options in (("sig", "ed25519", ["ed25519"]), ("dec", "x25519", ["x25519"]),
                                ("aut", "ecc-p256", ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"])):
        openssl("genpkey", "-algorithm", *options, "-out", f"{slot}.key")
        ykit(f"{name}: import {slot}", "keys", "import", slot, f"{slot}.key", "--created", "1700000000",
             "--admin-pin-stdin", text="12345678\n", says=kind)
    who = f"ykit-{name}@example.org"
    works(gnupg, f"{name}: ykit's keys", "--card-status", says="ed25519 cv25519 nistp256")
    listed = works(gnupg, f"{name}: their times", "--with-colons", "--card-status", says="fprtime:1700000000:1700000000:")
    made = next(line.lower().split(":")[1:4] for line in listed.splitlines() if line.startswith("fpr:"))
    works(gnupg, f"{name}: a key of the card's", "--quick-generate-key", who, "card")
    info = ykit(f"{name}: info", "info")
    stored = [line.strip() for line in info.splitlines() if len(line.strip()) == 40]
    expect(f"{name}: gpg has the fingerprints that ykit stored", made == stored or (made, stored))
    # Selecting the application ends a verification that scdaemon still considers valid.
    gnupg.close()
    use(gnupg, f"ykit-{name}")
    line = ykit(f"{name}: SSH key", "keys", "export", "aut", "--format", "ssh")
    gnupg.close()
    ssh_line = ssh(gnupg, f"{name}: ykit's key")
    expect(f"{name}: gpg-agent shows the same key to SSH", line.split()[:2] == ssh_line.split()[:2] or (line, ssh_line))
    gnupg.close()
    write("plain", b"signed by ykit")
    ykit(f"{name}: sign", "sign", "plain", "--output", "plain.sig", "--pin-stdin", "--force", text="123456\n")
    ykit(f"{name}: export", "keys", "export", "sig", "sig.pem", "--force")
    status, output = run("openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "sig.pem", "-rawin", "-in", "plain",
                         "-sigfile", "plain.sig")
    expect(f"openssl: {name}: accepts ykit's signature", status == 0 or output)


def detached(gnupg, name, kind):
    """gpg verifies an OpenPGP signature that ykit makes with a key of the card that gpg knows."""
    for form in ("openpgp", "armor"):
        file = f"{kind.split()[-1]}-{form}.sig"
        write("document", f"{form} signed by {kind}\n".encode() * 100)
        gnupg.close()
        ykit(f"{name}: {kind}: sign, {form}", "sign", "document", "--format", form, "--output", file, "--pin-stdin",
             "--force", text="123456\n")
        works(gnupg, f"{name}: {kind}: gpg verifies it, {form}", "--verify", file, "document", says="Good signature")
        write("document", b"something else\n")
        status, output = gnupg.run("--verify", file, "document")
        expect(f"gpg: {name}: {kind}: not of another document, {form}", status == 1 and "BAD signature" in output or output)


def detached_kinds(gnupg, name, kinds):
    """The same with keys that ykit generates on the card. GnuPG 2.2 gives the public key the present as its time."""
    for kind, options in kinds:
        gnupg.close()
        made = ykit(f"{name}: generate {kind}", "keys", "generate", "sig", "--type", kind, "--force", "--json",
                    "--admin-pin-stdin", text="12345678\n")
        made = json.loads(made.splitlines()[0])
        time.sleep(1.1)  # A faked time that is the present is not frozen.
        works(gnupg, f"{name}: gpg reads {kind}", "--card-status", says=kind)
        works(gnupg, f"{name}: gpg takes {kind} from the card", "--faked-system-time", f"{made['created']}!",
              "--quick-generate-key", f"{kind}-{name}@example.org", "card")
        listed = works(gnupg, f"{name}: list {kind}", "--with-colons", "-k", f"{kind}-{name}@example.org")
        known = next(line.split(":")[9].lower() for line in listed.splitlines() if line.startswith("fpr"))
        expect(f"gpg: {name}: {kind} has the fingerprint that ykit stored", known == made["fingerprint"] or (made, listed))
        detached(gnupg, name, kind)
        for more in options:
            write("document", b"with another hash\n")
            ykit(f"{name}: {kind} with {more}", "sign", "document", "--format", "openpgp", "--hash", more, "--output",
                 f"{kind}.sig", "--pin-stdin", "--force", text="123456\n")
            works(gnupg, f"{name}: {kind} with {more}", "--verify", f"{kind}.sig", "document", says="Good signature")


def large_keys(gnupg, name):
    """RSA keys of 3072 and 4096 bits that ykit imports, used by ykit and OpenSC, judged by openssl."""
    gnupg.close()
    write("digest", bytes(range(32)))
    for bits in (3072, 4096):
        for slot in ("sig", "dec"):
            openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}", "-out", f"{slot}.key")
            openssl("pkey", "-in", f"{slot}.key", "-pubout", "-out", f"{slot}.pem")
            ykit(f"{name}: import {slot} of {bits} bits", "keys", "import", slot, f"{slot}.key", "--force",
                 "--admin-pin-stdin", text="12345678\n", says=f"rsa{bits}")
        ykit(f"{name}: sign, {bits} bits", "sign", "digest", "--hash", "sha256", "--output", "digest.sig", "--pin-stdin",
             "--force", text="123456\n")
        status, output = run("openssl", "dgst", "-sha256", "-verify", "sig.pem", "-signature", "digest.sig", "digest")
        expect(f"openssl: {name}: accepts the signature of {bits} bits", status == 0 or output)
        openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", "dec.pem", "-in", "digest", "-out", "digest.enc")
        ykit(f"{name}: decrypt, {bits} bits", "decrypt", "digest.enc", "--output", "digest.dec", "--pin-stdin", "--force",
             text="123456\n")
        expect(f"ykit: {name}: the message, {bits} bits", read("digest.dec") == bytes(range(32)))
        write("digest.dec", b"")
        status, output = run("pkcs15-crypt", "--decipher", "--pkcs1", "--key", "2", "--pin", "123456", "--raw", "--input",
                             "digest.enc", "--output", "digest.dec")
        expect(f"opensc: {name}: decrypts {bits} bits", status == 0 and read("digest.dec") == bytes(range(32)) or output)


def derived_by_ykit(gnupg, name):
    """A derivation that ykit sets up on a card that only stores it: gpg sends correct hashes."""
    gnupg.close()
    ykit(f"{name}: set-kdf on", "access", "set-kdf", "on", "--force", "--same-admin-pin", "--admin-pin-stdin",
         "--new-pin-stdin", text="12345678\n123456\n", says="hashes")
    card_edit(gnupg, f"{name}: the admin PIN is ykit's", "login", ("cardedit.change_login", "hashed"))
    works(gnupg, f"{name}: the login name", "--card-status", says="Login data .......: hashed")
    use(gnupg, f"ykit-{name}")
    gnupg.close()
    ykit(f"{name}: set-kdf off", "access", "set-kdf", "off", "--force", "--same-admin-pin", "--admin-pin-stdin",
         "--new-pin-stdin", text="12345678\n123456\n", says="unhashed")
    use(gnupg, f"ykit-{name}")


def factory_reset(gnupg, name):
    card_edit(gnupg, f"{name}: factory-reset", "factory-reset", ("cardedit.factory-reset.proceed", "y"),
              ("cardedit.factory-reset.really", "yes"))
    works(gnupg, f"{name}: nothing is left", "--card-status", says="PIN retry counter : 3 0 3")
    status, info = run(YKIT, "--link", "pcsc", "openpgp", "info")
    expect(f"ykit: {name}: nothing is left", status == 0 and "signature key       none" in info
           and "login" not in info and "as they are" in info or info)


def held(gnupg, name):
    """If scdaemon holds the card exclusively, ykit names it and the command that ends it."""
    gnupg.close()
    gnupg.write("scdaemon.conf", "disable-ccid\n")
    works(gnupg, f"{name}: scdaemon takes the card", "--card-status")
    output = ykit(f"{name}: who holds the card", "info", says="is in use by scdaemon", status=6)
    expect(f"ykit: {name}: how to free it", "gpgconf --kill all" in output or output)
    gnupg.close()
    ykit(f"{name}: the card is free", "info")


#: Verbs of other applications than OpenPGP's, and of that.
BESIDE = (["list"], ["info"], ["piv", "info"], ["oath", "list"], ["fido2", "info"], ["openpgp", "info"])


def beside(gnupg, name):
    """scdaemon shares the card, as Desktop.md says: after any verb of ours gpg works at once, or when it is repeated."""
    gnupg.close()
    gnupg.write("scdaemon.conf", "disable-ccid\npcsc-shared\ndisable-application piv\n")
    works(gnupg, f"{name}: scdaemon shares the card", "--card-status")
    for verb in BESIDE:
        status, output = run(YKIT, "--link", "pcsc", *verb)
        # One of the keys is a card with OpenPGP alone.
        expect(f"ykit: {name}: {' '.join(verb)} beside gpg", status == 0 or "this key has no" in output or output)
        tries = [gnupg.run("--card-status") for _ in range(2)]
        expect(f"gpg: {name}: works after {' '.join(verb)}", 0 in (status for status, _ in tries) or tries)
        if verb[0] == "openpgp":
            expect(f"gpg: {name}: works at once after a verb of OpenPGP", tries[0][0] == 0 or tries)
    # What the articles and the hints say.
    gnupg.run("--kill", "all", program="gpgconf")
    tries = [gnupg.run("--card-status") for _ in range(2)]
    expect(f"gpg: {name}: works after gpgconf --kill all", 0 in (status for status, _ in tries) or tries)


def card(name, *options):
    with Card(*options, name=name):
        gnupg = GnuPG(f"gnupg-{name}")
        try:
            gnupg.run("--trust-model", "pgp", "--check-trustdb")
            works(gnupg, f"{name}: status", "--card-status", says="Version ..........: 3.4")
            beside(gnupg, name)
            set_attributes(gnupg, name, (2, 1), (2, 1), (2, 1))
            works(gnupg, f"{name}: its kinds", "--card-status", says="ed25519 cv25519 ed25519")
            generate(gnupg, name)
            use(gnupg, name)
            ssh(gnupg, name)
            detached(gnupg, name, "gpg's ed25519")
            works(gnupg, f"{name}: signature counter", "--card-status", says="Signature counter :")
            card_edit(gnupg, f"{name}: cardholder", "name", ("keygen.smartcard.surname", "User"),
                      ("keygen.smartcard.givenname", "Test"), "login", ("cardedit.change_login", "tester"))
            works(gnupg, f"{name}: it is there", "--card-status", says="Login data .......: tester")
            set_attributes(gnupg, name, (1, 2048), (1, 2048), (1, 2048))
            keytocard(gnupg, name)
            detached(gnupg, name, "gpg's rsa2048")
            opensc(name)
            factory_reset(gnupg, name)
            made_by_ykit(gnupg, name)
            derived_by_ykit(gnupg, name)
            detached_kinds(gnupg, name, KINDS[name])
            large_keys(gnupg, name)
            factory_reset(gnupg, name)
            if name == "yubikey":
                kdf(gnupg, name)
                factory_reset(gnupg, name)
            held(gnupg, name)
        finally:
            gnupg.close()


def test_gnupg():
    card("yubikey", "--firmware", "5.7.4")
    card("plain", "--model", "openpgp")
