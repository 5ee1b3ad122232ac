# SPDX-License-Identifier: Apache-2.0
"""Independent servers, python-fido2's Fido2Server and PyPI's webauthn, verify what `ykit fido2 register` and `assert` make:
over HID, as a card, through a real pcscd, and again from a recording of each; with every algorithm of the key, with and
without PIN, PIN protocols 1 (a CTAP 2.0 key) and 2, U2F, discoverable credentials and others, and prf. Both servers and
`ykit fido2 verify` refuse answers that were tampered with in many ways.

YKIT is the ykit to test. With YKIT_TEST_NODE only the key at that node is used, with a PIN: for a guest.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from lib.peer import YKIT, beside_pcscd, expect, in_reader
from lib.relying_party import ORIGIN, RelyingParty, encode, tampered

NODE = os.environ.get("YKIT_TEST_NODE")
if not NODE:
    beside_pcscd()

sys.dont_write_bytecode = True

PIN = "12345"
ALGORITHMS = {-7: "ES256", -8: "EdDSA", -257: "RS256"}
#: The number of accounts that this run created on a key, by the options that select the key.
remembered: dict = {}


class Key:
    """A key as ykit reaches it with these global options, and its recording."""

    def __init__(self, name, folder, link, pin=None):
        self.name, self.link, self.pin, self.count = name, link, pin, 0
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))

    def run(self, *arguments, link=None, text=None):
        environment = {**os.environ, "HOME": str(self.folder), "YKIT_PIN": self.pin or "", "YKIT_NEW_PIN": self.pin or ""}
        for unset in [name for name in ("YKIT_PIN", "YKIT_NEW_PIN") if not self.pin]:
            del environment[unset]
        command = [YKIT, *(self.link if link is None else link), "--json", *arguments]
        result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, env=environment)
        try:
            return json.loads(result.stdout), result.returncode
        except ValueError:
            return {"ok": False, "error": {"message": result.stderr or result.stdout}}, result.returncode

    def ask(self, verb, options, *more):
        """The key's answer, which its recording gives once more when it is replayed strictly; what prf made is in no
        recording, and a replay makes nothing up."""
        self.count += 1
        recording = self.folder / f"{self.count}.jsonl"
        arguments = ["fido2", verb, "--origin", ORIGIN, "--options", "-", *more]
        answer, status = self.run(*arguments, link=[*self.link, "--record", str(recording)], text=json.dumps(options))
        if not answer["ok"]:
            raise RuntimeError(f"{verb}: status {status}, {answer['error']['message']}")
        again, status = self.run(*arguments, link=["--replay", str(recording)], text=json.dumps(options))
        if verb == "assert" and "prf" in options["publicKey"].get("extensions", {}):
            expect(f"{self.name}: the recording of {verb} {self.count} makes up no secret of prf",
                   (status, again["ok"], "hmac-secret" in again["error"]["message"], again["credential"]),
                   (14, False, True, None))
            return answer["credential"]
        expect(f"{self.name}: the recording of {verb} {self.count} gives the same",
               (again.get("credential") or {}).get("response"), answer["credential"]["response"])
        return answer["credential"]

    def verdict(self, answer, state, registration=None):
        """Whether ykit accepts an answer."""
        (self.folder / "answer").write_text(json.dumps(answer))
        arguments = ["fido2", "verify", str(self.folder / "answer"), "--rp", "example.com", "--origin", ORIGIN,
                     "--challenge", state["challenge"]]
        if registration is not None:
            (self.folder / "registration").write_text(json.dumps(registration))
            arguments += ["--registration", str(self.folder / "registration")]
        result, status = self.run(*arguments, link=[])
        if status not in (0, 8, 13):
            expect(f"{self.name}: verify ends with a verdict", (status, result), 0)
        return status == 0


def judge(key, party, name, state, answer, registration=None):
    """All accept the answer, and none accepts a tampered one."""
    expect(f"{key.name}: {name} is accepted by ykit fido2 verify", key.verdict(answer, state, registration))
    for change, other in tampered(answer):
        verdicts = [*party.judges(state, other), key.verdict(other, state, registration)]
        expect(f"{key.name}: {name} with {change} is refused", verdicts, [False, False, False])


def reported(test):
    """A test whose error counts as a failure and does not end the run."""
    def run(key, *arguments, **options):
        try:
            test(key, *arguments, **options)
        except Exception as error:
            expect(f"{key.name}: {test.__name__} {arguments} {options}", f"{type(error).__name__}: {error}", "no error")
    return run


@reported
def ceremony(key, algorithm=-7, uv="discouraged", resident="discouraged", more=(), author="Fido2Server", thorough=True):
    """A registration and an assertion with the options of one server, accepted by both; `thorough` tampers with them."""
    party = RelyingParty(author=author)
    name = " ".join([ALGORITHMS[algorithm], *more, f"uv {uv}", f"resident {resident}", f"asked by {author}"])
    options, state = party.creation(algorithm, resident, uv, {"credProps": True})
    user = options["publicKey"]["user"]["id"]
    made = key.ask("register", options, *more)
    credential = party.registered(state, made)
    expect(f"{key.name}: {name}: both servers accept the registration", credential.public_key[3], algorithm)
    expect(f"{key.name}: {name}: credProps", made["clientExtensionResults"]["credProps"], {"rk": resident == "required"})
    if thorough:
        judge(key, party, f"{name} registration", state, made)
    options, state = party.request([credential], uv)
    signed = key.ask("assert", options, *more)
    party.authenticated(state, signed)
    expect(f"{key.name}: {name}: both servers accept the assertion", True)
    if resident == "required":
        signed, state = without_a_list(key, party, name, uv, user, more)
    if thorough:
        judge(key, party, f"{name} assertion", state, signed, made)


def without_a_list(key, party, name, uv, user, more):
    """A discoverable credential is also found without a list: of several accounts, the named one."""
    remembered[tuple(key.link)] = remembered.get(tuple(key.link), 0) + 1
    options, state = party.request(None, uv)
    if remembered[tuple(key.link)] > 1:
        answer, status = key.run("fido2", "assert", "--origin", ORIGIN, "--options", "-", *more, text=json.dumps(options))
        expect(f"{key.name}: {name}: none of several accounts signs unasked",
               (status, answer["error"].get("code"), answer.get("credential")), (4, "several-accounts", None))
    signed = key.ask("assert", options, *more, "--user", user)
    party.authenticated(state, signed)
    expect(f"{key.name}: {name}, found without a list: both servers accept the assertion", True)
    expect(f"{key.name}: {name}, found without a list: it is that of the account", signed["response"]["userHandle"], user)
    return signed, state


@reported
def secrets_of_prf(key):
    """prf returns the same for the same input, and something else for another."""
    party = RelyingParty()
    options, state = party.creation(uv="required", extensions={"prf": {}})
    made = key.ask("register", options)
    credential = party.registered(state, made)
    expect(f"{key.name}: prf is enabled", made["clientExtensionResults"]["prf"]["enabled"])
    one, two = encode(b"one"), encode(b"two")
    found = []
    for inputs in ({"eval": {"first": one, "second": two}},
                   {"evalByCredential": {encode(credential.credential_id): {"first": two}}}):
        options, state = party.request([credential], "required", {"prf": inputs})
        signed = key.ask("assert", options)
        party.authenticated(state, signed)
        found.append(signed["clientExtensionResults"]["prf"]["results"])
    expect(f"{key.name}: prf answers the same for the same input", found[0]["second"], found[1]["first"])
    expect(f"{key.name}: and something else for another", found[0]["first"] != found[0]["second"])


def algorithms(key):
    info, _ = key.run("fido2", "info")
    said = {entry["alg"] for entry in info["algorithms"] or []}
    return [number for number in ALGORITHMS if number == -7 or number in said]


def without_pin(key):
    for algorithm in algorithms(key):
        ceremony(key, algorithm, resident="required")
    ceremony(key)
    ceremony(key, author="webauthn")
    ceremony(key, more=("--u2f",))


def with_pin(key, thorough=True):
    answer, _ = key.run("fido2", "pin", "set")
    expect(f"{key.name}: the PIN is set", answer["ok"])
    for algorithm in algorithms(key):
        ceremony(key, algorithm, "required", thorough=thorough or algorithm == -7)
    ceremony(key, uv="required", resident="required", author="webauthn", thorough=thorough)
    secrets_of_prf(key)


def state_file(folder, name, features=None):
    """A new virtual key, with special features if requested."""
    path = pathlib.Path(folder) / f"{name}.key"
    if features:
        subprocess.run([YKIT, "--virtual", str(path), "info"], capture_output=True, timeout=120)
        state = json.loads(path.read_text())
        state["device"]["fido"] = features
        path.write_text(json.dumps(state))
    return ["--virtual", str(path)]


def all_of_them(folder):
    for name, link in [("HID", state_file(folder, "key")), ("card", [*state_file(folder, "key"), "--link", "pcsc"]),
                       ("pcscd", ["--link", "pcsc"])]:
        without_pin(Key(name, folder, link))
        with_pin(Key(f"{name} with PIN", folder, link, PIN))
        answer, _ = Key(name, folder, link).run("fido2", "reset", "--force")
        expect(f"{name}: the key is reset", answer["ok"])
        remembered.pop(tuple(link), None)
    old = state_file(folder, "old", {"version": "2.0"})
    with_pin(Key("CTAP 2.0, protocol 1", folder, [*old, "--link", "hid"], PIN))


def is_in_reader():
    return subprocess.run([YKIT, "--link", "pcsc", "fido2", "info"], capture_output=True, timeout=120).returncode == 0


def test_webauthn_servers():
    with tempfile.TemporaryDirectory(dir=os.environ.get("YKIT_TEST_TMP")) as folder:
        if NODE:
            # Programs are slow in a guest, so only one algorithm is tampered with.
            with_pin(Key(f"--path {NODE}", folder, ["--path", NODE], PIN), thorough=False)
        else:
            with in_reader("--state", f"{folder}/card", ready=is_in_reader):
                all_of_them(folder)
