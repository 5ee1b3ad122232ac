# SPDX-License-Identifier: Apache-2.0
"""Codes, TiQR and containers of `ykit approve` with a running privacyIDEA: enrolled on a virtual key and accepted by the
server, and all error cases. Codes are compared with PyPI's oath.

YKIT is the ykit to test.
"""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import oath

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "privacyidea"))

from server import WORK, Server, code, environment, raw, ykit

from lib.peer import ROOT, YKIT, expect

PIN = "123456"
SERVER = None


@contextlib.contextmanager
def own_tokens():
    """The one server of all parts, without tokens of other parts."""
    global SERVER
    SERVER = SERVER or Server("--tls")
    yield SERVER
    for user in ("alice", "bob"):
        SERVER.remove_tokens(user)


def approve(*words, **more):
    """Runs a verb of `ykit approve` on the store of this test."""
    return ykit("approve", *words, **more)


def piv(*words, **more):
    """Runs it with the PIN of the PIV application."""
    return approve(*words, secrets=[("--pin-fd", PIN)], **more)


def log_in(server, user="alice", pin="1111"):
    """Starts a login; returns the challenges."""
    answer = server.call("POST", "/validate/check", user=user, **{"pass": pin})
    return answer["detail"]["multi_challenge"]


def check(server, **fields):
    """The result for the service: ACCEPT or REJECT."""
    return server.call("POST", "/validate/check", **fields).authentication


def state(server, transaction):
    return server.call("GET", "/validate/polltransaction", transaction_id=transaction)["detail"]["challenge_status"]


def enrol_tiqr(server, **more):
    token = server.admin("POST", "/token/init", type="tiqr", user="alice", realm="test", pin="1111")["detail"]
    return token, approve("open", token["tiqrenroll"]["value"], "--ca", server.ca, "--force", **more)


def test_tiqr():
    """Flow 10: enrolment, login, and errors, also those of a server that has ended."""
    with Server("--tls", "--repair-tiqr") as server:
        token, (answer, status) = enrol_tiqr(server)
        expect("TiQR is enrolled", (status, answer["type"], answer["serial"]), (0, "enrollment", token["serial"]))
        store = pathlib.Path(f"{WORK}/data/ykit/approve.json").read_text()
        record = next(record for record in json.loads(store)["records"] if record["public"]["kind"] == "tiqr")
        expect("its secret is sealed", len(base64.urlsafe_b64decode(record["sealed"] + "==")), 32 + 28)
        answer, status = approve("open", token["tiqrenroll"]["value"], "--ca", server.ca, "--force")
        expect("a second enrolment is refused", (status, code(answer)), (15, "exists"))
        answer, status = approve("open", token["tiqrenroll"]["value"], "--ca", server.ca, "--force", "--store", f"{WORK}/other.json")
        expect("the link is good once", (status, code(answer)), (1, "refused"))
        expect("an enrolment that the server refused is not kept",
               os.path.exists(f"{WORK}/other.json") and "tiqr" in pathlib.Path(f"{WORK}/other.json").read_text(), False)

        challenge = log_in(server)[0]
        link, transaction = challenge["attributes"]["value"], challenge["transaction_id"]
        expect("the log-in waits", state(server, transaction), "pending")
        answer, status = approve("qr-type", link)
        expect("its link is an online log-in", (answer["type"], answer["protocol"]), ("onlineAuth", "tiqr"))
        answer, status = approve("open", link.replace("org.privacyidea", "org.example"), "--force")
        expect("another service is not answered", (status, code(answer)), (12, "no-such-account"))
        answer, status = approve("open", re.sub("//[^@]*@", "//mallory@", link), "--force")
        expect("another person is not answered", (status, code(answer)), (12, "no-such-account"))
        parts = link.split("/")
        parts[4] = "0000000000" if parts[4] != "0000000000" else "1111111111"
        answer, status = approve("open", "/".join(parts), "--force")
        expect("a changed challenge is a wrong response", (status, code(answer), answer["accepted"], answer["retries"]),
               (8, "wrong-response", False, 9))
        parts = link.split("/")
        parts[3] = "123"
        answer, status = approve("open", "/".join(parts), "--force")
        expect("an unknown session is no longer open", (status, code(answer)), (10, "expired"))
        answer, status = approve("open", link, stdin="n\n")
        expect("without a terminal nothing is answered", (status in (17, 2), state(server, transaction)), (True, "pending"))
        answer, status = approve("offline", "--text", link)
        expect("the code of a log-in, offline", (status, len(answer["code"])), (0, 6))
        answer, status = approve("open", link, "--force")
        expect("the log-in is answered", (status, answer["accepted"]), (0, True))
        expect("the service sees it", state(server, transaction), "accept")
        expect("and is logged in", check(server, user="alice", transaction_id=transaction, **{"pass": ""}), "ACCEPT")
        answer, status = approve("open", link, "--force")
        expect("the same again is too late", (status, code(answer)), (10, "expired"))
        history = pathlib.Path(f"{WORK}/data/ykit/approve-history.jsonl").read_text()
        expect("the history has it, without the code", ("logged-in" in history, '"signature":""' in history), (True, True))
        picture = f"{WORK}/login.png"
        challenge = log_in(server)[0]
        subprocess.run(["qrencode", "-o", picture, challenge["attributes"]["value"]], check=True)
        answer, status = approve("open", "--qr", picture, "--force")
        expect("a log-in from a picture", (status, answer["accepted"]), (0, True))
        answer, status = approve("open", challenge["attributes"]["value"], "--force", key="stranger.json")
        expect("another key does not open the store", (status, code(answer)), (8, "store-key"))
        server.stop()
        answer, status = approve("open", link, "--force")
        expect("a server that is down", status, 16)


def test_ocra():
    """Flow 11: the text is what is signed."""
    with own_tokens() as server:
        seed = "000102030405060708090a0b0c0d0e0f10111213"
        suite = "OCRA-1:HOTP-SHA256-8:QH40"
        token = server.admin("POST", "/token/init", type="ocra", user="alice", realm="test", otpkey=seed, ocrasuite=suite,
                             pin="1111")["detail"]
        answer, status = approve("add", "payments", suite, "--serial", token["serial"], secrets=[("--secret-fd", "seed://" + seed)])
        expect("an account for offline codes", (status, answer["suite"]), (0, suite))
        expect("its secret is not in the store's text", seed in pathlib.Path(f"{WORK}/data/ykit/approve.json").read_text(), False)
        text = "12.50 CHF to ACME"
        raw("virtual", "new", f"{WORK}/spare.json")
        answer, status = approve("offline", "payments", "--text", text, key="spare.json")
        expect("another key does not open it", (status, code(answer)), (8, "store-key"))
        answer, status = approve("store", "add-key", "--from", f"{WORK}/key.json", "--key-name", "spare", key="spare.json")
        expect("a spare key is added", (status, answer.get("keyCount")), (0, 2))
        answer, status = approve("offline", "payments", "--text", text, key="spare.json")
        expect("and opens it", status, 0)
        answer, status = approve("store", "info")
        accounts = len(approve("accounts")[0]["accounts"])
        expect("both are listed", (status, len(answer["keys"]), answer["accountCount"]), (0, 2, accounts))
        answer, status = approve("store", "remove-key", "spare", "--force")
        expect("it is removed", (status, approve("offline", "payments", "--text", text, key="spare.json")[1]), (0, 8))

        def challenge(text, hash="sha1"):
            answer = server.call("POST", "/validate/check", serial=token["serial"], challenge=text, hashchallenge=hash, **{"pass": "1111"})
            return answer["detail"]

        asked = challenge(text)
        answer, status = approve("offline", "payments", "--text", text)
        expect("the challenge is the text's", (status, answer["challenge"]), (0, asked["attributes"]["challenge"]))
        expect("the text is shown as signed", answer["text"], text)
        expect("the same as PyPI's oath", answer["code"],
               oath._ocra.str2ocrasuite(suite)(bytes.fromhex(seed), Q=hashlib.sha1(text.encode()).hexdigest()))
        other, _ = approve("offline", "payments", "--text", "12.50 CHF to EVIL")
        expect("another text has another code", other["code"] != answer["code"])
        expect("which the server refuses", check(server, serial=token["serial"], transaction_id=asked["transaction_id"], **{"pass": other["code"]}), "REJECT")
        asked = challenge(text)
        expect("the right one is accepted", check(server, serial=token["serial"], transaction_id=asked["transaction_id"], **{"pass": answer["code"]}), "ACCEPT")
        expect("once", check(server, serial=token["serial"], transaction_id=asked["transaction_id"], **{"pass": answer["code"]}), "REJECT")
        asked = challenge(text)
        image = base64.b64decode(asked["attributes"]["qrcode"].split(",")[1])
        pathlib.Path(f"{WORK}/text.png").write_bytes(image)
        answer, status = approve("offline", "payments", "--qr", f"{WORK}/text.png")
        expect("the text of the server's QR code", (status, answer["text"]), (0, text))
        done = raw("--virtual", f"{WORK}/key.json", "approve", "offline", "payments", "--text", text)
        expect("a person sees the text", (done.stdout.strip(), f"signing: {text}" in done.stderr), (answer["code"], True))
        answer, status = approve("offline", "payments", "--text", text, "--hash", "sha512")
        expect("a hash that does not fit", (status, code(answer)), (13, "malformed"))
        answer, status = approve("offline", "payments", "--text", "https://example.com/")
        expect("a link is not signed", (status, code(answer)), (13, "malformed"))
        answer, status = approve("add", "x", "OCRA-1:HOTP-MD5-6:QN08", secrets=[("--secret-fd", seed)])
        expect("an unknown suite", (status, code(answer)), (13, "malformed"))
        answer, status = approve("add", "short", suite, secrets=[("--secret-fd", "00")])
        expect("a secret that is too short", status, 2)


def test_suites():
    """Codes of all kinds of suites, compared with PyPI's oath."""
    key = "3132333435363738393031323334353637383930" * 3
    cases = [("OCRA-1:HOTP-SHA1-6:QN08", "12345678"), ("OCRA-1:HOTP-SHA256-8:QA10", "SIG1000000"), ("OCRA-1:HOTP-SHA512-10:QH64", "abcdef12"),
             ("OCRA-1:HOTP-SHA256-8:QN08-PSHA1", "12345678"), ("OCRA-1:HOTP-SHA512-8:C-QN08", "12345678"),
             ("OCRA-1:HOTP-SHA1-4:QN64", "9" * 64)]
    for number, (suite, challenge) in enumerate(cases):
        answer, status = approve("add", f"suite {number}", suite, secrets=[("--secret-fd", key)])
        pin = [("--code-pin-fd", "4711")] if "-P" in suite else []
        more = {"P": "4711"} if pin else {}
        for counter in range(2 if ":C-" in suite else 1):
            if ":C-" in suite:
                more["C"] = counter
            answer, status = approve("offline", f"suite {number}", "--challenge", challenge, secrets=pin)
            made = oath._ocra.str2ocrasuite(suite)(bytes.fromhex(key), Q=challenge, **more)
            expect(f"{suite} as PyPI's oath has it", (status, answer.get("code")), (0, made))


def test_codes():
    """Flows 12 and 13: accounts on the OATH application."""
    with own_tokens() as server:
        def enrol(**fields):
            return server.admin("POST", "/token/init", user="alice", realm="test", **fields)["detail"]

        token = enrol(type="totp", genkey=1, pin="p")
        answer, status = approve("open", token["googleurl"]["value"], "--force")
        expect("TOTP is added", (status, answer["serial"], answer["enter"]), (0, token["serial"], None))
        answer, status = approve("code", token["serial"])
        seed = token["otpkey"]["value"].removeprefix("seed://")
        expect("its code is PyPI's", answer["code"] in [oath.totp(seed, t=int(time.time()) - ago) for ago in (0, 30)])
        expect("seconds left", 0 <= answer["secondsLeft"] <= 30)
        expect("the server accepts it", check(server, serial=token["serial"], **{"pass": "p" + answer["code"]}), "ACCEPT")
        expect("once", check(server, serial=token["serial"], **{"pass": "p" + answer["code"]}), "REJECT")
        soon, _ = approve("code", token["serial"], "--time", str(int(time.time()) + 90))
        expect("90 s ahead is accepted", check(server, serial=token["serial"], **{"pass": "p" + soon["code"]}), "ACCEPT")
        late, _ = approve("code", token["serial"], "--time", str(int(time.time()) + 400))
        expect("400 s ahead is not", check(server, serial=token["serial"], **{"pass": "p" + late["code"]}), "REJECT")
        answer, status = approve("open", token["googleurl"]["value"], "--force")
        expect("the same again is refused", (status, code(answer)), (15, "exists"))
        for fields in ({"otplen": 8, "timeStep": 60, "hashlib": "sha256"}, {"timeStep": 60, "hashlib": "sha512"}):
            token = enrol(type="totp", genkey=1, pin="p", **fields)
            approve("open", token["googleurl"]["value"], "--force")
            answer, status = approve("code", token["serial"])
            expect(f"{fields['hashlib']} is accepted", check(server, serial=token["serial"], **{"pass": "p" + answer["code"]}), "ACCEPT")
        token = enrol(type="hotp", otpkey="000102030405060708090a0b0c0d0e0f10111213", pin="p")
        answer, status = approve("open", token["googleurl"]["value"], "--force")
        first, _ = approve("code", token["serial"])
        second, _ = approve("code", token["serial"])
        seed = "000102030405060708090a0b0c0d0e0f10111213"
        expect("HOTP counts on", [first["code"], second["code"]], [oath.hotp(seed, 1), oath.hotp(seed, 2)])
        expect("a counter has no seconds", first["secondsLeft"], None)
        expect("the second is accepted", check(server, serial=token["serial"], **{"pass": "p" + second["code"]}), "ACCEPT")
        expect("the first is not after it", check(server, serial=token["serial"], **{"pass": "p" + first["code"]}), "REJECT")
        held = [account["name"] for account in ykit("oath", "list")[0]["accounts"]]
        answer, status = approve("logout", token["serial"], "--force")
        left = [account["name"] for account in ykit("oath", "list")[0]["accounts"]]
        expect("ending an account deletes its secret from the key", (status, answer.get("keyDeleted"), len(held) - len(left)), (0, True, 1))
        answer, status = approve("code", "nothing")
        expect("no such account", (status, code(answer)), (12, "no-such-account"))
        answer, status = approve("code")
        expect("several accounts", (status, code(answer)), (4, "several-accounts"))
        answer, status = approve("open", "otpauth://totp/x?secret=!", "--force")
        expect("a broken link", (status, code(answer)), (13, "malformed"))


def is_hash_of(stored, text):
    """Whether a `$pbkdf2-sha512$rounds$salt$hash` matches a text."""
    _, _, rounds, salt, wanted = stored.split("$")
    salt, wanted = (base64.b64decode(part.replace(".", "+") + "=" * (-len(part) % 4)) for part in (salt, wanted))
    return hashlib.pbkdf2_hmac("sha512", text.encode(), salt, int(rounds)) == wanted


def test_offline_logins():
    """Flow 27: a key's codes for a computer that checks them offline and fetches more with one."""
    with own_tokens() as server:
        token = server.admin("POST", "/token/init", type="hotp", user="alice", realm="test", pin="p",
                             otpkey="000102030405060708090a0b0c0d0e0f10111213")["detail"]
        approve("open", token["googleurl"]["value"], "--force")
        server.admin("POST", "/machine/token", serial=token["serial"], application="offline", count=5, rounds=1000)
        first = approve("code", token["serial"])[0]["code"]
        answer = server.call("POST", "/validate/check", user="alice", **{"pass": "p" + first})
        given = (answer.get("auth_items") or {}).get("offline", [{}])[0]
        expect("a code is accepted, and the computer is given hashes of later ones", (answer.authentication, len(given.get("response", {}))), ("ACCEPT", 5))
        codes = [approve("code", token["serial"])[0]["code"] for _ in range(5)]
        matched = [any(is_hash_of(stored, "p" + each) for stored in given["response"].values()) for each in codes]
        expect("the key's next five codes are those", matched, [True] * 5)
        refill = server.call("POST", "/validate/offlinerefill", serial=token["serial"], refilltoken=given["refilltoken"], **{"pass": "p" + codes[4]})
        expect("the last of them fetches more", (refill.status, bool(refill.get("auth_items"))), (200, True))


def test_two_steps():
    """Flow 14: half of the secret comes from the key."""
    with own_tokens() as server, contextlib.ExitStack() as after:
        server.policy("two-step")
        after.callback(server.policy, "two-step", False)
        token = server.admin("POST", "/token/init", type="totp", user="alice", realm="test", genkey=1, pin="p", **{"2stepinit": 1})["detail"]
        answer, status = approve("open", token["googleurl"]["value"], "--force")
        expect("two-step enrolment", (status, len(answer["enter"])), (0, 20))
        wrong = server.call("POST", "/token/init", token=server.token, type="totp", serial=token["serial"], user="alice", realm="test",
                            otpkey="A" + answer["enter"][1:] if answer["enter"][0] != "A" else "B" + answer["enter"][1:], otpkeyformat="base32check")
        expect("a mistyped part is refused", wrong.status, 400)
        server.admin("POST", "/token/init", type="totp", serial=token["serial"], user="alice", realm="test", otpkey=answer["enter"],
                     otpkeyformat="base32check", pin="p")
        made, status = approve("code", token["serial"])
        expect("codes of the common secret are accepted", check(server, serial=token["serial"], **{"pass": "p" + made["code"]}), "ACCEPT")


def container(server, *tokens, **more):
    """Creates a container with tokens, and the link that registers it."""
    serial = server.admin("POST", "/container/init", type="smartphone", user="alice", realm="test").value["container_serial"]
    for token in tokens:
        server.admin("POST", f"/container/{serial}/add", serial=token)
    return serial, link(server, serial, **more)


def link(server, serial, **more):
    answer = server.admin("POST", "/container/register/initialize", container_serial=serial, **more)
    return answer.value["container_url"]["value"]


def token(server, **fields):
    return server.admin("POST", "/token/init", user="alice", realm="test", genkey=1, **fields)["detail"]["serial"]


def test_containers():
    """Flows 22 and 31: registration, synchronization, another key, leaving."""
    with own_tokens() as server:
        totp, hotp, push = (token(server, type=kind) for kind in ("totp", "hotp", "push"))
        serial, url = container(server, totp, hotp, push)
        store = ["--store", f"{WORK}/container.json"]
        answer, status = approve("qr-type", url)
        expect("its link is a container's", (answer["type"], answer["serial"]), ("container", serial))
        answer, status = piv("open", url, "--ca", server.ca, "--force", *store)
        expect("the key is registered", (status, answer["serial"], answer["key"]["slot"]), (0, serial, "82"))
        answer, status = piv("open", url, "--ca", server.ca, "--force", "--store", f"{WORK}/again.json")
        expect("the link is good once", (status, code(answer)), (15, "container-refused"))
        answer, status = piv("sync", "--plan", *store)
        expect("a plan synchronizes nothing", status, 0)
        answer, status = piv("sync", *store)
        expect("first synchronization: everything is new", (status, sorted(answer["addedSerials"]), answer["goneSerials"], answer["pending"]),
               (0, sorted([totp, hotp, push]), [], False))
        made, _ = approve("code", totp, *store)
        expect("the new code is accepted", check(server, serial=totp, **{"pass": made.get("code", "")}), "ACCEPT")
        answer, status = piv("sync", *store)
        expect("second: nothing has a new secret", (status, answer["addedSerials"], sorted(answer["keptSerials"])), (0, [], sorted([totp, hotp, push])))
        made, _ = approve("code", hotp, *store)
        expect("codes are still accepted", check(server, serial=hotp, **{"pass": made.get("code", "")}), "ACCEPT")
        late = token(server, type="totp")
        day = token(server, type="daypassword")
        for added in (late, day):
            server.admin("POST", f"/container/{serial}/add", serial=added)
        server.admin("POST", f"/container/{serial}/remove", serial=hotp)
        answer, status = piv("sync", *store)
        expect("one is new, one is gone", (status, answer["addedSerials"], answer["goneSerials"]), (0, [late], [hotp]))
        expect("a kind that no key holds is left out", "unsupported" in [warning["code"] for warning in answer["warnings"]])
        server.admin("POST", f"/container/{serial}/remove", serial=day)
        answer, status = piv("sync", *store, key="stranger.json")
        expect("another key cannot synchronize", status != 0)

        answer, status = approve("migrate", "check", *store)
        expect("it can be moved", (status, answer["possible"], len(answer["containers"])), (0, True, 1))
        raw("virtual", "new", f"{WORK}/new-key.json")
        answer, status = approve("migrate", "run", "--to", f"{WORK}/new-key.json", "--force", *store,
                                 secrets=[("--pin-fd", PIN), ("--to-pin-fd", PIN)])
        expect("it is moved", (status, sorted(answer["addedSerials"])), (0, sorted([totp, late, push])))
        made, _ = approve("code", totp, *store, key="new-key.json")
        expect("codes of the other key are accepted", check(server, serial=totp, **{"pass": made.get("code", "")}), "ACCEPT")
        old, _ = approve("code", late, *store)
        expect("those of the old key are not", check(server, serial=late, **{"pass": old.get("code", "")}), "REJECT")
        answer, status = piv("sync", *store)
        expect("the old key cannot synchronize", status != 0)
        answer, status = piv("sync", *store, key="new-key.json")
        expect("the other key can", (status, answer["addedSerials"]), (0, []))

        # An account that cannot be written stays sealed in the store, and is written once its name is free.
        full = token(server, type="totp")
        server.admin("POST", f"/container/{serial}/add", serial=full)
        other = raw("--virtual", f"{WORK}/new-key.json", "oath", "add", f"privacyIDEA:{full}", "--secret-stdin", stdin="GEZDGNBVGY3TQOJQ\n")
        answer, status = piv("sync", *store, key="new-key.json")
        expect("a name that is taken", (other.returncode, status, code(answer), answer["pending"]), (0, 15, "exists", True))
        raw("--virtual", f"{WORK}/new-key.json", "oath", "delete", f"privacyIDEA:{full}", "--force")
        answer, status = piv("sync", *store, key="new-key.json")
        expect("the secret was kept", (status, answer["addedSerials"], answer["pending"]), (0, [full], False))
        made, _ = approve("code", full, *store, key="new-key.json")
        expect("and is the server's", check(server, serial=full, **{"pass": made.get("code", "")}), "ACCEPT")

        answer, status = approve("logout", serial, "--force", *store, key="new-key.json", secrets=[("--pin-fd", PIN)])
        expect("the container is left", (status, answer["serverInformed"], answer["keyDeleted"]), (0, True, True))
        answer, status = piv("sync", *store, key="new-key.json")
        expect("and is not in the store any more", (status, code(answer)), (12, "no-such-account"))


def noted(words, log, record, **more):
    """Runs a verb with a recording and the log of everything; returns its answer, status, and all that was written."""
    # A recording has one kind of link: FIDO2, which opens the store, goes through the reader as PIV does.
    answer, status = ykit("--link", "pcsc", "--log-level", "traffic", "--log-file", log, "approve", *words, record=record, **more)
    return answer, status, json.dumps(answer) + "".join(pathlib.Path(path).read_text() for path in (log, record) if os.path.exists(path))


def test_secrets():
    """No seed, response, passphrase or PIN in recordings, logs and answers of what enrols, answers and synchronizes."""
    with Server("--repair-tiqr") as server:
        store = ["--store", f"{WORK}/secrets.json"]
        runs, hidden = [], {"PIN": PIN.encode().hex()}

        def run_of(name, *words, **more):
            answer, status, text = noted([*words, *store], f"{WORK}/{name}.txt", f"{WORK}/{name}.jsonl", **more)
            expect(f"{name}: done", (status, answer["error"], os.path.exists(f"{WORK}/{name}.jsonl")), (0, None, True))
            runs.append((name, text))
            return answer

        tiqr_token = server.admin("POST", "/token/init", type="tiqr", user="alice", realm="test", pin="1111")["detail"]
        link = tiqr_token["tiqrenroll"]["value"]
        run_of("tiqr-enrolment", "open", link, "--force")
        recorded = pathlib.Path(f"{WORK}/tiqr-enrolment.jsonl").read_text()
        expect("the enrolment's secret was sent, and is overwritten", "secret=<hidden>" in recorded)
        challenge = log_in(server)[0]["attributes"]["value"]
        made, _ = approve("offline", "--text", challenge, *store)
        hidden["TiQR response"] = f"response={made['code']}"
        run_of("tiqr-answer", "open", challenge, "--force")
        expect("the answer was sent, and is overwritten", "response=<hidden>" in pathlib.Path(f"{WORK}/tiqr-answer.jsonl").read_text())
        totp = server.admin("POST", "/token/init", type="totp", user="alice", realm="test", genkey=1)["detail"]
        hidden["seed"] = totp["otpkey"]["value"].removeprefix("seed://")
        hidden["seed in Base32"] = base64.b32encode(bytes.fromhex(hidden["seed"])).decode().rstrip("=")
        run_of("totp", "open", totp["googleurl"]["value"], "--force")
        hidden["link of a seed"] = "otpauth://totp"
        serial, url = container(server, token(server, type="totp"), passphrase_prompt="Name of your first cat?", passphrase_response="Mimi-the-cat")
        hidden["passphrase"] = "Mimi-the-cat"
        run_of("container", "open", url, "--force", secrets=[("--pin-fd", PIN), ("--answer-fd", "Mimi-the-cat")])
        run_of("sync", "sync", serial, secrets=[("--pin-fd", PIN)])
        for name, text in runs:
            expect(f"{name}: no secret is written", [what for what, secret in hidden.items() if secret in text], [])


def test_passphrases():
    """Flow 31: a container that asks a question."""
    with own_tokens() as server:
        serial, url = container(server, passphrase_prompt="Name of your first cat?", passphrase_response="Mütze")
        store = ["--store", f"{WORK}/phrase.json"]

        def answered(text):
            return approve("open", url, "--ca", server.ca, "--force", *store, secrets=[("--pin-fd", PIN), ("--answer-fd", text)])

        answer, status = answered("Rex")
        expect("a wrong answer is refused", (status, code(answer)), (8, "container-signature"))
        answer, status = approve("enroll", url, "--ca", server.ca, "--force", *store, secrets=[("--pin-fd", PIN)])
        expect("a question needs an answer", (status, code(answer)), (17, "no-terminal"))
        answer, status = answered("Mütze")
        expect("the right one is accepted", (status, answer["serial"]), (0, serial))
        answer, status = approve("migrate", "check", "--store", f"{WORK}/nothing.json")
        expect("nothing to move", (status, code(answer)), (12, "nothing-to-move"))


def test_desktop():
    """The desktop file is found for each scheme."""
    folder = pathlib.Path(f"{WORK}/data/applications")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(f"{ROOT}/tools/build/desktop/ykit-approve.desktop", folder)
    os.makedirs(f"{WORK}/bin", exist_ok=True)
    os.symlink(YKIT, f"{WORK}/bin/ykit")
    for scheme in ("pia", "tiqrauth", "tiqrenroll", "otpauth"):
        kind = f"x-scheme-handler/{scheme}"
        done = subprocess.run(["gio", "mime", kind, "ykit-approve.desktop"], capture_output=True, text=True,
                              env={**environment(), "PATH": f"{WORK}/bin:{os.environ['PATH']}"})
        chosen = pathlib.Path(f"{WORK}/config/mimeapps.list").read_text() if done.returncode == 0 else done.stderr
        expect(f"a desktop opens {scheme}:// with ykit", f"{kind}=ykit-approve.desktop" in chosen)
