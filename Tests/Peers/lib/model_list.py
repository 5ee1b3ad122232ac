# SPDX-License-Identifier: Apache-2.0
"""A service that signs lists of authenticator models as the FIDO Alliance does, with pyca/cryptography."""

import base64
import datetime
import json

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.x509.oid import NameOID

SIGNER = "mds.fidoalliance.org"
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject, key, issuer, issuer_key, is_authority, until=NOW + 30 * DAY):
    builder = (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer)).public_key(key.public_key())
               .serial_number(x509.random_serial_number()).not_valid_before(NOW - 60 * DAY).not_valid_after(until)
               .add_extension(x509.BasicConstraints(is_authority, None), critical=True))
    if not is_authority:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(subject)]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def der(cert):
    return cert.public_bytes(serialization.Encoding.DER)


def ec_key():
    return ec.generate_private_key(ec.SECP256R1())


class Service:
    """A root, an intermediate authority, and who signs."""

    def __init__(self, signer=SIGNER, until=NOW + 30 * DAY, kind="ES256"):
        self.kind, self.root_key, middle_key = kind, ec_key(), ec_key()
        self.key = ec_key() if kind == "ES256" else rsa.generate_private_key(65537, 2048)
        self.root = certificate("root", self.root_key, "root", self.root_key, True)
        middle = certificate("middle", middle_key, "root", self.root_key, True)
        leaf = certificate(signer, self.key, "middle", middle_key, False, until)
        self.chain = [leaf, middle]

    def sign(self, payload, **header):
        header = {"typ": "JWT", "alg": self.kind, "x5c": [base64.b64encode(der(cert)).decode() for cert in self.chain], **header}
        message = ".".join(url64(json.dumps(part).encode()) for part in (header, payload)).encode()
        if self.kind == "ES256":
            pair = utils.decode_dss_signature(self.key.sign(message, ec.ECDSA(hashes.SHA256())))
            signature = b"".join(number.to_bytes(32, "big") for number in pair)
        else:
            signature = self.key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return message + b"." + url64(signature).encode()


def statement(description, roots):
    return {
        "legalHeader": "x", "description": description, "authenticatorVersion": 5, "protocolFamily": "fido2", "schema": 3,
        "upv": [{"major": 1, "minor": 0}], "authenticationAlgorithms": ["secp256r1_ecdsa_sha256_raw"],
        "publicKeyAlgAndEncodings": ["cose"], "attestationTypes": ["basic_full"],
        "userVerificationDetails": [[{"userVerificationMethod": "presence_internal"}]],
        "keyProtection": ["hardware"], "matcherProtection": ["on_chip"], "cryptoStrength": 128,
        "attachmentHint": ["external"], "tcDisplay": [], "attestationRootCertificates": roots,
        "authenticatorGetInfo": {"versions": ["FIDO_2_0"], "aaguid": "00" * 16},
    }


def payload(aaguid, reports, number=10, due=NOW + 20 * DAY, roots=(), description="Virtual key"):
    identifier = "-".join([aaguid[:8], aaguid[8:12], aaguid[12:16], aaguid[16:20], aaguid[20:]])
    entry = {"aaguid": identifier, "metadataStatement": statement(description, list(roots)), "statusReports": reports,
             "timeOfLastStatusChange": "2025-01-01"}
    return {"legalHeader": "x", "no": number, "nextUpdate": due.date().isoformat(), "entries": [entry]}
