# SPDX-License-Identifier: Apache-2.0
"""What python-fido2 does with a key, as client and as relying party; `device` is its CtapDevice."""

import hashlib
import os

from lib.peer import expect

PIN = "12345"


def user():
    """Whoever knows the PIN."""
    from fido2.client import UserInteraction

    class User(UserInteraction):
        def prompt_up(self):
            pass

        def request_pin(self, permissions, rp_id):
            return PIN

    return User()


def client_of(device, *others):
    from fido2.client import DefaultClientDataCollector, Fido2Client
    from fido2.ctap2.extensions import CredBlobExtension, CredProtectExtension, HmacSecretExtension, LargeBlobExtension

    extensions = [HmacSecretExtension(allow_hmac_secret=True), CredProtectExtension(), LargeBlobExtension(),
                  CredBlobExtension(), *others]
    collector = DefaultClientDataCollector("https://example.com")
    return Fido2Client(device, collector, user_interaction=user(), extensions=extensions)


def pins(ctap):
    from fido2.ctap import CtapError
    from fido2.ctap2 import ClientPin
    from fido2.ctap2.pin import PinProtocolV1, PinProtocolV2

    ClientPin(ctap, PinProtocolV1()).set_pin("54321")
    ClientPin(ctap, PinProtocolV2()).change_pin("54321", PIN)
    expect("PIN set with protocol 1, changed with protocol 2", ctap.get_info().options["clientPin"])
    for version in (PinProtocolV1, PinProtocolV2):
        try:
            ClientPin(ctap, version()).get_pin_token("wrong", ClientPin.PERMISSION.CREDENTIAL_MGMT)
        except CtapError as error:
            expect(f"a wrong PIN is told, protocol {version.VERSION}", error.code, CtapError.ERR.PIN_INVALID)
        retries, _ = ClientPin(ctap).get_pin_retries()
        expect("and costs a try", retries, 7)
        ClientPin(ctap, version()).get_pin_token(PIN, ClientPin.PERMISSION.CREDENTIAL_MGMT)
        expect("the right one gives them back", ClientPin(ctap).get_pin_retries()[0], 8)


def ceremony(device, algorithm):
    from fido2.attestation import Attestation
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialParameters, PublicKeyCredentialRpEntity, PublicKeyCredentialType, PublicKeyCredentialUserEntity

    client = client_of(device)
    server = Fido2Server(PublicKeyCredentialRpEntity(id="example.com", name="Example"), attestation="direct")
    server.allowed_algorithms = [
        PublicKeyCredentialParameters(type=PublicKeyCredentialType.PUBLIC_KEY, alg=algorithm)]
    user = PublicKeyCredentialUserEntity(id=b"user%d" % -algorithm, name="alice", display_name="Alice")
    extensions = {"hmacCreateSecret": True, "credentialProtectionPolicy": "userVerificationRequired",
                  "largeBlob": {"support": "required"}}
    options, state = server.register_begin(
        user, resident_key_requirement="required", user_verification="required", extensions=extensions)
    made = client.make_credential(options.public_key)
    known = server.register_complete(state, made).credential_data
    expect(f"{algorithm}: the server accepts the registration", known.public_key[3], algorithm)
    attestation = made.response.attestation_object
    Attestation.for_type(attestation.fmt)().verify(
        attestation.att_stmt, attestation.auth_data, hashlib.sha256(made.response.client_data).digest())
    expect(f"{algorithm}: the attestation holds", attestation.fmt, "packed")

    def ask(extensions, credentials=None):
        options, state = server.authenticate_begin(
            credentials, user_verification="required", extensions=extensions)
        answer = client.get_assertion(options.public_key).get_response(0)
        server.authenticate_complete(state, [known], answer)
        return answer.client_extension_results

    salts = {"salt1": b"a" * 32, "salt2": b"b" * 32}
    first = ask({"hmacGetSecret": salts, "largeBlob": {"write": b"blob" * 100}}, [known])
    again = ask({"hmacGetSecret": {"salt1": b"b" * 32}, "largeBlob": {"read": True}})
    expect(f"{algorithm}: secrets from salts", first["hmacGetSecret"]["output2"], again["hmacGetSecret"]["output1"])
    expect(f"{algorithm}: the large blob was written", first["largeBlob"]["written"])
    expect(f"{algorithm}: and comes back", len(again.large_blob.blob), 400)


def management(ctap, made):
    from fido2.ctap2 import ClientPin, Config, CredentialManagement
    from fido2.ctap2.pin import PinProtocolV2

    protocol = PinProtocolV2()
    pin = ClientPin(ctap, protocol)
    manager = CredentialManagement(ctap, protocol, pin.get_pin_token(PIN, ClientPin.PERMISSION.CREDENTIAL_MGMT))
    party = manager.enumerate_rps()[0]
    credentials = manager.enumerate_creds(party[CredentialManagement.RESULT.RP_ID_HASH])
    expect("the credentials of one site are listed", len(credentials), made)
    manager.delete_cred(credentials[0][CredentialManagement.RESULT.CREDENTIAL_ID])
    expect("one of them is deleted", manager.get_metadata()[CredentialManagement.RESULT.EXISTING_CRED_COUNT],
           made - 1)
    config = Config(ctap, protocol, pin.get_pin_token(PIN, ClientPin.PERMISSION.AUTHENTICATOR_CFG))
    config.toggle_always_uv()
    expect("alwaysUv is switched on", ctap.get_info().options["alwaysUv"])
    config.toggle_always_uv()


def u2f(device):
    from fido2.ctap1 import Ctap1

    key, challenge, application = Ctap1(device), os.urandom(32), os.urandom(32)
    expect("U2F VERSION", key.get_version(), "U2F_V2")
    made = key.register(challenge, application)
    made.verify(application, challenge)
    key.authenticate(challenge, application, made.key_handle).verify(application, challenge, made.public_key)
    expect("U2F registration and signature hold", True)


def everything(device, algorithms, versions):
    """Runs everything; the key is reset at the end."""
    from fido2.ctap2 import Ctap2

    ctap = Ctap2(device)
    expect("getInfo names its versions", list(ctap.info.versions), versions)
    pins(ctap)
    for algorithm in algorithms:
        ceremony(device, algorithm)
    management(ctap, len(algorithms))
    u2f(device)
    ctap.reset()
    expect("a reset takes the PIN away", ctap.get_info().options["clientPin"], False)


def newest(device):
    """What CTAP 2.2 and 2.3 added, on the smart card interface of a key with firmware 5.8 that is new; it is reset at the end."""
    from fido2.ctap2 import Ctap2

    ctap = Ctap2(device)
    expect("the newest version is named", ctap.info.versions[-1], "FIDO_2_3")
    expect("and the smart card among the transports", "smart-card" in ctap.info.transports)
    expect("a reset takes a long touch, over each of them", (ctap.info.long_touch_for_reset, ctap.info.transports_for_reset),
           (True, ctap.info.transports))
    expect("100 credentials fit", ctap.info.remaining_disc_creds, 100)
    payments(ctap, device)
    persistent_token(ctap)
    ctap.reset()


def payments(ctap, device):
    """Two accounts, of which other sites may use the first for payments."""
    from fido2.ctap2 import ClientPin
    from fido2.ctap2.extensions import ThirdPartyPaymentExtension
    from fido2.ctap2.pin import PinProtocolV2
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity, PublicKeyCredentialUserEntity

    ClientPin(ctap, PinProtocolV2()).set_pin(PIN)
    client = client_of(device, ThirdPartyPaymentExtension())
    server = Fido2Server(PublicKeyCredentialRpEntity(id="example.com", name="Example"))
    payment = {"payment": {"isPayment": True}}
    for name, extensions in [("card", payment), ("login", {})]:
        options, state = server.register_begin(
            PublicKeyCredentialUserEntity(id=name.encode(), name=name, display_name=name),
            resident_key_requirement="required", user_verification="required", extensions=extensions)
        known = server.register_complete(state, client.make_credential(options.public_key)).credential_data
        options, state = server.authenticate_begin([known], user_verification="required", extensions=payment)
        answer = client.get_assertion(options.public_key).get_response(0)
        server.authenticate_complete(state, [known], answer)
        expect(f"{name}: whether other sites may use it for payments",
               answer.response.authenticator_data.extensions, {"thirdPartyPayment": name == "card"})


def persistent_token(ctap):
    """A token that lists credentials, deletes none, and decrypts what getInfo says of the key and its credentials."""
    from fido2.ctap import CtapError
    from fido2.ctap2 import ClientPin, CredentialManagement
    from fido2.ctap2.pin import PinProtocolV2

    protocol = PinProtocolV2()
    pin = ClientPin(ctap, protocol)
    token = pin.get_pin_token(PIN, ClientPin.PERMISSION.PERSISTENT_CREDENTIAL_MGMT)

    def told():
        info = ctap.get_info()
        return info.get_identifier(token), info.get_cred_store_state(token)

    def listed(manager):
        party = manager.enumerate_rps()[0]
        found = manager.enumerate_creds(party[CredentialManagement.RESULT.RP_ID_HASH])
        return {each[CredentialManagement.RESULT.USER]["name"]: each for each in found}

    reader = CredentialManagement(ctap, protocol, token)
    credentials = listed(reader)
    expect("the persistent token lists who may pay", {name: each[0x0C] for name, each in credentials.items()},
           {"card": True, "login": False})
    login = credentials["login"][CredentialManagement.RESULT.CREDENTIAL_ID]
    try:
        reader.delete_cred(login)
        expect("but it deletes nothing", False)
    except CtapError as error:
        expect("but it deletes nothing", error.code, CtapError.ERR.PIN_AUTH_INVALID)
    identifier, state = told()
    expect("identifier and state are 16 bytes, and stay", (len(identifier), len(state), told()), (16, 16, (identifier, state)))
    CredentialManagement(ctap, protocol, pin.get_pin_token(PIN, ClientPin.PERMISSION.CREDENTIAL_MGMT)).delete_cred(login)
    expect("the identifier of the key stays without a credential", told()[0], identifier)
    expect("the state does not", told()[1] != state)
    expect("the token still lists", set(listed(reader)), {"card"})
    pin.change_pin(PIN, PIN[::-1])
    try:
        listed(reader)
        expect("another PIN ends it", False)
    except CtapError as error:
        expect("another PIN ends it", error.code, CtapError.ERR.PIN_AUTH_INVALID)
