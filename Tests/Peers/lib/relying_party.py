# SPDX-License-Identifier: Apache-2.0
"""A relying party with two independent judges: python-fido2's Fido2Server and PyPI's webauthn.

Its options are the JSON of one of them. An answer is accepted if both judges accept it; `tampered` makes variants of it
that neither may accept.
"""

import copy
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

from fido2 import cbor
from fido2.attestation import Attestation
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestationConveyancePreference,
    PublicKeyCredentialParameters,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialType,
    PublicKeyCredentialUserEntity,
)
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import structs
from webauthn.helpers.cose import COSEAlgorithmIdentifier

RP, ORIGIN = "example.com", "https://login.example.com"


def decode(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def check_statement(attestation, client_data_hash):
    Attestation.for_type(attestation.fmt)().verify(
        attestation.att_stmt, attestation.auth_data, client_data_hash)


class RelyingParty:
    """One account's credentials, each accepted by both judges; `author` writes the options."""

    def __init__(self, attestation="direct", author="Fido2Server", rp=RP, origin=ORIGIN):
        self.attestation, self.author, self.rp, self.origin = attestation, author, rp, origin
        self.server = Fido2Server(
            PublicKeyCredentialRpEntity(id=rp, name="Example"), verify_origin=lambda said: said == origin,
            attestation=AttestationConveyancePreference(attestation),
            verify_attestation=check_statement)
        self.known = []

    def creation(self, algorithm=-7, resident="discouraged", uv="discouraged", extensions=None, user=None):
        """Options for `register --options`, and the state to keep until the answer."""
        self.server.allowed_algorithms = [
            PublicKeyCredentialParameters(type=PublicKeyCredentialType.PUBLIC_KEY, alg=algorithm)]
        name = user or f"user{secrets.token_hex(4)}"
        options, state = self.server.register_begin(
            PublicKeyCredentialUserEntity(id=name.encode(), name=name, display_name=name.title()), self.known,
            resident_key_requirement=resident, user_verification=uv)
        if self.author == "webauthn":
            selection = structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement(resident),
                user_verification=structs.UserVerificationRequirement(uv))
            options = generate_registration_options(
                rp_id=self.rp, rp_name="Example", user_name=name, user_id=name.encode(),
                challenge=decode(state["challenge"]), authenticator_selection=selection,
                attestation=structs.AttestationConveyancePreference(self.attestation),
                supported_pub_key_algs=[COSEAlgorithmIdentifier(algorithm)])
            return with_extensions({"publicKey": json.loads(options_to_json(options))}, extensions), state
        return with_extensions(options, extensions), state

    def registered(self, state, answer):
        """Accepts a registration, or raises a judge's objection."""
        data = self.server.register_complete(state, answer)
        verified = verify_registration_response(
            credential=answer, expected_challenge=decode(state["challenge"]), expected_rp_id=self.rp,
            expected_origin=self.origin,
            require_user_verification=state["user_verification"] == "required",
            supported_pub_key_algs=[COSEAlgorithmIdentifier(a) for a in (-7, -8, -257)])
        credential = data.credential_data
        assert verified.credential_id == credential.credential_id == decode(answer["id"])
        assert verified.credential_public_key == cbor.encode(credential.public_key)
        self.known.append(credential)
        return credential

    def request(self, credentials=None, uv="discouraged", extensions=None):
        """Options for `assert --options`, and the state to keep until the answer."""
        options, state = self.server.authenticate_begin(credentials, user_verification=uv)
        if self.author == "webauthn":
            options = generate_authentication_options(
                rp_id=self.rp, challenge=decode(state["challenge"]),
                user_verification=structs.UserVerificationRequirement(uv),
                allow_credentials=[structs.PublicKeyCredentialDescriptor(id=known.credential_id)
                                   for known in credentials or []])
            return with_extensions({"publicKey": json.loads(options_to_json(options))}, extensions), state
        return with_extensions(options, extensions), state

    def authenticated(self, state, answer):
        """Accepts an assertion, or raises a judge's objection."""
        credential = self.server.authenticate_complete(state, self.known, answer)
        verify_authentication_response(
            credential=answer, expected_challenge=decode(state["challenge"]), expected_rp_id=self.rp,
            expected_origin=self.origin,
            credential_public_key=cbor.encode(credential.public_key), credential_current_sign_count=0,
            require_user_verification=state["user_verification"] == "required")
        return credential

    def judges(self, state, answer):
        """The verdict of each judge: whether it accepts the answer."""
        def accepts(judge):
            try:
                judge()
                return True
            except Exception:  # Whatever a judge raises is a refusal.
                return False
        challenge = decode(state["challenge"])
        expected = {"credential": answer, "expected_challenge": challenge, "expected_rp_id": self.rp,
                    "expected_origin": self.origin}
        if "attestationObject" in answer["response"]:
            return [accepts(lambda: self.server.register_complete(state, answer)),
                    accepts(lambda: verify_registration_response(**expected))]
        key = next(c.public_key for c in self.known if c.credential_id == decode(answer["id"]))
        return [accepts(lambda: self.server.authenticate_complete(state, self.known, answer)),
                accepts(lambda: verify_authentication_response(
                    **expected, credential_public_key=cbor.encode(key), credential_current_sign_count=0))]


def with_extensions(options, extensions):
    """The options as JSON with inputs of extensions as they stand in JSON."""
    whole = json.loads(json.dumps(dict(options), default=dict))
    if extensions:
        whole["publicKey"]["extensions"] = extensions
    return whole


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1:]


def tampered(answer):
    """Variants of the answer, each with one change, by name."""
    def changed(member, data):
        other = copy.deepcopy(answer)
        other["response"][member] = encode(data)
        return other
    response = answer["response"]
    client_data = decode(response["clientDataJSON"])
    parsed = json.loads(client_data)
    yield "another origin", changed("clientDataJSON", client_data.replace(b"//login.", b"//l0gin."))
    yield "another challenge", changed(
        "clientDataJSON", client_data.replace(parsed["challenge"].encode(), encode(b"x" * 32).encode()))
    yield "another ceremony", changed("clientDataJSON", client_data.replace(b'"webauthn.', b'"webautnn.'))
    if "attestationObject" not in response:
        data, signature = decode(response["authenticatorData"]), decode(response["signature"])
        yield "another site", changed("authenticatorData", flipped(data, 0))
        yield "another counter", changed("authenticatorData", flipped(data, 36))
        yield "other flags", changed("authenticatorData", flipped(data, 32))
        yield "another signature", changed("signature", flipped(signature, len(signature) - 1))
        return
    whole = cbor.decode(decode(response["attestationObject"]))
    yield "another site", changed("attestationObject", cbor.encode({**whole, "authData": flipped(whole["authData"], 0)}))
    yield "nobody there", changed("attestationObject", cbor.encode({**whole, "authData": flipped(whole["authData"], 32)}))
    if whole["fmt"] == "none":
        return
    statement = whole["attStmt"]
    signature = flipped(statement["sig"], len(statement["sig"]) - 1)
    yield "another signature", changed(
        "attestationObject", cbor.encode({**whole, "attStmt": {**statement, "sig": signature}}))
    # The last byte of the authenticator data belongs to the public key or to an extension; both are signed.
    data = whole["authData"]
    yield "other data", changed("attestationObject", cbor.encode({**whole, "authData": flipped(data, len(data) - 1)}))
