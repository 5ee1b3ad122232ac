# SPDX-License-Identifier: Apache-2.0
"""ykman and ykit use the OpenPGP application of virtual keys with three firmware versions through a real pcscd; each reads
what the other wrote.

YKIT is the ykit that serves the virtual key. ykman runs in this process, as in piv-ykman.py.
"""

from lib.peer import YKIT, beside_pcscd, expect
from lib.piv_bench import Key, certify, openssl, read, run, write, ykit_with
from lib.ykman import Ykman

beside_pcscd()

ykman = Ykman("openpgp")
it, refuses = ykman.works, ykman.refuses
ykit = ykit_with("openpgp")

USER, ADMIN = "123456", "12345678"


def session():
    """The library below ykman, for what its command line does not offer."""
    from smartcard.System import readers
    from ykman.pcsc import ScardYubiKeyDevice
    from yubikit.core.smartcard import SmartCardConnection
    from yubikit.openpgp import OpenPgpSession

    connection = ScardYubiKeyDevice(readers()[0]).open_connection(SmartCardConnection)
    return connection, OpenPgpSession(connection)


def access(firmware):
    it("info", "info", says="OpenPGP version:            3.4")
    it("the firmware", "info", says=f"Application version:        {firmware}")
    it("touch", "keys", "set-touch", "sig", "on", "-a", ADMIN, "-f")
    ykit("touch", "info", says="touch on")
    it("no touch", "keys", "set-touch", "sig", "off", "-a", ADMIN, "-f")
    it("retries", "access", "set-retries", "5", "4", "6", "-a", ADMIN, "-f")
    ykit("retries", "info", says="5 tries left")
    refuses("a wrong PIN", "access", "change-pin", "-P", "654321", "-n", "1234567", says="4 remaining")
    it("a PIN of its own", "access", "change-pin", "-P", USER, "-n", "7654321")
    it("a reset code", "access", "change-reset-code", "-a", ADMIN, "-r", "resetcode1")
    ykit("it is there", "info", says="reset code          4 tries left")
    it("a PIN by the reset code", "access", "unblock-pin", "-r", "resetcode1", "-n", USER)
    it("an admin PIN of its own", "access", "change-admin-pin", "-a", ADMIN, "-n", "87654321")
    it("and back", "access", "change-admin-pin", "-a", "87654321", "-n", ADMIN)
    it("a PIN for each signature", "access", "set-signature-policy", "ALWAYS", "-a", ADMIN)
    ykit("a PIN for each signature", "info", says="for each")
    it("a PIN once", "access", "set-signature-policy", "ONCE", "-a", ADMIN)


def keys(firmware):
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, x25519
    from yubikit.openpgp import KEY_REF, OID, RSA_SIZE

    connection, card = session()
    with connection:
        card.verify_admin(ADMIN)
        for name, oid in (("secp256r1", OID.SECP256R1), ("secp384r1", OID.SECP384R1), ("secp521r1", OID.SECP521R1),
                          ("secp256k1", OID.SECP256K1), ("brainpoolP256r1", OID.BrainpoolP256R1),
                          ("brainpoolP512r1", OID.BrainpoolP512R1)):
            public = card.generate_ec_key(KEY_REF.SIG, oid)
            card.verify_pin(USER)
            signature = card.sign(b"message", hashes.SHA256())
            public.verify(signature, b"message", ec.ECDSA(hashes.SHA256()))
            expect(f"yubikit: sign with {name}", True)
        public = card.generate_ec_key(KEY_REF.SIG, OID.Ed25519)
        card.verify_pin(USER)
        public.verify(card.sign(b"message", hashes.SHA256()), b"message")
        expect("yubikit: sign with ed25519", True)
        public = card.generate_rsa_key(KEY_REF.AUT, RSA_SIZE.RSA2048)
        card.verify_pin(USER, True)
        signature = card.authenticate(b"message", hashes.SHA256())
        public.verify(signature, b"message", padding.PKCS1v15(), hashes.SHA256())
        expect("yubikit: authenticate with rsa2048", True)
        private = rsa.generate_private_key(65537, 2048)
        card.put_key(KEY_REF.DEC, private)
        secret = private.public_key().encrypt(b"secret", padding.PKCS1v15())
        expect("yubikit: decrypt with an imported rsa2048", card.decrypt(secret), b"secret")
        own = x25519.X25519PrivateKey.generate()
        card.put_key(KEY_REF.DEC, own)
        peer = x25519.X25519PrivateKey.generate()
        expect("yubikit: agree with an imported x25519", card.decrypt(peer.public_key()),
               own.exchange(peer.public_key()))
        own = ec.generate_private_key(ec.SECP384R1())
        card.put_key(KEY_REF.DEC, own)
        peer = ec.generate_private_key(ec.SECP384R1())
        expect("yubikit: agree with an imported P-384", card.decrypt(peer.public_key()),
               own.exchange(ec.ECDH(), peer.public_key()))
        expect("yubikit: random bytes", len(card.get_challenge(32)), 32)
        card.delete_key(KEY_REF.DEC)
        expect("yubikit: the key is gone", int(card.get_key_information()[KEY_REF.DEC]), 0)
        pem = serialization.Encoding.PEM
        write("aut.pem", card.get_public_key(KEY_REF.AUT).public_bytes(
            pem, serialization.PublicFormat.SubjectPublicKeyInfo))


def certificates():
    certify("aut.pem", "authentication", "cert.pem")
    it("import a certificate", "certificates", "import", "aut", "cert.pem", "-a", ADMIN)
    it("export it", "certificates", "export", "aut", "cert2.pem")
    expect("it is the same", read("cert2.pem").split(), read("cert.pem").split())
    it("delete it", "certificates", "delete", "aut", "-a", ADMIN)
    refuses("it is gone", "certificates", "export", "aut", "cert3.pem", says="Failed to read certificate")
    it("attest", "keys", "attest", "sig", "attest.pem", "-P", USER)
    it("the certificate of the attestation key", "certificates", "export", "att", "att.pem")
    it("the statement is there", "certificates", "export", "sig", "attest2.pem")
    openssl("verify", "-partial_chain", "-CAfile", "att.pem", "attest.pem")
    expect("openssl: the attestation key signed the statement", read("attest.pem").split(), read("attest2.pem").split())


def kdf():
    from yubikit.openpgp import HASH_ALGORITHM, KdfIterSaltedS2k

    connection, card = session()
    with connection:
        card.verify_admin(ADMIN)
        card.set_kdf(KdfIterSaltedS2k.create(HASH_ALGORITHM.SHA256, 0x780000))
    ykit("the derivation is on", "info", says="hashed (KDF)")
    it("change a derived PIN", "access", "change-pin", "-P", USER, "-n", "7654321")
    it("and back", "access", "change-pin", "-P", "7654321", "-n", USER)


def written_by_ykit(firmware):
    admin = "12345678\n"
    ykit("generate", "keys", "generate", "sig", "--type", "nistp384", "--admin-pin-stdin", "--force", text=admin)
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "dec.pem")
    ykit("import", "keys", "import", "dec", "dec.pem", "--admin-pin-stdin", "--force", text=admin)
    ykit("export", "keys", "export", "sig", "sig-pub.pem", "--force")
    ykit("touch", "keys", "set-touch", "aut", "fixed", "--force", "--admin-pin-stdin", text=admin)
    certify("sig-pub.pem", "signature", "sig-cert.pem")
    ykit("certificate", "certificates", "import", "sig", "sig-cert.pem", "--force", "--admin-pin-stdin", text=admin)
    it("export it", "certificates", "export", "sig", "sig-cert2.pem")
    expect("ykman: it is the certificate", read("sig-cert2.pem").split(), read("sig-cert.pem").split())
    refuses("the touch policy is fixed", "keys", "set-touch", "aut", "off", "-a", ADMIN, "-f", says="FIXED")
    ykit("change the PIN", "access", "change-pin", "--pin-stdin", "--new-pin-stdin", text="123456\n7654321\n")
    ykit("the reset code", "access", "set-reset-code", "--admin-pin-stdin", "--reset-code-stdin",
         text="12345678\nresetcode2\n")
    it("the PIN by ykit's reset code", "access", "unblock-pin", "-r", "resetcode2", "-n", USER)
    ykit("attest", "attest", "sig", "statement.pem", "--force", "--root", "att.pem", "--pin-stdin", text="123456\n")
    openssl("verify", "-partial_chain", "-CAfile", "att.pem", "statement.pem")
    it("import an attestation key", "keys", "import", "att", write("att-key.pem", openssl(
        "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").encode()), "-a", ADMIN)
    got, output = run(YKIT, "openpgp", "attest", "sig", "--force", "--pin-stdin", text="123456\n")
    expect("ykit: a statement that the certificate's key did not sign", got == 8 and "another key signed" in output or output)
    from cryptography.hazmat.primitives import serialization
    from yubikit.openpgp import KEY_REF
    connection, card = session()
    with connection:
        public = card.get_public_key(KEY_REF.SIG).public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        expect("yubikit: the public key", public.split(), read("sig-pub.pem").split())
        expect("yubikit: origins", [int(card.get_key_information()[ref]) for ref in (KEY_REF.SIG, KEY_REF.DEC)], [1, 2])
        card.verify_pin(USER, True)
        openssl("pkey", "-in", "dec.pem", "-pubout", "-out", "dec-pub.pem")
        write("secret", b"to be decrypted")
        openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", "dec-pub.pem", "-in", "secret", "-out", "secret.enc")
        expect("yubikit: decrypts with ykit's key", card.decrypt(read("secret.enc")), b"to be decrypted")
    ykit("set-kdf", "access", "set-kdf", "on", "--force", "--same-admin-pin", "--admin-pin-stdin", "--new-pin-stdin",
         text="12345678\n123456\n")
    it("a PIN under ykit's derivation", "access", "change-pin", "-P", USER, "-n", "7654321")
    ykit("and back", "access", "change-pin", "--pin-stdin", "--new-pin-stdin", text="7654321\n123456\n")
    it("reset", "reset", "-f", says="Reset complete")


def test_openpgp():
    for firmware in ("5.2.7", "5.4.3", "5.7.4"):
        with Key(firmware):
            access(firmware)
            keys(firmware)
            certificates()
            written_by_ykit(firmware)
            kdf()
            it("reset", "reset", "-f", says="Reset complete")
            ykit("nothing is left", "info", says="signature key       none")
            ykit("no derivation", "info", says="as they are")
