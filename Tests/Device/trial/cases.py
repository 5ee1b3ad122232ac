# SPDX-License-Identifier: Apache-2.0
"""What is done with each application: its verbs, what a key must hold for them (nothing), and how it is emptied afterwards.

PINs, passwords and keys here are the tests' own and secret to nobody.
"""

import dataclasses
import subprocess

PIN, WRONG, DEFAULT_PIN, DEFAULT_ADMIN = "11234567", "98765432", "123456", "12345678"
RFC = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # RFC 4226, appendix D
HMAC_KEY, CHALLENGE = "303132333435363738393a3b3c3d3e3f40414243", "53616d706c65202332"  # FIPS 198, example A.2
RESPONSE = "0922d3405faa3d194f82a45830737d5cc6c75d24"
HSM = {"YKIT_HSMAUTH_MANAGEMENT_PASSWORD": "0" * 32, "YKIT_HSMAUTH_PASSWORD": "ykit", "YKIT_HSMAUTH_DERIVATION_PASSWORD": "ykit"}


@dataclasses.dataclass
class Step:
    """One verb: its words, the variables and the text that it is given, whether it waits for a person, what to verify."""

    name: str
    words: list
    variables: dict = dataclasses.field(default_factory=dict)
    text: str = None
    person: str = None  # what the person has to do
    check: object = None  # (result, folder) → what is wrong, or None
    reads: bool = False  # changes nothing on the key
    slow: bool = False
    save: str = None  # the file that gets the JSON answer
    keyless: bool = False  # uses no key


@dataclasses.dataclass
class Application:
    """An application: steps, and how it is emptied; `holds` names what a key holds, from the answers to its reading verbs."""

    steps: list
    holds: object = lambda answer, _: []
    looks: list = None  # the verb whose answer `holds` reads
    reset: list = dataclasses.field(default_factory=list)
    loses: str = None  # what the person is told that the reset deletes


def member(name, wanted):
    """A check that a member of the answer has this value."""
    return lambda result, _: None if result.answer.get(name) == wanted else f"{name} is {result.answer.get(name)!r}, and must be {wanted!r}"


def verified(public, signature):
    """A check that OpenSSL accepts a signature of the file `message`."""
    def check(_, folder):
        done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", public, "-signature", signature, "message"],
                              cwd=folder, capture_output=True, text=True)
        return None if done.returncode == 0 else f"OpenSSL refuses the signature: {(done.stdout + done.stderr).strip().splitlines()[0]}"
    return check


def tries(left):
    return lambda result, _: None if (result.answer.get("error") or {}).get("retriesLeft") == left else \
        f"retriesLeft is {(result.answer.get('error') or {}).get('retriesLeft')}, and must be {left}"


def accounts(wanted):
    return lambda result, _: None if sorted(one["id"] for one in result.answer["accounts"]) == sorted(wanted) else \
        f"the accounts are {[one['id'] for one in result.answer['accounts']]}, and must be {wanted}"


def oath_holds(info, ask):
    if info.get("hasPassword"):
        return ["an OATH password"]
    listed = ask(["oath", "list"])
    if listed.code != 0:
        return ["OATH accounts that cannot be listed"]
    count = len(listed.answer["accounts"])
    return [f"OATH accounts: {count}"] if count else []


PASSWORD = {"YKIT_OATH_PASSWORD": "ykit"}
OATH = Application(
    looks=["oath", "info"], holds=oath_holds, reset=["oath", "reset", "--force"], loses="all OATH accounts and the password",
    steps=[
        Step("what it is", ["oath", "info"], reads=True),
        Step("a time-based account", ["oath", "add", "ykit:totp", "--secret-stdin"], text=RFC + "\n"),
        Step("its code at 59 s, by RFC 6238", ["oath", "calculate", "ykit:totp", "--at", "59"], check=member("code", "287082")),
        Step("a counter-based account", ["oath", "uri", "-"], text=f"otpauth://hotp/ykit:hotp?secret={RFC}&counter=0\n"),
        Step("its first code, by RFC 4226", ["oath", "calculate", "ykit:hotp"], check=member("code", "755224")),
        Step("its second code", ["oath", "calculate", "ykit:hotp"], check=member("code", "287082")),
        Step("an account of SHA-512 with eight digits", ["oath", "uri", "-"],
             text=f"otpauth://totp/ykit:long?secret={RFC}&algorithm=SHA512&digits=8&period=60\n"),
        Step("an account that requires a touch", ["oath", "add", "ykit:touch", "--touch", "--secret-stdin"], text=RFC + "\n"),
        Step("its code", ["oath", "calculate", "ykit:touch", "--at", "59"], person="touch", check=member("code", "287082")),
        Step("all codes", ["oath", "calculate", "--at", "59"]),
        Step("a new name", ["oath", "rename", "ykit:totp", "ykit:renamed", "--force"]),
        Step("an account deleted", ["oath", "delete", "ykit:touch", "--force"]),
        Step("a password", ["oath", "access", "change"], {"YKIT_OATH_NEW_PASSWORD": "ykit"}),
        Step("a wrong password", ["oath", "list"], {"YKIT_OATH_PASSWORD": "other"}),
        Step("the list with the password", ["oath", "list"], PASSWORD, check=accounts(["ykit:renamed", "ykit:hotp", "ykit:long"])),
        Step("no password any more", ["oath", "access", "change", "--clear"], PASSWORD),
    ])


def piv_holds(info, _):
    found = [f"a PIV key or certificate in slot {slot['slot']}" for slot in info.get("slots") or []]
    found += [f"a PIV {name}" for name in ("chuid", "ccc") if info.get(name)]
    for name, words in (("pin", "PIN"), ("puk", "PUK"), ("managementKey", "management key")):
        state = info.get(name) or {}
        if state.get("default") is False:
            found.append(f"a PIV {words} of its owner")
        elif state.get("maxRetries") and state["retries"] < state["maxRetries"]:
            found.append(f"wrong PIV {words} entries")
    return found


PIV = Application(
    looks=["piv", "info"], holds=piv_holds, reset=["piv", "reset", "--force"], loses="all PIV keys, certificates and PINs",
    steps=[
        Step("what it holds", ["piv", "info"], reads=True),
        Step("a wrong PIN", ["piv", "access", "change-pin"], {"YKIT_PIN": WRONG, "YKIT_NEW_PIN": PIN}, check=tries(2)),
        Step("a new PIN", ["piv", "access", "change-pin"], {"YKIT_PIN": DEFAULT_PIN, "YKIT_NEW_PIN": PIN}),
        Step("the PIN unblocked with the PUK", ["piv", "access", "unblock-pin"], {"YKIT_PUK": DEFAULT_ADMIN, "YKIT_NEW_PIN": PIN}),
        Step("a P-256 key", ["piv", "keys", "generate", "9a", "pub.pem"]),
        Step("its attestation", ["piv", "keys", "attest", "9a"]),
        Step("what is said of it", ["piv", "keys", "info", "9a"]),
        Step("a certificate", ["piv", "certificates", "generate", "9a", "--subject", "CN=ykit"], {"YKIT_PIN": PIN}),
        Step("the certificate read", ["piv", "certificates", "export", "9a", "cert.pem"]),
        Step("a signature", ["piv", "sign", "--slot", "9a", "message", "--output", "piv.sig"], {"YKIT_PIN": PIN},
             check=verified("pub.pem", "piv.sig")),
        Step("a P-384 key that requires a touch", ["piv", "keys", "generate", "9c", "touch.pem", "--algorithm", "ecc-p384",
                                                   "--touch-policy", "always"]),
        Step("a signature with a touch", ["piv", "sign", "--slot", "9c", "message", "--output", "touch.sig"], {"YKIT_PIN": PIN},
             person="touch", check=verified("touch.pem", "touch.sig")),
        Step("an RSA key", ["piv", "keys", "generate", "9d", "rsa.pem", "--algorithm", "rsa2048"], slow=True),
        Step("a signature of RSA", ["piv", "sign", "--slot", "9d", "message", "--output", "rsa.sig"], {"YKIT_PIN": PIN},
             check=verified("rsa.pem", "rsa.sig")),
        Step("an object", ["piv", "objects", "generate", "chuid", "--force"]),
        Step("what it holds now", ["piv", "info"]),
    ])


def fido_holds(info, ask):
    options = info.get("options") or {}
    if options.get("clientPin"):
        return ["a FIDO2 PIN"]
    if options.get("uv"):
        return ["fingerprints"]
    return []


FIDO2 = Application(
    looks=["fido2", "info"], holds=fido_holds, reset=["fido2", "reset", "--force", "--reinsert"],
    loses="all passkeys, the FIDO2 PIN, and every registration of this key with websites, U2F ones included; no key lists those",
    steps=[
        Step("what it is", ["fido2", "info"], reads=True),
        Step("a PIN", ["fido2", "pin", "set"], {"YKIT_NEW_PIN": PIN}),
        Step("a wrong PIN", ["fido2", "pin", "verify"], {"YKIT_PIN": WRONG}, check=tries(7)),
        Step("the right PIN", ["fido2", "pin", "verify"], {"YKIT_PIN": PIN}),
        Step("its tries", ["fido2", "pin", "retries"]),
        Step("a passkey", ["fido2", "register", "--rp", "ykit.example", "--user", "test", "--resident", "--user-id", "00010203",
                           "--challenge", "AAECAwQFBgcICQoLDA0ODw"], {"YKIT_PIN": PIN}, person="touch", save="made.json"),
        Step("it is verified", ["fido2", "verify", "made.json"], check=member("verified", True), keyless=True),
        Step("a sign-in", ["fido2", "assert", "--rp", "ykit.example", "--challenge", "AAECAwQFBgcICQoLDA0ODw"], {"YKIT_PIN": PIN},
             person="touch", save="signed.json"),
        Step("that is verified", ["fido2", "verify", "signed.json", "--registration", "made.json"], check=member("verified", True),
             keyless=True),
        Step("the passkeys", ["fido2", "credentials", "list"], {"YKIT_PIN": PIN}),
        Step("the passkey deleted", ["fido2", "credentials", "delete", "test", "--force"], {"YKIT_PIN": PIN}),
    ])

U2F = Application(
    looks=["fido2", "info"], holds=fido_holds, reset=FIDO2.reset, loses=FIDO2.loses,
    steps=[
        Step("its version", ["u2f", "version"], reads=True),
        Step("a registration", ["u2f", "register", "--app", "https://ykit.example"], person="touch", save="u2f.json"),
    ])


def otp_holds(info, _):
    return ["a credential in OTP slot 2"] if any(one["slot"] == 2 and one["programmed"] for one in info.get("slots") or []) else []


OTP = Application(
    looks=["otp", "info"], holds=otp_holds, reset=["otp", "delete", "2", "--force"], loses="OTP slot 2; slot 1 is not used",
    steps=[
        Step("its slots", ["otp", "info"], reads=True),
        Step("a challenge-response key in slot 2", ["otp", "chalresp", "2"], {"YKIT_OTP_KEY": HMAC_KEY}),
        Step("its response, by FIPS 198", ["otp", "calculate", "2", CHALLENGE], check=member("response", RESPONSE)),
        Step("a key that requires a touch", ["otp", "chalresp", "2", "--touch", "--force"], {"YKIT_OTP_KEY": HMAC_KEY}),
        Step("its response", ["otp", "calculate", "2", CHALLENGE], person="touch", check=member("response", RESPONSE)),
    ])


def openpgp_holds(info, _):
    found = [f"an OpenPGP {key['slot']} key" for key in info.get("keys") or [] if key["origin"] != "none" and key["slot"] != "attestation"]
    found += [f"the OpenPGP {name}" for name in ("name", "login", "url", "kdf") if info.get(name)]
    if info.get("userRetries", 3) < 3 or info.get("adminRetries", 3) < 3:
        found.append("wrong OpenPGP PIN entries")
    return found


OPENPGP = Application(
    looks=["openpgp", "info"], holds=openpgp_holds, reset=["openpgp", "reset", "--force"], loses="all OpenPGP keys, data and PINs",
    steps=[
        Step("what it holds", ["openpgp", "info"], reads=True),
        Step("a P-256 key", ["openpgp", "keys", "generate", "sig", "--type", "nistp256"], {"YKIT_ADMIN_PIN": DEFAULT_ADMIN}),
        Step("its public key", ["openpgp", "keys", "export", "sig", "sig.pem"]),
        Step("a wrong PIN", ["openpgp", "sign", "message", "--output", "none"], {"YKIT_PIN": WRONG}, check=tries(2)),
        Step("a signature", ["openpgp", "sign", "message", "--output", "pgp.sig"], {"YKIT_PIN": DEFAULT_PIN},
             check=verified("sig.pem", "pgp.sig")),
        Step("its attestation", ["openpgp", "attest", "sig"], {"YKIT_PIN": DEFAULT_PIN}),
        Step("random bytes", ["openpgp", "random", "8"]),
        Step("what it holds now", ["openpgp", "info"]),
    ])


def hsm_holds(info, _):
    found = [f"YubiHSM Auth credentials: {info['credentials']}"] if info.get("credentials") else []
    return found + (["wrong management passwords"] if (info.get("managementRetries") or 8) < 8 else [])


HSMAUTH = Application(
    looks=["hsmauth", "info"], holds=hsm_holds, reset=["hsmauth", "reset", "--force"], loses="all YubiHSM Auth credentials",
    steps=[
        Step("what it is", ["hsmauth", "info"], reads=True),
        Step("a credential", ["hsmauth", "add", "ykit", "--derive"], HSM),
        Step("the credentials", ["hsmauth", "list"]),
        Step("session keys of a given context", ["hsmauth", "calculate", "ykit", "--context", "67fcf1feb5f1d883ed763dbf493090bb",
                                                 "--show-keys"], HSM),
    ])

#: In the order in which they are used; FIDO2's reset, for which the key is re-inserted, comes last.
APPLICATIONS = {
    "management": Application([
        Step("what the key is", ["info", "--brief"], reads=True),
        Step("what is on over USB", ["config", "usb", "--list"], reads=True),
        Step("what is on over NFC", ["config", "nfc", "--list"], reads=True)]),
    "oath": OATH, "piv": PIV, "openpgp": OPENPGP, "hsmauth": HSMAUTH, "otp": OTP,
    "sd": Application([Step("what it is", ["sd", "info"], reads=True), Step("its keys", ["sd", "keys", "list"], reads=True)]),
    "nfc": Application([Step("its tag", ["nfc", "read"], reads=True)]),
    "u2f": U2F, "fido2": FIDO2,
}
