# SPDX-License-Identifier: Apache-2.0
"""ykman uses the PIV application of virtual keys with four firmware versions through a real pcscd; openssl verifies what it
made.

YKIT is the ykit that serves the virtual key. ykman runs in this process, since starting it for each command would take most
of the time.
"""

from lib.peer import beside_pcscd, expect
from lib.piv_bench import DEFAULT_KEY, Key, certify, openssl, read, works, write
from lib.ykman import Ykman

beside_pcscd()

ykman = Ykman("piv")
it, refuses = ykman.works, ykman.refuses

MANAGED = ["-m", DEFAULT_KEY]
BOTH = [*MANAGED, "-P", "123456"]


def key_of_kind(kind, slot, has_metadata):
    it(f"generate {kind}", "keys", "generate", *BOTH, "-a", kind, slot, "pub.pem")
    if kind != "X25519":
        it(f"self-signed certificate of {kind}", "certificates", "generate", *BOTH, "-s", "CN=ykman,O=Example", slot,
           "pub.pem")
        it(f"export the certificate of {kind}", "certificates", "export", slot, "cert.pem")
        works(f"openssl verifies the certificate of {kind}", "openssl", "verify", "-auth_level", "0", "-check_ss_sig",
              "-CAfile", "cert.pem", "cert.pem")
        it(f"request for {kind}", "certificates", "request", "-P", "123456", "-s", "CN=ykman", slot, "pub.pem",
           "request.pem")
        works(f"openssl verifies the request for {kind}", "openssl", "req", "-verify", "-noout", "-in", "request.pem")
    it(f"attest {kind}", "keys", "attest", slot, "attestation.pem")
    it("export the attestation's issuer", "certificates", "export", "f9", "device.pem")
    works(f"openssl verifies the attestation of {kind}", "openssl", "verify", "-auth_level", "0", "-partial_chain",
          "-CAfile", "device.pem", "attestation.pem")
    expect(f"it is of the key of {kind}", openssl("x509", "-in", "attestation.pem", "-noout", "-pubkey").encode(),
           read("pub.pem"))
    if has_metadata:
        it(f"key info of {kind}", "keys", "info", slot, says="GENERATED")
    it(f"export the public key of {kind}", "keys", "export", slot, "exported.pem")
    expect(f"it is the public key of {kind}", read("exported.pem"), read("pub.pem"))


def certificates(firmware):
    it("generate for certificates", "keys", "generate", *BOTH, "-a", "ECCP256", "9a", "pub.pem")
    certify("pub.pem", "from an issuer", "cert.pem")
    it("import a certificate", "certificates", "import", *BOTH, "--verify", "9a", "cert.pem")
    it("import it compressed", "certificates", "import", *BOTH, "--compress", "9a", "cert.pem")
    it("export it", "certificates", "export", "9a", "out.pem")
    expect("ykman: it is the same", read("out.pem"), read("cert.pem"))
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "other.pem")
    openssl("pkey", "-in", "other.pem", "-pubout", "-out", "other-pub.pem")
    certify("other-pub.pem", "of another key", "other-cert.pem")
    refuses("a certificate of another key", "certificates", "import", *BOTH, "--verify", "9a", "other-cert.pem",
            says="not")
    it("delete it", "certificates", "delete", *BOTH, "9a")
    status, _ = ykman("certificates", "export", "9a", "gone.pem")
    expect("ykman: no certificate is left", status != 0)
    openssl("pkcs12", "-export", "-inkey", "other.pem", "-in", "other-cert.pem", "-out", "both.p12", "-passout",
            "pass:secret")
    it("import a key of PKCS#12", "keys", "import", *BOTH, "-p", "secret", "9e", "both.p12")
    it("import its certificate", "certificates", "import", *BOTH, "-p", "secret", "--verify", "9e", "both.p12")
    it("policies", "keys", "generate", *BOTH, "-a", "ECCP256", "--pin-policy", "ALWAYS", "--touch-policy", "CACHED",
       "9c", "pub.pem")
    if firmware >= "5.3":
        it("the policies are those", "keys", "info", "9c", says="ALWAYS")


def imports(kinds):
    for options in kinds:
        openssl("genpkey", "-algorithm", *options, "-out", "import.pem")
        it(f"import {options[0]}", "keys", "import", *BOTH, "9e", "import.pem")


def objects():
    it("CHUID", "objects", "generate", *BOTH, "CHUID")
    it("CCC", "objects", "generate", *BOTH, "CCC")
    write("object.bin", bytes(range(256)) * 8)
    it("import an object", "objects", "import", *BOTH, "5f0001", "object.bin")
    it("export an object", "objects", "export", "5f0001", "object.out")
    expect("ykman: it is the same object", read("object.out"), read("object.bin"))
    it("the CHUID is there", "objects", "export", "CHUID", "chuid.out")
    expect("ykman: the CHUID has a number of 25 bytes", read("chuid.out")[:2], b"\x30\x19")


def access(algorithms):
    refuses("a wrong PIN", "access", "change-pin", "-P", "000000", "-n", "654321", says="2 tries left")
    it("change PIN", "access", "change-pin", "-P", "123456", "-n", "654321")
    it("change PUK", "access", "change-puk", "-p", "12345678", "-n", "87654321")
    for _ in range(3):
        ykman("access", "change-pin", "-P", "000000", "-n", "654321")
    refuses("a blocked PIN", "access", "change-pin", "-P", "654321", "-n", "111111", says="blocked")
    it("unblock", "access", "unblock-pin", "-p", "87654321", "-n", "123456")
    for name, size in algorithms:
        key = ["-m", "c3" * size]
        it(f"management key {name}", "access", "change-management-key", *BOTH, "-n", "c3" * size, "-a", name, "-f")
        it(f"use it {name}", "objects", "generate", *key, "-P", "123456", "CHUID")
        it(f"set it back {name}", "access", "change-management-key", *key, "-P", "123456", "-n", DEFAULT_KEY, "-a",
           algorithms[0][0] if algorithms[0][1] == 24 else "TDES", "-f")
    it("protected management key", "access", "change-management-key", *BOTH, "-g", "-p", "-f")
    it("generate with it", "keys", "generate", "-P", "123456", "-a", "ECCP256", "9a", "pub.pem")
    it("info tells of it", "info", says="Management key is stored on the YubiKey, protected by PIN")
    it("set retries", "access", "set-retries", "-P", "123456", "-f", "5", "7")
    it("the tries are those", "info", says="5/5" if len(algorithms) > 1 else "5")


def firmware_rules(firmware):
    if firmware == "4.3.5":
        refuses("AES on firmware 4", "access", "change-management-key", *BOTH, "-g", "-a", "AES256", "-f",
                says="5.4.0")
    if firmware < "5.7":
        refuses(f"Ed25519 on {firmware}", "keys", "generate", *BOTH, "-a", "ED25519", "9d", "pub.pem", says="5.7")


def newest():
    it("generate for the move", "keys", "generate", *BOTH, "-a", "X25519", "82", "pub.pem")
    it("move", "keys", "move", *BOTH, "82", "83")
    it("the key is there", "keys", "info", "83", says="X25519")
    it("delete", "keys", "delete", *BOTH, "83")
    for bits in ["3072", "4096"]:
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}", "-out", "import.pem")
        it(f"import RSA{bits}", "keys", "import", *BOTH, "9e", "import.pem")
        openssl("pkey", "-in", "import.pem", "-pubout", "-out", "pub.pem")
        it(f"certificate of RSA{bits}", "certificates", "generate", *BOTH, "-s", "CN=large", "9e", "pub.pem")
        it(f"export the certificate of RSA{bits}", "certificates", "export", "9e", "cert.pem")
        works(f"openssl verifies the certificate of RSA{bits}", "openssl", "verify", "-check_ss_sig", "-CAfile",
              "cert.pem", "cert.pem")


def on(firmware, kinds, algorithms, imported):
    with Key(firmware):
        it(f"info of {firmware}", "info", says=f"PIV version:              {firmware}")
        for kind in kinds:
            key_of_kind(kind, "9d", firmware >= "5.3")
        certificates(firmware)
        imports(imported)
        objects()
        firmware_rules(firmware)
        if firmware == "5.7.1":
            newest()
        access(algorithms)
        it("reset", "reset", "-f")
        it("info after the reset", "info",
           says="WARNING: Using default PIN!" if firmware >= "5.3" else "PIN tries remaining:      3")


def test_piv():
    rsa, curve = ["RSA"], ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"]
    aes = [("AES128", 16), ("AES192", 24), ("AES256", 32)]
    on("4.3.5", ["RSA2048", "ECCP384"], [("TDES", 24)], [rsa, curve])
    on("5.2.4", ["ECCP256"], [("TDES", 24)], [curve])
    on("5.4.3", ["RSA1024", "ECCP384"], [("TDES", 24), *aes], [rsa])
    on("5.7.1", ["RSA2048", "RSA3072", "ECCP256", "ED25519", "X25519"], [("AES192", 24), ("TDES", 24), *aes],
       [rsa, curve, ["ED25519"], ["X25519"]])
