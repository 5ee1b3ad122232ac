# SPDX-License-Identifier: Apache-2.0
"""Keys that sign files (previewSign, ARKG-P256): python-fido2's device tests, unchanged, and its client pass on the virtual key of
firmware 5.8, in a contactless reader of a real pcscd; what one of ykit and python-fido2 makes, derives or signs, the other and
OpenSSL take.
"""

import base64
import json
import pathlib
import secrets
import subprocess
import sys

from lib.device_suites import Key, controller, run
from lib.fido2_client import client_of
from lib.peer import YKIT, beside_pcscd, expect, own_folder, reader_port, within

beside_pcscd("--name", "Contactless")

sys.dont_write_bytecode = True

READER = f"127.0.0.1:{reader_port()}"
NEWEST = ["--vpcd", READER, "--nfc", "--firmware", "5.8.0"]
SUITES = ["tests/device/test_sign_extension_v4.py", "tests/device/test_preview_sign.py"]
MESSAGE = b"what is signed\n"


def ykit(folder, *arguments, key="key.json"):
    result = subprocess.run([YKIT, "--virtual", key, "--json", "fido2", "sign-key", *arguments], cwd=folder,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    answer = json.loads(result.stdout)
    if not answer["ok"]:
        raise RuntimeError(f"{arguments[0]}: {answer['error']['message']}")
    return answer


def openssl_takes(folder, pem, signature, message=MESSAGE):
    """Whether OpenSSL verifies an ordinary ECDSA signature."""
    for name, content in [("public.pem", pem.encode()), ("openssl.sig", signature), ("openssl.message", message)]:
        pathlib.Path(folder, name).write_bytes(content)
    return subprocess.run(["openssl", "dgst", "-sha256", "-verify", "public.pem", "-signature", "openssl.sig",
                           "openssl.message"], cwd=folder, capture_output=True, check=False).returncode == 0


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def pem(key):
    """A COSE key on P-256, as PEM."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    numbers = ec.EllipticCurvePublicNumbers(int.from_bytes(key[-2], "big"), int.from_bytes(key[-3], "big"),
                                            ec.SECP256R1())
    return numbers.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def test_device_suite():
    with Key(*NEWEST, waits_for="the key is in the reader") as key, controller(key) as address:
        run("python-fido2's tests of previewSign", "fido2", *SUITES, "--reader", "Contactless", "--controller", address)


def attached():
    from fido2.pcsc import CtapPcscDevice

    found = []

    def appears():
        found.extend(CtapPcscDevice.list_devices())
        return bool(found)

    if not within(60, appears, 0.1):
        sys.exit("FAIL no key appeared in the reader")
    return found[0]


def test_client():
    from fido2.cbor import decode, encode
    from fido2.cose import CoseKey
    from fido2.ctap2.extensions import PreviewSignExtension
    from fido2.webauthn import PublicKeyCredentialCreationOptions, PublicKeyCredentialRequestOptions

    folder = own_folder()
    with Key(*NEWEST, waits_for="the key is in the reader"):
        client = client_of(attached(), PreviewSignExtension())
        made = client.make_credential(PublicKeyCredentialCreationOptions.from_dict({
            "rp": {"id": "example.com", "name": "Example"}, "user": {"id": encoded(b"1"), "name": "a", "displayName": "a"},
            "challenge": encoded(secrets.token_bytes(32)), "pubKeyCredParams": [{"type": "public-key", "alg": -7}],
            "attestation": "direct", "authenticatorSelection": {"userVerification": "discouraged"},
            "extensions": {"previewSign": {"generateKey": {"algorithms": [-9, -65539]}}}}))
        answer = json.loads(json.dumps(dict(made)))
        generated = answer["clientExtensionResults"]["previewSign"]["generatedKey"]
        expect("the client gets a seed of ARKG-P256", generated["algorithm"], -65539)
        seed = CoseKey.parse(decode(decoded(generated["publicKey"])))

        def sign(additional):
            options = PublicKeyCredentialRequestOptions.from_dict({
                "rpId": "example.com", "challenge": encoded(secrets.token_bytes(32)), "userVerification": "discouraged",
                "allowCredentials": [{"type": "public-key", "id": answer["id"]}],
                "extensions": {"previewSign": {"signByCredential": {answer["id"]: {
                    "keyHandle": generated["keyHandle"], "tbs": encoded(sha256(MESSAGE)),
                    "additionalArgs": encoded(additional)}}}}})
            signed = client.get_assertion(options).get_response(0)
            return decoded(dict(signed)["clientExtensionResults"]["previewSign"]["signature"])

        public, arguments = seed.derive_public_key(secrets.token_bytes(32), b"peer")
        signature = sign(encode(arguments))
        public.verify(MESSAGE, signature)
        expect("OpenSSL verifies what the key signs", openssl_takes(folder, pem(public), signature))
        pathlib.Path(folder, "theirs.json").write_text(json.dumps({"credential": answer, "rpId": "example.com"}))
        derived = ykit(folder, "derive", "theirs.json", "ours.json", "--context", "peer")
        signature = sign(decoded(derived["additionalArgs"]))
        expect("the key signs for what ykit derives of the client's seed",
               openssl_takes(folder, derived["publicKey"], signature))
        expect("but not another message",
               openssl_takes(folder, derived["publicKey"], signature, MESSAGE + b"!"), False)


def sha256(data):
    import hashlib

    return hashlib.sha256(data).digest()


def test_verbs():
    from fido2.cbor import decode, encode
    from fido2.cose import CoseKey

    folder = own_folder()
    pathlib.Path(folder, "message").write_bytes(MESSAGE)
    subprocess.run([YKIT, "virtual", "new", "key.json", "--firmware", "5.8.0"], cwd=folder, check=True,
                   capture_output=True)
    made = ykit(folder, "create", "signing.json", "--rp", "example.com")
    expect("a signing key is attested", (made["algorithm"], made["policy"], made["trust"]),
           ("ESP256-split-ARKG", "touch", "certificates"))
    check_attestation(folder)
    for name in ["first", "second"]:
        derived = ykit(folder, "derive", "signing.json", f"{name}.json")
        signed = ykit(folder, "sign", "signing.json", f"{name}.json", "message", "--output", f"{name}.sig")
        expect(f"OpenSSL verifies the {name} signature",
               openssl_takes(folder, derived["publicKey"], pathlib.Path(folder, f"{name}.sig").read_bytes()))
        expect("JSON has it too", decoded(signed["signature"]), pathlib.Path(folder, f"{name}.sig").read_bytes())
    public, arguments = CoseKey.parse(decode(decoded(made["seed"]))).derive_public_key(secrets.token_bytes(32), b"")
    pathlib.Path(folder, "theirs.json").write_text(
        json.dumps({"publicKey": pem(public), "additionalArgs": encoded(encode(arguments))}))
    signed = ykit(folder, "sign", "signing.json", "theirs.json", "message", "--output", "theirs.sig")
    public.verify(MESSAGE, decoded(signed["signature"]))
    expect("ykit signs for what python-fido2 derives of its seed", True)


def check_attestation(folder):
    """python-fido2 verifies the attestation of the signing key."""
    from fido2.attestation import Attestation
    from fido2.webauthn import AttestationObject

    record = json.loads(pathlib.Path(folder, "signing.json").read_text())["credential"]
    inner = AttestationObject(decoded(
        record["clientExtensionResults"]["previewSign"]["generatedKey"]["attestationObject"]))
    Attestation.for_type(inner.fmt)().verify(
        inner.att_stmt, inner.auth_data, sha256(decoded(record["response"]["clientDataJSON"])))
    expect("python-fido2 verifies its attestation", inner.fmt, "packed")
    expect("which states the policy", inner.auth_data.extensions, {"previewSign": {4: 1}})
