# SPDX-License-Identifier: Apache-2.0
"""yubico-piv-tool, its PKCS#11 module and OpenSC use the PIV application of a virtual key, each through a real pcscd;
openssl verifies what they made.

YKIT is the ykit that serves the virtual key.
"""

import hashlib
import http.server
import json
import os
import shlex
import ssl
import threading

from lib.peer import YKIT, QuietHandler, beside_pcscd, expect, skip
from lib.piv_bench import DEFAULT_KEY, FOLDER, Key, certify, fails, openssl, path, read, run, works, write

beside_pcscd()

PIN = ["-a", "verify-pin", "-P", "123456"]
OPENSC = "/usr/lib/x86_64-linux-gnu/opensc-pkcs11.so"
YKCS11 = "/usr/lib/x86_64-linux-gnu/libykcs11.so"
MESSAGE = b"to be signed"


def tool(name, *arguments, says=None, text=None):
    return works(f"yubico-piv-tool: {name}", "yubico-piv-tool", *arguments, says=says, text=text)


def refused(name, *arguments, says):
    fails(f"yubico-piv-tool: {name}", "yubico-piv-tool", *arguments, says=says)


def sign_certificate(kind):
    """yubico-piv-tool 2.2 with OpenSSL 3 fails before it accesses the card (its issue 388)."""
    for action, out in [("selfsign-certificate", "cert.pem"), ("request-certificate", "request.pem")]:
        status, output = run("yubico-piv-tool", "-v2", *PIN, "-a", action, "-s", "9a", "-S", "/CN=peer/", "-i",
                             "pub.pem", "-o", out)
        if status != 0 and "> 00 87" not in output:
            skip(f"yubico-piv-tool: {action} {kind}", "fails before it sends a command (issue 388)")
        else:
            expect(f"yubico-piv-tool: {action} {kind}", status, 0)


def key_of_kind(kind, slot="9a"):
    tool(f"generate {kind}", "-a", "generate", "-s", slot, "-A", kind, "-o", "pub.pem")
    sign_certificate(kind)
    certify("pub.pem", f"peer {kind}", "cert.pem")
    tool(f"import the certificate of {kind}", "-a", "import-certificate", "-s", slot, "-i", "cert.pem")
    tool(f"read it of {kind}", "-a", "read-certificate", "-s", slot, "-o", "read.pem")
    expect(f"it is the same of {kind}", read("read.pem"), read("cert.pem"))
    tool(f"sign with {kind}", *PIN, "-a", "test-signature", "-s", slot, "-i", "cert.pem", says="Successful")
    word = "decrypt" if kind.startswith("RSA") else "agree"
    tool(f"{word} with {kind}", *PIN, "-a", "test-decipher", "-s", slot, "-i", "cert.pem", says="Successful")
    signature(kind, slot)


def signature(kind, slot):
    """--sign reads a file and writes a signature that openssl verifies."""
    hashed = "SHA384" if kind == "ECCP384" else "SHA256"
    write("message", MESSAGE)
    tool(f"--sign with {kind}", *PIN, "--sign", "-s", slot, "-A", kind, "-H", hashed, "-i", "message", "-o",
         "signature")
    works(f"openssl verifies the signature of {kind}", "openssl", "dgst", f"-{hashed}", "-verify", "pub.pem",
          "-signature", "signature", "message", says="Verified OK")


def attest(kind):
    tool(f"attest {kind}", "-a", "attest", "-s", "9a", "-o", "attestation.pem")
    tool("the attestation's issuer", "-a", "read-certificate", "-s", "f9", "-o", "device.pem")
    works(f"openssl verifies the attestation of {kind}", "openssl", "verify", "-partial_chain", "-CAfile",
          "device.pem", "attestation.pem")
    attested = openssl("x509", "-in", "attestation.pem", "-noout", "-pubkey")
    expect(f"it is of the key of {kind}", attested.encode(), read("pub.pem"))


def import_keys():
    for kind, options in [("RSA", ["-pkeyopt", "rsa_keygen_bits:2048"]),
                          ("EC", ["-pkeyopt", "ec_paramgen_curve:P-256"])]:
        openssl("genpkey", "-algorithm", kind, *options, "-out", "import.pem")
        openssl("pkey", "-in", "import.pem", "-pubout", "-out", "import-pub.pem")
        certify("import-pub.pem", f"imported {kind}", "import-cert.pem")
        tool(f"import a key {kind}", "-a", "import-key", "-s", "9c", "-i", "import.pem")
        tool(f"sign with it {kind}", *PIN, "-a", "test-signature", "-s", "9c", "-i", "import-cert.pem",
             says="Successful")
        openssl("pkcs12", "-export", "-inkey", "import.pem", "-in", "import-cert.pem", "-out", "both.p12", "-passout",
                "pass:secret")
        tool(f"import key and certificate of PKCS#12 {kind}", "-K", "PKCS12", "-p", "secret", "-s", "82", "-i",
             "both.p12", "-a", "import-key", "-a", "import-certificate")


def objects():
    tool("set CHUID and CCC", "-a", "set-chuid", "-a", "set-ccc")
    write("object.bin", bytes(range(256)) * 4)
    tool("write an object", "-a", "write-object", "--id", str(0x5FC10A + 0x300), "-f", "binary", "-i", "object.bin")
    tool("read an object", "-a", "read-object", "--id", str(0x5FC10A + 0x300), "-f", "binary", "-o", "object.out")
    expect("yubico-piv-tool: it is the same object", read("object.out"), read("object.bin"))
    with open(path("compressed.der.gz"), "wb") as out:
        import gzip
        out.write(gzip.compress(bytes.fromhex(openssl("x509", "-in", "cert.pem", "-outform", "DER", "-out",
                                                      "cert.der") or read("cert.der").hex())))
    tool("import a compressed certificate", "-a", "import-certificate", "-s", "9e", "-K", "GZIP", "-i",
         "compressed.der.gz")
    tool("delete a certificate", "-a", "delete-certificate", "-s", "9e")
    refused("read a certificate that is gone", "-a", "read-certificate", "-s", "9e", says="Failed")


def access():
    refused("a wrong PIN", "-a", "verify-pin", "-P", "000000", says="2 tries left")
    tool("change PIN", "-a", "change-pin", "-P", "123456", "-N", "654321")
    tool("change PUK", "-a", "change-puk", "-P", "12345678", "-N", "87654321")
    for _ in range(3):
        run("yubico-piv-tool", "-a", "verify-pin", "-P", "000000")
    refused("a blocked PIN", "-a", "verify-pin", "-P", "654321", says="locked")
    tool("unblock PIN", "-a", "unblock-pin", "-P", "87654321", "-N", "123456")
    tool("use it", "-a", "verify-pin", "-P", "123456")
    tool("set retries", "-a", "verify-pin", "-P", "123456", "-a", "pin-retries", "--pin-retries", "5", "--puk-retries",
         "7")
    tool("the tries are those", "-a", "status", says="PIN tries left:\t5")
    tool("set management key", "-a", "set-mgm-key", "-n", "a1b2c3d4e5f60718" * 3)
    refused("the old management key", "-a", "set-chuid", says="Failed authentication")
    tool("the new management key", f"--key={'a1b2c3d4e5f60718' * 3}", "-a", "set-chuid")
    tool("set it back", f"--key={'a1b2c3d4e5f60718' * 3}", "-a", "set-mgm-key", "-n", DEFAULT_KEY)


def policies():
    for policy in ["never", "once", "always"]:
        tool(f"generate with PIN policy {policy}", "-a", "generate", "-s", "9d", "-A", "ECCP256", "--pin-policy",
             policy, "--touch-policy", "never", "-o", "pub.pem")
        certify("pub.pem", "policy", "policy.pem")
        arguments = ["-a", "test-signature", "-s", "9d", "-i", "policy.pem"]
        if policy == "never":
            tool("sign without a PIN", *arguments, says="Successful")
        else:
            refused(f"sign without a PIN, {policy}", *arguments, says="Failed signing")
            tool(f"sign with a PIN, {policy}", *PIN, *arguments, says="Successful")


def reset():
    refused("reset while PIN and PUK are not blocked", "-a", "reset", says="Reset failed")
    for _ in range(5):
        run("yubico-piv-tool", "-a", "verify-pin", "-P", "000000")
    for _ in range(7):
        run("yubico-piv-tool", "-a", "change-puk", "-P", "00000000", "-N", "11111111")
    tool("reset", "-a", "reset", says="Successfully reset")
    tool("status after it", "-a", "status", says="PIN tries left:\t3")


def yubico_piv_tool(firmware):
    """yubico-piv-tool 2.2 supports only 3DES management keys, hence firmware before 5.7."""
    tool(f"status of {firmware}", "-a", "status", says="PIN tries left")
    for kind in ["RSA1024", "RSA2048", "ECCP256", "ECCP384"]:
        if firmware == "5.2.4" and kind != "ECCP256":
            continue
        key_of_kind(kind)
        attest(kind)
    import_keys()
    policies()
    objects()
    access()
    tool("status again", "-a", "status", says="peer")
    reset()


def pkcs11(module, name, *arguments, login=True, text=None, says=None):
    label = "ykcs11" if module == YKCS11 else "OpenSC"
    pin = ["--login", "--pin", "123456"] if login else []
    return works(f"{label}: {name}", "pkcs11-tool", "--module", module, *pin, *arguments, text=text, says=says)


def signs(module, name, key, mechanism, dgst, *options):
    write("message", MESSAGE)
    pkcs11(module, f"sign {name}", "--sign", *key, "-m", mechanism, *options, "-i", "message", "-o", "signature")
    works(f"openssl verifies {name}", "openssl", "dgst", *dgst, "-verify", "key.pem", "-signature", "signature",
          "message", says="Verified OK")


def public_key(slot):
    run("yubico-piv-tool", "-a", "read-certificate", "-s", slot, "-o", "cert.pem")
    write("key.pem", openssl("x509", "-in", "cert.pem", "-noout", "-pubkey").encode())


def with_module(module, key):
    """What a PKCS#11 module does with RSA in 9a, P-256 in 9c, RSA in 9d and P-384 in 9e; `key` names them."""
    pkcs11(module, "list of objects", "-O", says="Private Key Object")
    pkcs11(module, "list of mechanisms", "-M", login=False, says="ECDSA")
    public_key("9a")
    signs(module, "RSA-PKCS", key("9a"), "SHA256-RSA-PKCS", ["-sha256"])
    signs(module, "RSA-PSS", key("9a"), "SHA256-RSA-PKCS-PSS", ["-sha256", "-sigopt", "rsa_padding_mode:pss"])
    write("digest", hashlib.sha384(MESSAGE).digest())
    public_key("9e")
    pkcs11(module, "sign ECDSA P-384", "--sign", *key("9e"), "-m", "ECDSA", "--signature-format", "openssl", "-i",
           "digest", "-o", "signature")
    works("openssl verifies ECDSA P-384", "openssl", "dgst", "-sha384", "-verify", "key.pem", "-signature",
          "signature", "message", says="Verified OK")
    public_key("9d")
    write("plain", b"a secret")
    for name, mechanism, options, padding in [
            ("RSA-PKCS", "RSA-PKCS", [], ["-pkeyopt", "rsa_padding_mode:pkcs1"]),
            ("RSA-OAEP", "RSA-PKCS-OAEP", ["--hash-algorithm", "SHA256"],
             ["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:sha256"])]:
        openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", "key.pem", "-in", "plain", "-out", "sealed", *padding)
        pkcs11(module, f"decrypt {name}", "--decrypt", *key("9d"), "-m", mechanism, *options, "-i", "sealed", "-o",
               "opened")
        expect(f"it is what was encrypted, {name}", read("opened"), b"a secret")


def opensc():
    for slot, kind in [("9a", "RSA2048"), ("9c", "ECCP256"), ("9d", "RSA2048"), ("9e", "ECCP384")]:
        slot_key(slot, kind)
    run("yubico-piv-tool", "-a", "set-chuid", "-a", "set-ccc")
    works("OpenSC: opensc-tool -n", "opensc-tool", "-n", says="Personal Identity Verification Card")
    output = works("OpenSC: pkcs15-tool -D", "pkcs15-tool", "-D", says="PIV AUTH key")
    expect("OpenSC: it lists four keys", output.count("Private RSA Key") + output.count("Private EC Key"), 4)
    expect("OpenSC: it lists four certificates", output.count("X.509 Certificate ["), 4)
    works("OpenSC: piv-tool -n", "piv-tool", "-n", says="Personal Identity Verification Card")
    numbers = {"9a": "01", "9c": "02", "9d": "03", "9e": "04"}
    with_module(OPENSC, lambda slot: ["--id", numbers[slot]])
    agree_with_opensc()
    pkcs11(OPENSC, "change the PIN", "--change-pin", "--new-pin", "654321")
    works("OpenSC: change it back", "pkcs11-tool", "--module", OPENSC, "--login", "--pin", "654321", "--change-pin",
          "--new-pin", "123456")
    write_with_opensc()


def slot_key(slot, kind):
    """A key in a slot with a certificate, which both modules require."""
    run("yubico-piv-tool", "-a", "generate", "-s", slot, "-A", kind, "-o", "pub.pem")
    certify("pub.pem", f"peer {slot}", "cert.pem")
    run("yubico-piv-tool", "-a", "import-certificate", "-s", slot, "-i", "cert.pem")


def agree_with_opensc():
    for kind, curve in [("ECCP256", "P-256"), ("ECCP384", "P-384")]:
        slot_key("9d", kind)
        pkcs11(OPENSC, f"ECDH {kind}", "--derive", "--id", "03", "-m", "ECDH1-DERIVE", "-i", peer_point(curve), "-o",
               "derived")
        openssl("pkeyutl", "-derive", "-inkey", "peer.pem", "-peerkey", "pub.pem", "-out", "expected")
        expect(f"OpenSC: openssl derives the same {kind}", read("derived"), read("expected"))


def peer_point(curve):
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{curve}", "-out", "peer.pem")
    openssl("pkey", "-in", "peer.pem", "-pubout", "-outform", "DER", "-out", "peer.der")
    return "peer.der"


def write_with_opensc():
    """piv-tool writes with the management key in a file. Its exit status is meaningless: version 0.23 fails to print the
    new key, and exits with the length of a certificate. So the content of the card is checked."""
    os.environ["PIV_EXT_AUTH_KEY"] = path(write("management.key", ":".join(["01:02:03:04:05:06:07:08"] * 3).encode()))
    before = read("pub.pem")
    run("piv-tool", "-A", "M:9B:03", "-G", "9A:07")
    run("yubico-piv-tool", "-a", "attest", "-s", "9a", "-o", "attestation.pem")
    made = openssl("x509", "-in", "attestation.pem", "-noout", "-pubkey").encode()
    expect("OpenSC: piv-tool makes a key", made != before)
    certify(write("key.pem", made), "made by OpenSC", "made.pem")
    run("piv-tool", "-A", "M:9B:03", "-C", "9A", "-i", "made.pem")
    public_key("9a")
    expect("yubico-piv-tool reads the certificate that piv-tool wrote", read("cert.pem"), read("made.pem"))
    signs(OPENSC, "with the key that piv-tool made", ["--id", "01"], "SHA256-RSA-PKCS", ["-sha256"])


def ykcs11():
    numbers = {"9a": "01", "9c": "02", "9d": "03", "9e": "04"}
    for slot, kind in [("9a", "RSA2048"), ("9d", "RSA2048"), ("9e", "ECCP384")]:
        slot_key(slot, kind)
    with_module(YKCS11, lambda slot: ["--id", numbers[slot]])
    for kind, number in [("EC:prime256v1", "05"), ("EC:secp384r1", "06"), ("rsa:2048", "07")]:
        works(f"ykcs11: generate {kind}", "pkcs11-tool", "--module", YKCS11, "--login", "--login-type", "so",
              "--so-pin", DEFAULT_KEY, "--keypairgen", "--key-type", kind, "--id", number)
    pkcs11(YKCS11, "the certificates are attested", "-O", "--type", "cert", says="Attestation")


def uris():
    """What 'ykit piv info --uris' says: the identifiers that the modules give, the serial number of ykcs11's token, and URIs
    with which openssl signs through either module."""
    status, output = run(YKIT, "piv", "info", "--uris", "--json")
    found = {entry["slot"]: entry for entry in json.loads(output.splitlines()[-1])["uris"]}
    expect("ykit has URIs of the slots", {"9a", "9c", "9d", "9e"} <= set(found))
    serial = found["9a"]["private"].split("serial=")[1].split(";")[0]
    pkcs11(YKCS11, "names the token by the serial number", "-L", login=False, says=f"serial num         : {serial}")
    write("message", MESSAGE)
    public_key("9a")
    for module, label, uri in ((YKCS11, "ykcs11", "private"), (OPENSC, "OpenSC", "openscPrivate")):
        listed = {line.split()[1] for line in pkcs11(module, "lists its objects", "-O", "--type", "cert").splitlines() if line.strip().startswith("ID:")}
        for slot in ("9a", "9c", "9e"):
            number = found[slot][uri].split("id=%")[1].split(";")[0]
            expect(f"{label}: the identifier of {slot}", number in listed)
        os.environ["PKCS11_MODULE_PATH"] = module
        works(f"{label}: openssl signs with the URI", "openssl", "dgst", "-sha256", "-engine", "pkcs11", "-keyform", "engine", "-sign",
              found["9a"][uri] + ";pin-value=123456", "-out", "signature", "message")
        works(f"{label}: and verifies it", "openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "message", says="Verified OK")
    advised()


def advised():
    """The commands that 'ykit piv info --uris' prints, as they are: openssl, curl and NSS with the key in 9a. Only the PIN,
    which they would ask for, and who issued the server's certificate are added."""
    slot_key("9a", "ECCP256")
    lines = [line.strip() for line in run(YKIT, "piv", "info", "--uris")[1].splitlines()]

    def printed(program):
        return shlex.split(next(line for line in lines if line.startswith(program)).replace("$HOME", FOLDER))

    write("FILE", MESSAGE)
    works("the certificate, as printed", YKIT, *printed("ykit")[1:])
    public_key("9a")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
            "-out", "server.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "30")
    for module, label in ((YKCS11, "ykcs11"), (OPENSC, "OpenSC")):
        os.environ["PKCS11_MODULE_PATH"] = module
        *words, file = printed("openssl")
        works(f"{label}: openssl, as printed", *words, "-passin", "pass:123456", file)
        works(f"{label}: and the signature is right", "openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature",
              "FILE.sig", "FILE", says="Verified OK")
        with Server() as server:
            *words, address = printed("curl")
            works(f"{label}: curl logs in with the key, as printed", *words, "-sS", "--cacert", "server.pem", "--pass",
                  "123456", address.replace("HOST", f"localhost:{server.port}"), says="you are peer 9a")
            fails(f"{label}: and not without it", "curl", "-sS", "--cacert", "server.pem",
                  f"https://localhost:{server.port}/", says="curl: (")
    nss(printed)


def nss(printed):
    os.makedirs(path(".pki/nssdb"), exist_ok=True)
    database = f"sql:{path('.pki/nssdb')}"
    works("NSS: a database", "certutil", "-N", "-d", database, "--empty-password")
    works("NSS: modutil, as printed", *printed("modutil"), "-force", says='Module "ykcs11" added')
    write("pin", b"123456\n")
    listed = works("NSS: certutil, as printed", *printed("certutil"), "-f", "pin", says="X.509 Certificate for PIV Authentication")
    name = next(line for line in listed.splitlines() if "PIV Authentication" in line).rsplit(None, 1)[0].strip()
    works("NSS: who issued it is trusted", "certutil", "-A", "-d", database, "-n", "issuer", "-t", "CT,C,C", "-i", "ca.pem")
    works("NSS: cmsutil signs with the key", "cmsutil", "-S", "-d", database, "-N", name, "-f", "pin", "-i", "FILE", "-o",
          "FILE.p7")
    works("NSS: openssl verifies it", "openssl", "cms", "-verify", "-inform", "DER", "-in", "FILE.p7", "-CAfile", "ca.pem",
          "-purpose", "any")


class Server:
    """A server that requests a certificate of 'issuer', and says whose it received."""

    def __enter__(self):
        class Handler(QuietHandler):
            def do_GET(self):
                subject = dict(pair[0] for pair in self.connection.getpeercert()["subject"])
                body = f"you are {subject['commonName']}".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)


        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path("server.pem"), path("server.key"))
        context.load_verify_locations(path("ca.pem"))
        context.verify_mode = ssl.CERT_REQUIRED
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def old_and_new():
    with Key("5.7.1"):
        tool("status of 5.7.1", "-a", "status", says="PIN tries left")
        tool("change PIN on 5.7.1", "-a", "change-pin", "-P", "123456", "-N", "654321")
        tool("unblock PIN on 5.7.1", "-a", "unblock-pin", "-P", "12345678", "-N", "123456")
        refused("3DES where the key is AES-192", "-a", "set-chuid", says="Failed authentication")
        works("OpenSC: pkcs15-tool -D of 5.7.1", "pkcs15-tool", "-D", says="PIV_II")


def test_piv():
    for firmware in ["4.3.5", "5.2.4", "5.4.3"]:
        with Key(firmware):
            yubico_piv_tool(firmware)
            if firmware == "5.4.3":
                opensc()
                ykcs11()
                uris()
    old_and_new()
