# SPDX-License-Identifier: Apache-2.0
"""Every request of every verb that talks to privacyIDEA, with bad answers: the failure is reported, nothing is left half
done, and the same verb works afterwards.

Each verb is run repeatedly: one request after another fails, in each way, until a run makes no further request. YKIT is the
ykit to test.

Each request gets no answer and one other of them in turn. With YKIT_TEST_ALL=1 it gets all of them; one that only reads, only
the first time: with each further verb that makes it too it gets two again.

Which answers a request cannot get: unsigned and replayed ones are told apart only where the server signs its answers and the
audit key was given, which is `ykit 2fa`. There, every change of an answer (another question, serial number, URL, challenge) is an
unsigned one. A person's device has no audit key; which of its answers name what was enrolled, and are compared with it, is in
the part `forged`, and forged, replayed and foreign push requests are in approve.py. The challenge of a container, of TiQR
and of a security key may be repeated: the server alone knows that it was used, and what is signed says what it is for.
"""

import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "privacyidea"))
from bad_server import SIGNED, TABLE, BadServer  # noqa: E402
from server import WORK, Server, code, raw, ykit  # noqa: E402

from lib.peer import expect  # noqa: E402

#: The ways in which each request is answered.
MODES = ("close", "html", "500", "cut-body", "half-json", "redirect", "gigabyte", "wrong-type", "stall")
#: Whether each request is answered in all ways.
ALL = os.environ.get("YKIT_TEST_ALL") == "1"
#: How often a reading request was tried: the first time with all of them.
READ = {}
#: The time limit of a verb in seconds: the usual one, of a run whose server stalls, and if that was too short for its other requests.
USUAL, SHORT, LONGER = 20, 2, 20
STORE = ("--store", f"{WORK}/accounts.json")
SERVER = None
PATIENCE = USUAL


def server():
    global SERVER
    SERVER = SERVER or Server("--repair-tiqr", "--small-keys")
    return SERVER


def through(url):
    """Makes the server announce a different address to devices."""
    server().admin("POST", "/policy/through", scope="enrollment", active=True, priority=1,
                   action={"push_registration_url": f"{url}/ttype/push", "push_firebase_configuration": "poll only"})


def with_pin(pin="123456"):
    """The environment of a verb."""
    return {"YKIT_PIN": pin, "YKIT_TIMEOUT": str(PATIENCE)}


def approve(*words, patience=None, **more):
    return ykit("approve", *words, *STORE, env={**with_pin(), **({"YKIT_TIMEOUT": str(patience)} if patience else {})}, **more)


def forget():
    """A new key, and an empty store."""
    for name in ("accounts.json", "accounts-history.jsonl", "key.json"):
        pathlib.Path(WORK, name).unlink(missing_ok=True)


def token():
    """A new push token of alice, who has no other; no account in the store."""
    server().remove_tokens()
    forget()
    return server().admin("POST", "/token/init", type="push", user="alice", realm="test", genkey=1, pin="2222")["detail"]


def is_change(method, path):
    """Whether a request changes something at the server."""
    return method != "GET" and path.split("?")[0] not in ("/auth", "/validate/initialize")


def each(bad, verb, prepare=lambda: None, check=None, said=None, optional=None, short=SHORT):
    """Runs a verb with each of its requests answered in each bad way.

    `prepare` makes what `verb` gets; `check` says what is wrong with the state after a failure, or None. After a request that
    changes something, the hint has to have the text `said`. A request whose path matches `optional` may fail without harm."""
    number, tried, wrong = 0, 0, []
    while True:
        reached, reading = False, None
        modes = (*MODES, *(SIGNED if bad.is_signed else ()))
        for mode in modes:
            turn = READ.get(reading, None if ALL else number)
            if reached and turn is not None and mode != modes[turn % len(modes)]:
                continue
            found, answer = tried_once(bad, verb, prepare, check, said, optional, number, mode, short if mode == "stall" else USUAL)
            if found and mode == "stall":
                found, answer = tried_once(bad, verb, prepare, check, said, optional, number, mode, LONGER)
            if found is None:
                # This run had no bad answer.
                return number, tried, wrong + ([] if answer[1] == 0 else [f"at a good server: {answer}"])
            reached, tried = True, tried + 1
            wrong += found
            method, path, _ = bad.asked[number] if number < len(bad.asked) else ("", "", None)
            reading = None if is_change(method, path) else (bad.is_signed, method, re.sub(r"[A-Z]*\d+", "N", path.split("?")[0]))
        if reading:
            READ[reading] = READ.get(reading, 0) + 1
        number += 1


def tried_once(bad, verb, prepare, check, said, optional, number, mode, seconds):
    """What is wrong with a run of a verb whose request of this number is answered badly; None if there was no such request."""
    global PATIENCE
    given = prepare()
    bad.mode, bad.only = mode, number
    PATIENCE = seconds
    del bad.asked[:]
    answer, status = verb(given)
    bad.mode, bad.only, PATIENCE = None, None, USUAL
    if len(bad.asked) <= number:
        return ([f"{mode}: request {number} was not reached: {answer}"] if mode == "stall" else None), (answer, status)
    method, path, _ = bad.asked[number]
    asked, wrong = f"request {number} ({method} {path.split('?')[0]}), {mode}", []
    if optional and re.search(optional, path):
        if status != 0:
            wrong.append(f"{asked}: status {status}, {answer}")
        problem = check(given) if check else None
        return wrong + ([f"{asked}: {problem}"] if problem else []), (answer, status)
    if status == 0 or not code(answer) or status < 0 or status > 127:
        wrong.append(f"{asked}: status {status}, {answer}")
    elif (status, code(answer)) != {**TABLE, **SIGNED}[mode]:
        # A verb may not need an answer, or may understand more of it; it has to say so itself.
        print(f"     {asked}: {status} {code(answer)}: {answer['error']['message']}", flush=True)
    if said and is_change(method, path) and not re.search(said, (answer.get("error") or {}).get("hint") or ""):
        wrong.append(f"{asked}: the hint does not say what may have been done: {answer.get('error')}")
    problem = check(given) if check else None
    if problem:
        wrong.append(f"{asked}: {problem}")
    return wrong, (answer, status)


def judged(name, found):
    """The result of all runs of a verb."""
    requests, tried, wrong = found
    expect(f"{name}: {requests} requests, {tried} bad answers, each said and nothing half done", (requests > 0, wrong), (True, []))


def test_enrolling():
    """Until the server has the key, the link can be used again and nothing remains; from then on the account is kept."""
    with BadServer(server().http) as bad:
        through(bad.url)

        def half(detail):
            has = server().admin("GET", "/token/", serial=detail["serial"]).value["tokens"][0]["rollout_state"] == "enrolled"
            kept = (len(approve("accounts")[0].get("accounts") or []), ykit("piv", "keys", "info", "82")[1])
            return None if kept == ((1, 0) if has else (0, 12)) else f"the server has the key: {has}; accounts, key: {kept}"

        made = []

        def unused():
            """The link of the last run while it can be used: another one costs the server an RSA key."""
            if not made or server().admin("GET", "/token/", serial=made[0]["serial"]).value["tokens"][0]["rollout_state"] != "clientwait":
                made[:] = [token()]
            forget()
            return made[0]

        judged("enroll", each(bad, lambda detail: approve("enroll", detail["pushurl"]["value"], "--force", "--touch", "never"), unused, half))
        expect("afterwards the link works", approve("enroll", token()["pushurl"]["value"], "--force", "--touch", "never")[1], 0)


def test_answering():
    """A request whose answer failed is still open, and can be answered."""
    with BadServer(server().http) as bad:
        through(bad.url)
        expect("enrolled", approve("enroll", token()["pushurl"]["value"], "--force", "--touch", "never")[1], 0)

        def request():
            """A login: its transaction, and ykit's identifier for it."""
            transaction = server().log_in()
            return transaction, approve("list")[0]["requests"][0]["id"]

        def answer(word, name, *options):
            return approve(word, *([name] if word != "list" else []), *options)

        for word, state in (("yes", "accept"), ("no", "declined"), ("show", "pending"), ("list", "pending")):
            opened = request()

            def taken(_):
                return None if server().state_of(opened[0]) == "pending" else f"the log-in is {server().state_of(opened[0])}"

            judged(word, each(bad, lambda _: answer(word, opened[1]), check=taken))
            expect(f"{word}: afterwards it worked", server().state_of(opened[0]), state)
            if state == "pending":
                answer("no", opened[1])
        for word, state in (("yes", "accept"), ("no", "declined")):
            opened = request()
            bad.mode, bad.only, bad.is_late = "close", 1, True
            del bad.asked[:]
            said, status = answer(word, opened[1])
            bad.mode, bad.only, bad.is_late = None, None, False
            expect(f"{word}: an answer that arrived, and whose receipt is lost",
                   (status, code(said), "may have received the answer" in (said["error"]["hint"] or ""), server().state_of(opened[0])),
                   (16, "http", True, state))
            kept = {event["challenge"]["nonce"]: event["accepted"] for event in approve("history")[0]["events"]}
            expect(f"{word}: it is in the history, neither accepted nor refused", kept.get(opened[1], "missing"), None)


def test_factors():
    """The service's side: every verb that requires nothing but its options."""
    with BadServer(server().http) as bad:
        service = Service(bad)

        def factor(*words):
            return service(*words, password=server().state["password"])

        server().remove_tokens()
        server().admin("POST", "/token/init", type="spass", user="alice", realm="test", genkey=1)
        for words in (("status", "alice"), ("phone", "alice"), ("device", "status", "alice"), ("disable", "alice"), ("enable", "alice"),
                      ("api-key", "list"), ("login",)):
            judged("2fa " + " ".join(words), each(bad, lambda _: factor(*words)))


KEY_PIN = "483926"
UNSURE = "anyway"


class Service:
    """ykit as the service's side, at a bad server, with an administrator's token."""

    def __init__(self, bad):
        self.bad, bad.is_signed = bad, True
        self("status", "alice")
        expect("the server signs its answers", bool(bad.given))

    def __call__(self, *words, api_key=None, code=None, password=None):
        password = password or (api_key and server().state["password"])
        given = (("--api-key-fd", api_key or (not password and server().token)), ("--password-fd", password), ("--code-fd", code))
        return ykit("2fa", *words, "--server", self.bad.url, "--audit-key", server().audit_key, env=with_pin(KEY_PIN),
                    secrets=[(option, secret) for option, secret in given if secret])

    def lost(self, name, said, *words, **more):
        """A change that the server makes while its answer is lost: the hint says that it may be so. Returns the answer."""
        self.bad.mode, self.bad.only, self.bad.is_late = "close", is_change, True
        answer, status = self(*words, **more)
        self.bad.mode, self.bad.only, self.bad.is_late = None, None, False
        hint = (answer.get("error") or {}).get("hint") or ""
        expect(f"{name}: the server did it, its answer is lost: that is said", (status, code(answer), bool(re.search(said, hint))), (16, "http", True))
        return answer


def fresh_key():
    """A key with a FIDO2 PIN."""
    pathlib.Path(WORK, "key.json").unlink(missing_ok=True)
    ykit("fido2", "pin", "set", env={"YKIT_NEW_PIN": KEY_PIN})


def tokens(user="alice"):
    return server().admin("GET", "/token/", user=user, realm="test").value["tokens"]


def sms(user="alice"):
    server().remove_tokens(user)
    server().admin("POST", "/token/init", type="sms", user=user, realm="test", genkey=1, dynamic_phone=1)


def pin_of(*words):
    """Has a PIN sent by the good server; returns its transaction and the PIN."""
    sent = len(server().messages("sms"))
    answer, _ = ykit("2fa", "send-pin", "alice", *words, "--server", server().http, secrets=[("--api-key-fd", server().token)])
    return answer["transaction"], server().pin_sent(after=sent)


def test_pins():
    """PINs: none is said to be right unless the server says so, and what may be used up is said."""
    with BadServer(server().http) as bad:
        service = Service(bad)
        sms()
        judged("2fa send-pin", each(bad, lambda _: service("send-pin", "alice"), said=UNSURE))
        given = []

        def waiting():
            if not given:
                given.append(pin_of())
            return given[-1]

        judged("2fa verify-pin", each(bad, lambda sent: service("verify-pin", "alice", "--transaction", sent[0], code=sent[1]), waiting, said=UNSURE))
        transaction, pin = pin_of()
        service.lost("2fa verify-pin", UNSURE, "verify-pin", "alice", "--transaction", transaction, code=pin)
        answer, status = service("verify-pin", "alice", "--transaction", transaction, code=pin)
        expect("2fa verify-pin: the PIN is used up then", (status, code(answer)), (12, "nothing-pending"))
        server().policy("verify-enrolment")
        server().remove_tokens()

        def unusable(_):
            found = [token["rollout_state"] for token in tokens()]
            return None if "enrolled" not in found else f"factors: {found}"

        judged("2fa send-pin --register", each(bad, lambda _: service("send-pin", "alice", "--register", "--to", "+41790000002"), check=unusable, said=UNSURE))
        server().remove_tokens()
        kept = []

        def registering():
            if not kept:
                kept.append(pin_of("--register", "--to", "+41790000002"))
            return kept[-1]

        judged("2fa verify-pin --register", each(bad, lambda sent: service("verify-pin", "alice", "--register", code=sent[1]), registering,
                                                 check=lambda _: kept.clear() or server().remove_tokens(), said=UNSURE,
                                                 optional="^/token/challenges/"))
        server().remove_tokens()
        _, pin = pin_of("--register", "--to", "+41790000002")
        service.lost("2fa verify-pin --register", UNSURE, "verify-pin", "alice", "--register", code=pin)
        expect("2fa verify-pin --register: the status shows it", service("status", "alice")[0].get("status"), "sms")
        server().policy("verify-enrolment", False)


def test_users():
    """Users: none is left without a factor unless that is said."""
    def known():
        return bool(server().admin("GET", "/user/", username="dora", realm="test").value)

    def removed():
        if known():
            server().admin("DELETE", "/user/people/dora")

    with BadServer(server().http) as bad:
        service = Service(bad)
        words = ("add-user", "dora", "--mobile", "+41791112255", "--disabled")
        judged("2fa add-user", each(bad, lambda _: service(*words), removed, lambda _: "the user is there" if known() else None))
        removed()
        service.lost("2fa add-user", "may exist without a factor", *words)
        expect("2fa add-user: the user is there, as was said", (known(), code(service(*words)[0])), (True, "user-exists"))
        removed()
        sms()
        for name, options in (("enable", ("--mode", "sms")), ("disable", ())):
            service("disable" if name == "enable" else "enable", "alice")
            judged(f"2fa {name}", each(bad, lambda _: service(name, "alice", *options), said=UNSURE,
                                       check=lambda _: None if tokens()[0]["active"] == (name == "disable") else "it was changed"))
        service.lost("2fa enable", UNSURE, "enable", "alice")
        expect("2fa enable: the status shows it", service("status", "alice")[0].get("status"), "sms")


def test_keys():
    """Keys: a registration is whole or is not there."""
    fresh_key()
    with BadServer(server().http) as bad:
        service = Service(bad)
        sms()

        def registered(_):
            found = [token["rollout_state"] for token in tokens() if token["tokentype"] in ("webauthn", "passkey")]
            return f"keys: {found}" if found else None

        for name, options in (("", ()), (" --resident", ("--resident",))):
            sms()
            judged(f"2fa register-key{name}", each(bad, lambda _: service("register-key", "alice", "--device-id", "desk", *options), check=registered))
        judged("2fa verify-key --resident", each(bad, lambda _: service("verify-key", "alice", "--resident")))
        sms()
        service("register-key", "alice", "--device-id", "desk")
        judged("2fa verify-key", each(bad, lambda _: service("verify-key", "alice")))
        judged("2fa login-test", each(bad, lambda _: service("login-test", "alice")))
        judged("2fa device rm", each(bad, lambda _: service("device", "rm", "alice", "desk", "--force"), said=UNSURE,
                                     check=lambda _: None if registered(None) else "it was deleted"))


def test_clients():
    """API keys: one that is lost is said to be lost, and can be replaced."""
    def named():
        return [client for client in server().admin("GET", "/clients/").value if client["display_name"] == "lossy"]

    def is_valid(key):
        return server().call("GET", "/validate/capabilities", headers={"X-API-Key": key}).status == 200

    with BadServer(server().http) as bad:
        service = Service(bad)
        made = []

        def create(_):
            answer, status = service("api-key", "create", "lossy")
            made.append(answer.get("apiKey"))
            return answer, status

        judged("2fa api-key create", each(bad, create, said="never shown", check=lambda _: "it is there" if named() else None))

        def rotate(_):
            answer, status = service("api-key", "rotate", "lossy", "--force")
            if status == 0:
                made.append(answer["apiKey"])
            return answer, status

        judged("2fa api-key rotate", each(bad, rotate, said="never shown",
                                          check=lambda _: None if is_valid(made[-1]) else "the old one is invalid"))
        service.lost("2fa api-key rotate", "older API key is then invalid", "api-key", "rotate", "lossy", "--force")
        expect("2fa api-key rotate: the old one is invalid, as was said", is_valid(made[-1]), False)
        expect("2fa api-key rotate: again makes one that is valid", (rotate(None)[1], is_valid(made[-1])), (0, True))
        server().admin("DELETE", f"/clients/{named()[0]['id']}")
        service.lost("2fa api-key create", "rotate", "api-key", "create", "lossy")
        expect("2fa api-key create: the client can be given another", (len(named()), rotate(None)[1], is_valid(made[-1])), (1, 0, True))


def test_trust():
    """Remembered devices: who may have them, adding, checking and removing one."""
    fresh_key()
    pathlib.Path(WORK, "data/ykit/2fa.json").unlink(missing_ok=True)
    sms()
    with BadServer(server().http) as bad:
        service = Service(bad)
        judged("2fa trust allow", each(bad, lambda _: service("trust", "allow", "alice", "on"), said=UNSURE))
        key = service("api-key", "create", "trusting")[0]["apiKey"]
        given = []

        def waiting():
            if not given:
                given.append(pin_of())
            return given[-1]

        judged(
            "2fa trust add", each(bad, lambda sent: service("trust", "add", "alice", "--transaction", sent[0], api_key=key, code=sent[1]), waiting, said=UNSURE)
        )
        judged("2fa trust status", each(bad, lambda _: service("trust", "status", "alice", api_key=key)))

        def checked(*words):
            return ykit(
                "2fa", "trust", "check", "alice", "--server", bad.url, "--audit-key", server().audit_key, secrets=[("--api-key-fd", key)], env=with_pin(KEY_PIN)
            )

        judged("2fa trust check", each(bad, lambda _: checked(), said=UNSURE))
        expect("2fa trust check: the cookie that was kept is still good", checked()[1], 0)
        device = service("trust", "status", "alice", api_key=key)[0]["devices"][0]["id"]
        judged("2fa trust rm", each(bad, lambda _: service("trust", "rm", "alice", device, "--force", api_key=key), said=UNSURE))
        judged("2fa trust rm, all", each(bad, lambda _: service("trust", "rm", "alice", "--force"), said=UNSURE))
        service("trust", "allow", "alice", "off")


def test_accounts():
    """The person's side: enrolling oneself, another address, the server's history, and leaving."""
    secret = [("--password-fd", "secret")]
    with BadServer(server().http) as bad:
        through(bad.url)

        def new():
            server().remove_tokens()
            forget()

        def with_password(*words):
            return ykit("approve", *words, *STORE, env=with_pin(), secrets=secret)

        def half(_):
            has = any(token["rollout_state"] == "enrolled" for token in tokens())
            kept = (len(approve("accounts")[0].get("accounts") or []), ykit("piv", "keys", "info", "82")[1])
            return None if kept == ((1, 0) if has else (0, 12)) else f"the server has the key: {has}; accounts, key: {kept}"

        enroll = ("enroll", "--server", bad.url, "--user", "alice", "--force", "--touch", "never")
        judged("approve enroll of oneself", each(bad, lambda _: with_password(*enroll), new, half))
        serial = approve("accounts")[0]["accounts"][0]["serial"]

        def unchanged(_):
            kept = approve("accounts")[0]["accounts"][0].get("address")
            return f"kept: {kept}" if kept == "desk-9" else None

        judged("approve address", each(bad, lambda _: approve("address", serial, "desk-9"), check=unchanged))
        judged("approve history --server", each(bad, lambda _: with_password("history", "--server", "--user", "alice")))

        def whole(_):
            has = any(token["serial"] == serial for token in tokens())
            kept = (len(approve("accounts")[0].get("accounts") or []), ykit("piv", "keys", "info", "82")[1])
            return None if has and kept == (1, 0) else f"the server has it: {has}; accounts, key: {kept}"

        judged("approve logout", each(bad, lambda _: with_password("logout", serial, "--user", "alice", "--force"), check=whole))


def test_tiqr():
    """TiQR: an account is kept when the service may have its secret, and a log-in is open until it was answered."""
    with BadServer(server().http) as bad:
        for name, value in (("tiqr.regServer", f"{bad.url}/ttype/tiqr"), ("tiqr.authServer", f"{bad.url}/ttype/tiqr"), ("tiqr.infoUrl", bad.url)):
            server().admin("POST", "/system/setConfig", **{name: value})

        def new():
            server().remove_tokens()
            forget()
            return server().admin("POST", "/token/init", type="tiqr", user="alice", realm="test", pin="2222")["detail"]["tiqrenroll"]["value"]

        def kept(_):
            sent, accounts = bad.asked[-1][0] == "POST", approve("accounts")[0].get("accounts") or []
            return None if len(accounts) == sent else f"the secret was sent: {sent}, accounts: {len(accounts)}"

        judged("approve open, TiQR enrolment", each(bad, lambda link: approve("open", link, "--force"), new, kept, said="ykit approve logout"))
        answers = []
        for name in ("authenticationUrl", "enrollmentUrl"):
            def alter(_, answer):
                return {**answer, "service": {**answer["service"], name: "https://evil.example/ttype/tiqr"}}

            bad.mode, bad.alter = "altered", alter
            answers.append((name, *approve("open", new(), "--force"), len(bad.asked)))
            bad.mode = None
            expect(f"TiQR enrolment with another {name}: refused, nothing kept", (answers[-1][2], code(answers[-1][1]), approve("accounts")[0].get("accounts")),
                   (15, "other-server", []))
        expect("TiQR enrolled", approve("open", new(), "--force")[1], 0)

        def log_in():
            challenge = server().call("POST", "/validate/check", user="alice", **{"pass": "2222"})["detail"]
            return challenge["transaction_id"], challenge["multi_challenge"][0]["attributes"]["value"]

        def open_still(given):
            return None if server().state_of(given[0]) == "pending" else f"the log-in is {server().state_of(given[0])}"

        judged("approve open, TiQR log-in", each(bad, lambda given: approve("open", given[1], "--force"), log_in, open_still))


def test_forged():
    """A device's answers that name what was enrolled, or where a secret goes: another serial number, URL or relying party is refused."""
    fresh_key()
    with BadServer(server().http) as bad:
        def altered(name, change, verb, wanted):
            bad.mode, bad.alter = "altered", change
            answer, status = verb()
            bad.mode = None
            expect(name, (status, code(answer)), wanted)

        def other_site(_, answer):
            return json.loads(json.dumps(answer).replace('"localhost"', '"evil.example"'))

        def unsigned(*words):
            return ykit("2fa", *words, "--server", bad.url, secrets=[("--api-key-fd", server().token)], env=with_pin(KEY_PIN))

        sms()
        for words in (("register-key", "alice"), ("register-key", "alice", "--resident"), ("verify-key", "alice", "--resident")):
            altered(
                f"2fa {' '.join(words)}: the relying party of somebody else is not answered", other_site, lambda: unsigned(*words), (15, "other-relying-party")
            )
        unsigned("register-key", "alice")
        for words in (("verify-key", "alice"), ("login-test", "alice")):
            altered(
                f"2fa {' '.join(words)}: the relying party of somebody else is not answered", other_site, lambda: unsigned(*words), (15, "other-relying-party")
            )

        def other_link(old, new):
            def change(_, answer):
                detail = answer.get("detail") or {}
                if "pushurl" in detail:
                    detail["pushurl"] = {**detail["pushurl"], "value": detail["pushurl"]["value"].replace(old(detail), new)}
                return answer
            return change

        def enroll(*words):
            forget()
            return ykit("approve", "enroll", "--server", bad.url, "--user", "alice", "--touch", "never", *words, *STORE, env=with_pin(),
                        secrets=[("--password-fd", "secret")])

        through(bad.url)
        other = other_link(lambda _: f"http%3A//localhost%3A{bad.port}", "http%3A//localhost%3A9")
        altered("approve enroll of oneself: the link of another server is asked about", other, enroll, (17, "no-terminal"))
        altered("approve enroll of oneself: with --force the link is followed", other, lambda: enroll("--force"), (16, "server-unreachable"))
        altered("approve enroll of oneself: another serial number is refused", other_link(lambda detail: detail["serial"], "PIPU00000001"),
                lambda: enroll("--force"), (8, "enrolment-refused"))


def test_containers():
    """Containers: registering, synchronizing and moving lose no secret."""
    with BadServer(server().http) as bad:
        server().admin("POST", "/policy/container-through", scope="container", active=True, priority=1,
                       action={"privacyIDEA_server_url": bad.url})
        for name in ("accounts.json", "key.json", "new-key.json"):
            pathlib.Path(WORK, name).unlink(missing_ok=True)
        server().remove_tokens()
        serial = server().admin("POST", "/container/init", type="smartphone", user="alice", realm="test").value["container_serial"]
        totp = server().admin("POST", "/token/init", type="totp", user="alice", realm="test", genkey=1)["detail"]["serial"]
        server().admin("POST", f"/container/{serial}/add", serial=totp)

        def link():
            return server().admin("POST", "/container/register/initialize", container_serial=serial, rollover=False).value["container_url"]["value"]

        def kept(_):
            accounts = approve("accounts")[0].get("accounts") or []
            return f"accounts: {accounts}" if accounts else None

        for mode in MODES:
            bad.mode = mode
            answer, status = approve("open", link(), "--force", patience=SHORT if mode == "stall" else USUAL)
            bad.mode = None
            expect(f"approve open of a container, {mode}: said, and nothing is kept", (status, code(answer), kept(None)), (*TABLE[mode], None))
        for mode in MODES:
            finalized = []
            bad.mode, bad.is_late = mode, True
            bad.only = lambda method, path: path.endswith("/register/finalize") and not finalized and not finalized.append(path)
            answer, status = approve("open", link(), "--force", patience=SHORT if mode == "stall" else USUAL)
            bad.mode, bad.only, bad.is_late = None, None, False
            expect(f"approve open of a container: the server did it, its answer is lost ({mode}): it is asked again", (status, len(finalized)), (0, 1))
            if mode != MODES[-1]:
                approve("logout", serial, "--force")
        judged("approve sync", each(bad, lambda _: approve("sync")))

        def accepted(key="key.json"):
            made = ykit("approve", "code", totp, *STORE, key=key, env=with_pin())[0].get("code", "")
            return server().call("POST", "/validate/check", serial=totp, **{"pass": made}).authentication

        expect("approve sync: the code is the server's", accepted(), "ACCEPT")
        judged("approve migrate check", each(bad, lambda _: approve("migrate", "check")))
        keys = ["key.json"]

        def another():
            name = f"moved-{len(keys)}.json"
            pathlib.Path(WORK, name).unlink(missing_ok=True)
            raw("virtual", "new", f"{WORK}/{name}")
            return name

        def move(other):
            return ykit("approve", "migrate", "run", "--to", f"{WORK}/{other}", "--force", *STORE, key=keys[-1], env={"YKIT_TIMEOUT": str(PATIENCE)},
                        secrets=[("--pin-fd", "123456"), ("--to-pin-fd", "123456")])

        def usable(other):
            """One of both keys has the container; it fetches the accounts."""
            if any(path.endswith("/register/finalize") for _, path, _ in bad.asked[:-1]):
                keys.append(other)
            answer, status = approve("sync", key=keys[-1])
            return None if status == 0 else f"the container is lost: {status} {answer}"

        judged("approve migrate run", each(bad, move, another, usable, optional="/register/finalize", short=6))
        keys.append(f"moved-{len(keys)}.json")
        expect("approve migrate run: the code is the server's", accepted(keys[-1]), "ACCEPT")
        other = another()
        bad.mode, bad.only = "close", lambda method, path: path.endswith("/synchronize")
        answer, status = move(other)
        bad.mode = bad.only = None
        keys.append(other)
        expect(
            "approve migrate run: no answer to the synchronization: what completes the move is said",
            (status, "ykit approve sync" in answer["error"]["hint"]),
            (16, True),
        )
        expect("it does", approve("sync", key=other)[1], 0)

        def left(_):
            return None if approve("accounts")[0].get("accounts") else "the account is gone"

        judged("approve logout of a container", each(bad, lambda _: approve("logout", serial, "--force", key=keys[-1]), check=left))
