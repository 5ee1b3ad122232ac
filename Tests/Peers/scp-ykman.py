# SPDX-License-Identifier: Apache-2.0
"""ykman and ykit open secure channels to a virtual key through a real pcscd, SCP03 and SCP11a, b and c, and each uses and
lists the keys that the other stored. Both open SCP11b automatically if a key of the FIPS series requires it.

YKIT is the ykit that serves the virtual key. ykman runs in this process, as in piv-ykman.py.
"""

import subprocess
import time

from lib.peer import YKIT, beside_pcscd, expect, reader_port
from lib.piv_bench import Key, openssl, path, read, run, write, ykit_with
from lib.ykman import Ykman

ykman = Ykman()
it, refuses = ykman.works, ykman.refuses
ykit = ykit_with()

CONTACTLESS = "ACS ACR122U"
beside_pcscd("--readers", "2", "--name", "Yubico YubiKey OTP+FIDO+CCID", "--name", CONTACTLESS)
FACTORY = ":".join(["404142434445464748494a4b4c4d4e4f"] * 3)
OWN = "000102030405060708090a0b0c0d0e0f:101112131415161718191a1b1c1d1e1f:202122232425262728292a2b2c2d2e2f"
CONTEXT = "67fcf1feb5f1d883ed763dbf493090bb"
NEXT = "303132333435363738393a3b3c3d3e3f:404142434445464748494a4b4c4d4e4e:505152535455565758595a5b5c5d5e5f"


def certificates():
    """Two CAs, the card's and the host's, each with an intermediate and a key for key agreement."""
    for who in ("card", "host"):
        write(f"{who}.cnf", b"[ca]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
              b"subjectKeyIdentifier=hash\n[sub]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
              b"subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n[leaf]\nkeyUsage=critical,keyAgreement\n"
              b"subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n[req]\ndistinguished_name=name\n[name]\n")
        for kind in ("ca", "sub", "leaf"):
            openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{who}-{kind}.key")
        openssl("req", "-x509", "-key", f"{who}-ca.key", "-subj", f"/CN={who} CA", "-days", "30", "-out",
                f"{who}-ca.pem", "-config", f"{who}.cnf", "-extensions", "ca")
        for kind, issuer, serial in (("sub", "ca", 0x1002), ("leaf", "sub", 0x1003)):
            openssl("req", "-new", "-key", f"{who}-{kind}.key", "-subj", f"/CN={who} {kind}", "-config", f"{who}.cnf",
                    "-out", "request.pem")
            openssl("x509", "-req", "-in", "request.pem", "-CA", f"{who}-{issuer}.pem", "-CAkey", f"{who}-{issuer}.key",
                    "-set_serial", str(serial), "-days", "30", "-extfile", f"{who}.cnf", "-extensions", kind, "-out",
                    f"{who}-{kind}.pem")
        write(f"{who}-chain.pem", read(f"{who}-sub.pem") + read(f"{who}-leaf.pem"))
        write(f"{who}-all.pem", read(f"{who}-leaf.key") + read(f"{who}-sub.pem") + read(f"{who}-leaf.pem"))
        write(f"{who}-full.pem", read(f"{who}-leaf.key") + read(f"{who}-ca.pem") + read(f"{who}-sub.pem")
              + read(f"{who}-leaf.pem"))


def factory():
    """The channels that a new key accepts."""
    it("SCP03, sd", "--scp", FACTORY, "sd", "info", says="SCP03 (KID=0x01-0x03, KVN=0xFF)")
    it("SCP03, oath add", "--scp", FACTORY, "oath", "accounts", "add", "ykman", "JBSWY3DPEHPK3PXP", "-f")
    it("SCP03, piv", "--scp", FACTORY, "piv", "info", says="PIV version:")
    it("SCP03, piv change the PIN", "--scp", FACTORY, "piv", "access", "change-pin", "-P", "123456", "-n", "654321")
    it("SCP03, hsmauth", "--scp", FACTORY, "hsmauth", "info", says="YubiHSM Auth version")
    ykit("SCP03, read what ykman added", "--link", "pcsc", "--scp", "03", "oath", "list", says="ykman")
    ykit("SCP03, the PIN that ykman set", "--scp", "03", "piv", "access", "change-pin", "--pin-stdin",
         "--new-pin-stdin", text="654321\n123456\n")
    ykit("SCP03, add", "--scp", "03", "oath", "add", "ykit", "--secret-stdin", text="JBSWY3DPEHPK3PXP\n")
    it("SCP03, read what ykit added", "--scp", FACTORY, "oath", "accounts", "list", says="ykit")
    it("SCP11b, oath", "--scp-sd", "SCP11b", "1", "oath", "accounts", "list", says="ykit")
    it("the factory's certificates", "sd", "keys", "export", "SCP11b", "1", "ykman.pem")
    ykit("the factory's certificates", "sd", "keys", "export", "11b,1", "ykit.pem")
    expect("they are the same", read("ykman.pem").split(), read("ykit.pem").split())
    last = read("ykit.pem").decode().rindex("-----BEGIN")
    write("klcc.pem", read("ykit.pem")[last:])
    it("SCP11b with the CA", "--scp-ca", "klcc.pem", "piv", "info", says="PIV version:")
    ykit("SCP11b with the CA", "--scp", "11b", "--scp-ca", "klcc.pem", "piv", "info", says="version")
    ykit("SCP11b with another CA", "--scp", "11b", "--scp-ca", "card-ca.pem", "piv", "info", status=15,
         says="not trusted")
    refuses("SCP11b manages no keys", "--scp-sd", "SCP11b", "1", "sd", "keys", "delete", "-f", "SCP11b", "1")


def written_by_ykman():
    """SCP11a and SCP11c with keys that ykman stores; ykit uses them as well."""
    it("generate", "--scp", FACTORY, "sd", "keys", "generate", "SCP11b", "5", "made.pem")
    it("import SCP11a", "--scp", FACTORY, "sd", "keys", "import", "SCP11a", "3", "card-full.pem",
       says="Certificate bundle stored")
    it("import SCP11c", "--scp", FACTORY, "sd", "keys", "import", "SCP11c", "3", "card-full.pem")
    it("import the host's CA", "--scp", FACTORY, "sd", "keys", "import", "0x10", "3", "host-ca.pem",
       says="CA key identifier stored")
    listed = ykit("list what ykman stored", "sd", "keys", "list")
    for key in ("11b,5", "11a,3", "11c,3", "ca,3"):
        expect(f"ykit: {key} is there", key in listed or listed)
    for name in ("SCP11a", "SCP11c"):
        it(f"{name}", "--scp-sd", name, "3", "--scp-oce", "0x10", "3", "--scp", "host-leaf.key", "--scp",
           "host-chain.pem", "--scp-ca", "card-ca.pem", "oath", "accounts", "list", says="ykit")
    for kind in ("11a", "11c"):
        ykit(f"SCP{kind}", "--scp", f"{kind},3", "--scp-oce", "host-all.pem", "--scp-oce-ca", "ca,3", "--scp-ca",
             "card-ca.pem", "oath", "list", says="ykman")
    ykit("SCP11a finds version and CA", "--scp", "11a", "--scp-oce", "host-full.pem", "--scp-ca", "card-ca.pem", "sd",
         "keys", "generate", "11b,6", "six.pem")
    ykit("SCP11c manages no keys", "--scp", "11c", "--scp-oce", "host-all.pem", "--scp-ca", "card-ca.pem", "sd", "keys",
         "generate", "11b,7", "seven.pem", status=8, says="only through a secure channel")
    ykit("the public key that ykman was given", "--scp", "11b,5", "--scp-card-key", "made.pem", "oath", "list",
         says="ykman")
    ykit("another public key", "--scp", "11b,5", "--scp-card-key", "six.pem", "oath", "list", status=8,
         says="did not prove")
    for kind in ("11a", "11c"):
        applications(
            f"SCP{kind}", ["--scp", f"{kind},3", "--scp-oce", "host-all.pem", "--scp-ca", "card-ca.pem"],
            ["--scp-sd", f"SCP{kind}", "3", "--scp-oce", "0x10", "3", "--scp", "host-leaf.key", "--scp",
             "host-chain.pem", "--scp-ca", "card-ca.pem"])
    it("an allow list without the host", "--scp", FACTORY, "sd", "keys", "set-allowlist", "0x10", "3", "0x1002", "5")
    ykit("the allow list of ykman", "--scp", "11a", "--scp-oce", "host-all.pem", "--scp-ca", "card-ca.pem", "oath",
         "list", status=8, says="certificate 2 of the host's chain")
    ykit("an allow list with the host", "--scp", "03", "sd", "keys", "set-allowlist", "ca,3", "0x1002", "4099")
    it("the allow list of ykit", "--scp-sd", "SCP11a", "3", "--scp-oce", "0x10", "3", "--scp", "host-leaf.key", "--scp",
       "host-chain.pem", "--scp-ca", "card-ca.pem", "sd", "info")


def written_by_ykit():
    """Keys that ykit stores; ykman uses and deletes them."""
    write("own.keys", OWN.encode())
    write("next.keys", NEXT.encode())
    ykit("delete", "--scp", "03", "sd", "keys", "delete", "11a,3", "--force")
    ykit("import SCP11a", "--scp", "03", "sd", "keys", "import", "11a,4", "card-full.pem", "--force",
         says="stored 2 certificates of 11a,4")
    it("SCP11a with what ykit stored", "--scp-sd", "SCP11a", "4", "--scp-oce", "0x10", "3", "--scp", "host-leaf.key",
       "--scp", "host-chain.pem", "--scp-ca", "card-ca.pem", "sd", "keys", "delete", "-f", "SCP11b", "6")
    ykit("a set of one's own", "--scp", "03", "sd", "keys", "import", "03,1", "own.keys", "--force")
    refuses("the factory set is gone", "--scp", FACTORY, "sd", "info", says="Incorrect SCP parameters")
    it("the set that ykit stored", "--scp", OWN, "sd", "info", says="SCP03 (KID=0x01-0x03, KVN=0x01)")
    it("a second set", "--scp", OWN, "sd", "keys", "import", "SCP03", "2", NEXT)
    ykit("the set that ykman stored", "--scp", "03,2", "--scp-keys", "next.keys", "piv", "info", says="version")
    ykit("wrong keys", "--scp", "03,2", "--scp-keys", "own.keys", "piv", "info", status=8, says="SCP03 version 0x02")
    ykit("no keys on the command line", "--scp", "03,2", "--scp-keys", NEXT, "piv", "info", status=2, says="a file is expected here")
    it("reset", "sd", "reset", "-f")
    ykit("all is as new", "sd", "keys", "list", says="03,255")
    ykit("a set again", "--scp", "03", "sd", "keys", "import", "03,9", "own.keys", "--force")
    ykit("reset", "sd", "reset", "--force", says="03,255")
    it("all is as new", "--scp", FACTORY, "sd", "info", says="Default key set")


def applications(name, own, theirs):
    """PIV, OpenPGP and YubiHSM Auth through a channel; each finds what the other wrote."""
    it(f"{name}, piv info", *theirs, "piv", "info", says="PIV version:")
    it(f"{name}, piv change the PIN", *theirs, "piv", "access", "change-pin", "-P", "123456", "-n", "654321")
    ykit(f"{name}, piv with the PIN that ykman set", *own, "piv", "access", "change-pin", "--pin-stdin",
         "--new-pin-stdin", text="654321\n123456\n")
    it(f"{name}, piv with the PIN that ykit set", *theirs, "piv", "access", "change-pin", "-P", "123456", "-n", "123456")
    it(f"{name}, openpgp info", *theirs, "openpgp", "info", says="OpenPGP version:")
    ykit(f"{name}, openpgp info", *own, "openpgp", "info", says="signature key")
    it(f"{name}, openpgp change the PIN", *theirs, "openpgp", "access", "change-pin", "-P", "123456", "-n", "654321")
    ykit(f"{name}, openpgp with the PIN that ykman set", *own, "openpgp", "access", "change-pin", "--pin-stdin",
         "--new-pin-stdin", text="654321\n123456\n")
    ykit(f"{name}, openpgp generate", *own, "openpgp", "keys", "generate", "sig", "--type", "ed25519",
         "--force", "--admin-pin-stdin", text="12345678\n")
    it(f"{name}, openpgp the key that ykit generated", *theirs, "openpgp", "keys", "info", "sig", says="Ed25519")
    it(f"{name}, hsmauth add", *theirs, "hsmauth", "credentials", "derive", "theirs", "-d", "pwd", "-c", "pw", "-m", "")
    ykit(f"{name}, hsmauth the credential that ykman added", *own, "hsmauth", "calculate", "theirs", "--context",
         CONTEXT, "--show-keys", "--password-stdin", text="pw\n", says="b06f1ac987912ebedc1bf0e02a6b5d85")
    ykit(f"{name}, hsmauth add", *own, "hsmauth", "add", "own", "--algorithm", "p256", "--generate",
         "--management-password-stdin", "--password-stdin", text="\npw\n")
    it(f"{name}, hsmauth the credential that ykit added", *theirs, "hsmauth", "credentials", "list", says="own")
    it(f"{name}, hsmauth delete", *theirs, "hsmauth", "credentials", "delete", "own", "-m", "", "-f")
    ykit(f"{name}, hsmauth delete", *own, "hsmauth", "delete", "theirs", "--force", "--management-password-stdin",
         text="\n")
    it(f"{name}, hsmauth nothing is left", *theirs, "hsmauth", "credentials", "list", says="No items found")


class Contactless(Key):
    """A key of the FIPS series on the contactless reader."""

    def start(self):
        command = [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{reader_port(1)}",
                   "--state", path("fips.json"), "--nfc", "--model", "yubikey5-fips"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        self.start()
        for _ in range(200):
            status, output = run(YKIT, "info")
            if status == 0:
                return self
            time.sleep(0.05)
        raise SystemExit(f"FAIL a virtual key on the contactless reader: {output}")


def required():
    """The channel that a key of the FIPS series requires over NFC, without an option for it."""
    reader = ["--reader", CONTACTLESS]
    it("NFC, oath", *reader, "oath", "accounts", "list")
    ykit("NFC, what requires a channel", "info", says="require one: SCP11b")
    ykit("NFC, oath", "oath", "list", says="requires a secure channel over NFC")
    ykit("NFC, piv", "piv", "info", says="version")
    ykit("NFC, a PIN by standard input", "piv", "access", "change-pin", "--pin-stdin", "--new-pin-stdin",
         text="123456\n24681357\n")
    it("NFC, the PIN that ykit set", *reader, "piv", "access", "change-pin", "-P", "24681357", "-n", "13572468")
    ykit("NFC, the key's certificate", "sd", "keys", "export", "11b,1", "nfc.pem")
    last = read("nfc.pem").decode().rindex("-----BEGIN")
    write("nfc-ca.pem", read("nfc.pem")[last:])
    output = ykit("NFC, with the CA", "--scp-ca", "nfc-ca.pem", "oath", "list")
    expect("ykit: NFC, with the CA nothing is to be warned of", output.strip(), "")
    ykit("NFC, with another CA", "--scp-ca", "card-ca.pem", "oath", "list", status=15, says="not trusted")
    ykit("NFC, recorded", "--record", "nfc.jsonl", "oath", "list")
    status, output = run(YKIT, "capture", "show", "nfc.jsonl")
    expect("ykit: NFC, nothing of it is in the clear", "encrypted reply" in output or output)
    ykit("NFC, openpgp", "openpgp", "info", says="signature key")
    ykit("NFC, hsmauth", "hsmauth", "list")


def test_secure_channels():
    certificates()
    with Contactless("fips"):
        required()
    with Key("5.7.4"):
        factory()
        applications("SCP03", ["--scp", "03"], ["--scp", FACTORY])
        applications("SCP11b", ["--scp", "11b", "--scp-ca", "klcc.pem"],
                     ["--scp-sd", "SCP11b", "1", "--scp-ca", "klcc.pem"])
        written_by_ykman()
        written_by_ykit()
    with Key("5.4.3"):
        it("SCP03 before SCP11", "--scp", FACTORY, "piv", "info", says="PIV version:")
        ykit("SCP03 before SCP11", "--scp", "03", "piv", "info", says="version")
        ykit("no SCP11", "--scp", "11b", "piv", "info", status=12, says="no secure channel key SCP11b")
    with Key("5.2.7"):
        ykit("no secure channel", "--scp", "03", "piv", "info", status=11, says="does not support secure channels")
