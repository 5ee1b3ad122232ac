# SPDX-License-Identifier: Apache-2.0
"""ykman and ykit use the YubiHSM Auth application of virtual keys with two firmware versions through a real pcscd; each
reads what the other wrote.

YKIT is the ykit that serves the virtual key. ykman runs in this process, as in piv-ykman.py.
"""

from lib.peer import beside_pcscd, expect
from lib.piv_bench import Key, openssl, read, ykit_with
from lib.ykman import Ykman

beside_pcscd()

ykman = Ykman("hsmauth")
it, refuses = ykman.works, ykman.refuses
ykit = ykit_with("hsmauth")

DERIVED = "090b47dbed595654901dee1cc655e420592fd483f759e29909a04c4505d2ce0a"
CONTEXT = "67fcf1feb5f1d883ed763dbf493090bb"


def credentials(firmware):
    it("info", "info", says=f"YubiHSM Auth version:             {firmware}")
    it("derive", "credentials", "derive", "derived", "-d", "password", "-c", "pw", "-m", "")
    it("keys of its own", "credentials", "symmetric", "own", "-E", DERIVED[:32], "-M", DERIVED[32:], "-c", "pw", "-m",
       "", "-t")
    it("generate", "credentials", "generate", "made", "-c", "pw", "-m", "")
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem")
    it("import", "credentials", "import", "imported", "key.pem", "-c", "pw", "-m", "")
    refuses("a label that exists", "credentials", "generate", "made", "-c", "pw", "-m", "",
            says="CliFail('A credential with the provided label already exists.')")
    listed = ykit("list what ykman stored", "list")
    for label, kind in (("derived", "aes128"), ("own", "aes128"), ("made", "ecc-p256"), ("imported", "ecc-p256")):
        expect(f"ykit: {label} is {kind}", any(
            line.split()[:2] == [label, kind] for line in listed.splitlines()) or listed)
    expect("ykit: the touch flag", [line.split()[0] for line in listed.splitlines() if "touch" in line], ["own"])
    it("export", "credentials", "export", "made", "made.pem")
    ykit("export the same", "export-public-key", "made", "made2.pem")
    expect("the public keys are the same", read("made.pem").split(), read("made2.pem").split())
    ykit("export the imported one", "export-public-key", "imported", "imported.pem")
    expect("it is that of the file", openssl("pkey", "-in", "key.pem", "-pubout").split(),
           read("imported.pem").decode().split())


def written_by_ykit():
    one = ykit("session keys of ykman's credential", "calculate", "derived", "--context", CONTEXT, "--show-keys",
               "--password-stdin", text="pw\n")
    ykit("derive the same", "add", "mine", "--derive", "--derivation-password-stdin", "--management-password-stdin",
         "--password-stdin", text="password\n\npw\n")
    two = ykit("session keys of its own", "calculate", "mine", "--context", CONTEXT, "--show-keys",
               "--password-stdin", text="pw\n")
    expect("both derive the same keys", one, two)
    it("list what ykit stored", "credentials", "list", says="mine")
    it("delete what ykit stored", "credentials", "delete", "mine", "-m", "", "-f")
    ykit("it is gone", "delete", "mine", "--force", says="no credential 'mine'", status=12)
    ykit("change the management password", "change-management-password", "--management-password-stdin",
         "--new-password-stdin", text="\nadmin\n")
    refuses("the old management password", "credentials", "delete", "made", "-m", "", "-f",
            says="CliFail('Wrong Credential password, 7 attempts remaining.')")  # ykman means the management password
    ykit("a try is lost", "info", says="7 tries left")
    it("the new one", "credentials", "delete", "made", "-m", "admin", "-f")
    ykit("the tries are back", "info", says="8 tries left")
    it("change it back", "access", "change-management-password", "-m", "admin", "-n", "00" * 16)


def test_hsmauth():
    with Key("5.7.4"):
        credentials("5.7.4")
        written_by_ykit()
        refuses("change a password", "credentials", "change-password", "derived", "-c", "pw", "-n", "new",
                says="NotSupportedError('This action requires YubiKey 5.8.0 or later')")
        it("reset", "reset", "-f")
        ykit("nothing is left", "info", says="credentials          0")
    with Key("5.8.0"):
        it("derive", "credentials", "derive", "derived", "-d", "password", "-c", "pw", "-m", "")
        it("change a password", "credentials", "change-password", "derived", "-c", "pw", "-n", "new")
        ykit("the new password", "calculate", "derived", "--context", CONTEXT, "--show-keys", "--password-stdin",
             text="new\n", says="S-RMAC")
        ykit("change it back", "change-password", "derived", "--password-stdin", "--new-password-stdin",
             text="new\npw\n")
        it("change it once more", "credentials", "change-password", "derived", "-c", "pw", "-n", "new")
