# SPDX-License-Identifier: Apache-2.0
"""Push approvals between ykit and privacyIDEA: accounts, requests, answers, and everything that must be refused.

YKIT is the ykit to test.
"""

import base64
import email.utils
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "privacyidea"))
from bad_server import BadServer
from server import WORK, Server, code, environment, raw, start, ykit

from lib.peer import ROOT, YKIT, QuietHandler, expect, parts
from lib.terminal import Terminal

PIN = {"YKIT_PIN": "123456"}
SERVER = None


def server():
    """One server for all parts."""
    global SERVER
    SERVER = SERVER or Server("--tls", "--small-keys")
    return SERVER


def link(user="alice", **more):
    """A new push token of a user: its link and its serial number."""
    detail = server().admin("POST", "/token/init", type="push", user=user, realm="test", genkey=1, pin="2222", **more)["detail"]
    return detail["pushurl"]["value"], detail["serial"]


def approve(*words, env=None, **more):
    """Runs a verb of `ykit approve`; returns its answer and exit status."""
    return ykit("approve", *words, env={**PIN, **(env or {})}, **more)


def fresh(user="alice", *options, key="key.json", store="accounts.json"):
    """An account on a key, and nothing else in the store; the user has no other token at the server."""
    server().remove_tokens(user)
    for name in (store, store.replace(".json", "-history.jsonl")):
        pathlib.Path(WORK, name).unlink(missing_ok=True)
    pathlib.Path(WORK, key).unlink(missing_ok=True)
    text, serial = link(user)
    answer, status = approve("enroll", text, "--force", "--ca", server().ca, "--store", f"{WORK}/{store}", *options, key=key)
    if status != 0:
        expect("enrolled for what follows", (status, answer))
    return serial


def verb(*words, **more):
    return approve(*words, "--store", f"{WORK}/accounts.json", **more)


def log_in(user="alice"):
    """Starts a login as a service; returns its transaction and what it shows."""
    answer = server().call("POST", "/validate/check", user=user, **{"pass": "2222"})
    return answer["detail"]["transaction_id"], answer["detail"]["message"]


def status_of(transaction):
    return server().call("GET", "/validate/polltransaction", transaction_id=transaction)["detail"]["challenge_status"]


def finish(transaction, user="alice", secret=""):
    return server().call("POST", "/validate/check", user=user, transaction_id=transaction, **{"pass": secret}).authentication


def test_enrolment():
    store = ("--store", f"{WORK}/enrolment.json")
    text, serial = link()
    forged = re.sub("enrollment_credential=[0-9a-f]+", "enrollment_credential=" + 40 * "0", text)
    answer, status = approve("enroll", forged, "--force", "--ca", server().ca, *store)
    expect("a wrong credential is refused", (status, code(answer)), (8, "enrolment-refused"))
    expect("and the key that was made is removed again", ykit("piv", "keys", "info", "82")[1], 12)
    answer, status = approve("enroll", text, "--force", *store)
    expect("a server without a trusted certificate is not enrolled at", (status, code(answer)), (16, "server-not-trusted"))
    answer, status = approve("enroll", text.replace("v=1", "v=2"), "--force", "--ca", server().ca, *store)
    expect("another version of the link", (status, code(answer)), (11, "not-supported"))
    answer, status = approve("enroll", text, "--force", "--algorithm", "ecc-p256", *store)
    expect("a key that is not RSA is refused by name", (status, "rsa2048" in str(answer["error"])), (2, True))
    answer, status = approve("enroll", text, *store)
    expect("without a terminal nobody agrees to the server", (status, code(answer)), (17, "no-terminal"))
    plan = raw("--virtual", f"{WORK}/key.json", "approve", "enroll", text, "--force", "--plan", "--ca", server().ca, *store)
    expect("a plan enrols nothing", (plan.returncode, "not sent" in plan.stdout), (0, True))
    token = server().admin("GET", "/token/", serial=serial).value["tokens"][0]
    expect("the server waits all this time", token["rollout_state"], "clientwait")
    answer, status = approve("enroll", text, "--force", "--ca", server().ca, *store)
    expect("the account is enrolled and proved", (status, answer["proven"], answer["attested"], answer["key"]["slot"]), (0, True, True, "82"))
    token = server().admin("GET", "/token/", serial=serial).value["tokens"][0]
    expect("the server says so, too", (token["rollout_state"], token["info"].get("polling_allowed", "True")), ("enrolled", "True"))
    expect("the server has the key in the slot", "".join(answer["publicKey"].splitlines()[1:-1]).rstrip("="),
           re.sub(r"[\s=]", "", token["info"]["public_key_smartphone"].replace("-", "+").replace("_", "/")))
    answer, status = approve("enroll", text, "--force", "--ca", server().ca, *store)
    expect("the same account again", (status, code(answer)), (15, "exists"))
    used, _ = link()
    answer, status = approve("enroll", used, "--force", "--ca", server().ca, *store, "--name", "second")
    expect("a second account takes the next slot", (status, answer["key"]["slot"], answer["name"]), (0, "83", "second"))
    answer, status = approve("enroll", used, "--force", "--ca", server().ca, "--store", f"{WORK}/used.json", key="other.json")
    expect("a link that was used", (status, code(answer)), (8, "enrolment-refused"))
    third, _ = link()
    answer, status = approve("enroll", third, "--force", "--ca", server().ca, *store, "--slot", "83")
    expect("a slot with a key is not touched", (status, code(answer)), (15, "slot-in-use"))
    answer, status = approve("enroll", third.replace("sslverify=1", "sslverify=0"), "--force", *store)
    expect("the link cannot switch the verification off", (status, code(answer)), (16, "server-not-trusted"))
    answer, status = approve("enroll", third, "--force", "--ca", server().ca, *store, "--slot", "9a", "--touch", "always")
    expect("slot 9a and a touch each time", (status, answer["key"]["slot"], answer["key"]["touchPolicy"]), (0, "9a", "always"))
    fourth, _ = link()
    answer, status = approve("enroll", fourth, "--force", "--ca", server().ca, *store, "--software", "--passphrase-fd", "0",
                             stdin="correct horse\n")
    expect("a key in software", (status, answer["key"]), (0, {"kind": "software"}))
    listed, status = approve("accounts", *store)
    expect("all accounts are listed", (status, [account["key"]["kind"] for account in listed["accounts"]]), (0, ["piv", "piv", "piv", "software"]))
    text = pathlib.Path(WORK, "enrolment.json").read_text()
    expect("the link's credential is not kept", re.search(r"enrollment_credential=([0-9a-f]+)", fourth).group(1) in text, False)
    pinned, _ = link()
    wrong = ("--server-pin", "sha256/" + 43 * "A" + "=", "--server-pin", "sha256/" + 42 * "A" + "E=")
    answer, status = approve("enroll", pinned, "--force", "--ca", server().ca, *store, *wrong)
    expect("another pin", (status, code(answer)), (16, "server-pin"))
    answer, status = approve("enroll", pinned, "--force", "--ca", server().ca, *store, "--server-pin", server().pin, *wrong[:2])
    expect("one of two pins", (status, answer.get("proven")), (0, True))


def certificate(name):
    """A certificate of localhost with a key of its own: its file, with the key, and the key's pin."""
    file = f"{WORK}/{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{file}.key", "-out",
                    f"{file}.crt", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    pathlib.Path(file).write_text(pathlib.Path(f"{file}.key").read_text() + pathlib.Path(f"{file}.crt").read_text())
    public = subprocess.run(["openssl", "pkey", "-in", f"{file}.key", "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
    return file, "sha256/" + base64.b64encode(hashlib.sha256(public).digest()).decode()


def test_kept_pins():
    """An account remembers its pins: a server with another key, though its certificate verifies, is sent nothing."""
    server().remove_tokens()
    (first, first_pin), (spare, spare_pin), (other, other_pin) = (certificate(name) for name in ("first", "spare", "other"))
    pathlib.Path(WORK, "authorities.pem").write_text("".join(pathlib.Path(f"{file}.crt").read_text() for file in (first, spare, other)))
    store = ("--store", f"{WORK}/pinned.json")
    try:
        with BadServer(server().http, first) as front:
            server().admin("POST", "/policy/pinned", scope="enrollment", active=True, priority=1,
                           action={"push_registration_url": f"{front.url}/ttype/push", "push_firebase_configuration": "poll only"})
            answer, status = approve("enroll", link()[0], "--force", "--touch", "never", "--ca", f"{WORK}/authorities.pem", "--server-pin", first_pin,
                                     "--server-pin", spare_pin, *store, key="pinned-key.json")
            expect("enrolled with two pins", (status, answer.get("proven")), (0, True))
            port = front.port
        with BadServer(server().http, other, port) as front:
            for words in (("list",), ("yes",), ("address", answer["serial"], "desk-7")):
                said, status = approve(*words, *store, key="pinned-key.json")
                expect(f"{words[0]}: another key of the server is refused and shown, nothing is sent",
                       (status, code(said), other_pin in said["error"]["message"], front.asked), (16, "server-pin", True, []))
        with BadServer(server().http, spare, port) as front:
            expect("the key of the other pin is trusted", (approve("list", *store, key="pinned-key.json")[1], len(front.asked)), (0, 1))
    finally:
        server().admin("DELETE", "/policy/pinned")


def test_links():
    """The link as a picture and with the other scheme, and keys of other lengths and slots."""
    server().remove_tokens()
    store = ("--store", f"{WORK}/links.json")
    pathlib.Path(WORK, "links-key.json").unlink(missing_ok=True)

    def enrolled(*words):
        return approve("enroll", *words, "--force", "--ca", server().ca, *store, key="links-key.json")
    text, serial = link()
    if shutil.which("qrencode") and shutil.which("zbarimg"):
        subprocess.run(["qrencode", "-o", f"{WORK}/link.png", text], check=True)
        answer, status = enrolled("--qr", f"{WORK}/link.png")
        expect("enrolled from a picture", (status, answer.get("proven"), answer.get("serial")), (0, True, serial))
        subprocess.run(["qrencode", "-o", f"{WORK}/other.png", "https://example.com/pipush"], check=True)
        answer, status = enrolled("--qr", f"{WORK}/other.png")
        expect("a picture without a link of this kind", (status, answer["ok"]), (13, False))
        pathlib.Path(WORK, "empty.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        expect("a picture that is cut off", enrolled("--qr", f"{WORK}/empty.png")[1], 13)
    else:
        print("skip enrolment from a picture: qrencode or zbarimg is missing")
    server().admin("POST", "/policy/scheme", scope="enrollment", active=True, action={"push_use_pia_scheme": True})
    try:
        text, serial = link()
        expect("the other scheme", text.split(":")[0], "pia")
        answer, status = approve("enroll", "-", "--force", "--ca", server().ca, *store, "--slot", "9e", "--pin-policy", "never", "--touch", "always",
                                 key="links-key.json", stdin=text + "\n")
        expect("enrolled by it, from standard input, in slot 9e", (status, answer.get("proven"), answer["key"]["slot"]), (0, True, "9e"))
    finally:
        server().admin("DELETE", "/policy/scheme")
    text, serial = link()
    answer, status = enrolled(text, "--algorithm", "rsa3072", "--name", "long")
    expect("a key of 3072 bits", (status, answer.get("proven"), len(answer.get("publicKey") or "") > 550), (0, True, True))
    transaction, _ = log_in()
    requests = approve("list", "--account", "long", *store, key="links-key.json")[0]["requests"]
    answer, status = approve("yes", requests[0]["id"], "--account", "long", *store, key="links-key.json")
    expect("which approves", (status, status_of(transaction)), (0, "accept"))


def test_self_enrolment():
    server().remove_tokens()
    store = ("--store", f"{WORK}/self.json")
    words = ("enroll", "--server", server().url, "--user", "alice", "--ca", server().ca, "--force", *store)
    answer, status = approve(*words, secrets=[("--password-fd", "wrong\n")])
    expect("a wrong password", (status, code(answer)), (8, "credentials"))
    record, log = f"{WORK}/self.jsonl", f"{WORK}/self.txt"
    answer, status = ykit("--log-level", "traffic", "--log-file", log, "approve", *words, secrets=[("--password-fd", "secret\n")], env=PIN,
                          record=record)
    text = json.dumps(answer) + pathlib.Path(record).read_text() + pathlib.Path(log).read_text()
    credential = re.findall(r'enrollment_credential(?:=|\\?": *\\?")([^\\"&]+)', text)
    expect("no password, token, credential or PIN is in the recording and log",
           ([what for what in (r'password[\\":= ]+secret', "eyJhbGci", b"123456".hex()) if re.search(what, text)], set(credential)), ([], {"<hidden>"}))
    expect("enrolled with the user's password", (status, answer.get("proven")), (0, True))
    serial, slot = answer["serial"], answer["key"]["slot"]
    log, status = approve("history", "--server", "--user", "alice", *store, secrets=[("--password-fd", "secret\n")])
    expect("the server's log of the account", (status, any(entry["serial"] == serial for entry in log["log"])), (0, True))
    server().admin("POST", "/policy/web", scope="webui", active=True, action={"login_mode": "privacyIDEA"})
    try:
        given = server().admin("POST", "/token/init", type="registration", user="alice", realm="test")["detail"]["registrationcode"]
        answer, status = approve(*words, "--name", "by code", secrets=[("--password-fd", given + "\n")])
        expect("enrolled with a registration code", (status, answer.get("proven")), (0, True))
        answer, status = approve(*words, secrets=[("--password-fd", given + "\n")])
        expect("which is good once", (status, code(answer)), (8, "credentials"))
    finally:
        server().admin("DELETE", "/policy/web")
    answer, status = approve("logout", serial, "--user", "alice", "--force", *store, secrets=[("--password-fd", "secret\n")])
    expect("logged out everywhere", (status, answer["serverInformed"], answer["keyDeleted"]), (0, True, True))
    expect("the server has no such token", server().call("GET", "/token/", token=server().token, serial=serial).value["count"], 0)
    expect("the slot is empty", ykit("piv", "keys", "info", slot)[1], 12)


def test_approving():
    serial = fresh()
    answer, status = verb("list")
    expect("nothing is open", (status, answer["requests"]), (0, []))
    answer, status = verb("yes")
    expect("nothing to approve", (status, code(answer)), (12, "no-request"))
    transaction, _ = log_in()
    expect("the log-in waits", status_of(transaction), "pending")
    answer, status = verb("list")
    request = answer["requests"][0]
    expect("the request is listed", (status, request["question"], request["title"], request["verified"], request["numbers"]),
           (0, "Sign in from 127.0.0.1?", "ykit test", True, None))
    record = f"{WORK}/list.jsonl"
    recorded, status = verb("list", record=record)
    text = pathlib.Path(record).read_text()
    replayed = raw("--replay", record, "--json", "approve", "list", "--store", f"{WORK}/accounts.json", env=PIN)
    expect("a recording has the server's part, and no PIN", (status, '"h":' in text, b"123456".hex() in text), (0, True, False))
    expect("it is replayed without key and server", (replayed.returncode, json.loads(replayed.stdout)["requests"]), (0, recorded["requests"]))
    shown, status = verb("show", request["id"][:8].lower())
    expect("and shown", (status, shown["request"]["id"]), (0, request["id"]))
    answer, status = verb("yes")
    expect("without a terminal the identifier has to be whole", (status, code(answer)), (17, "no-terminal"))
    expect("so nothing was approved", status_of(transaction), "pending")
    answer, status = verb("yes", request["id"])
    expect("approved", (status, answer["decision"], answer["accepted"], answer["displayCode"]), (0, "approved", True, None))
    expect("the service sees it", (status_of(transaction), finish(transaction)), ("accept", "ACCEPT"))
    expect("once", finish(transaction), "REJECT")
    answer, status = verb("yes", request["id"])
    expect("an answered request", (status, code(answer)), (12, "answered"))
    history, status = verb("history")
    event = history["events"][-1]
    expect("the history has both signatures", (status, event["decision"], event["accepted"], event["challenge"]["nonce"], history["intact"],
                                               event["text"], len(event["signature"]) > 400, len(event["challenge"]["signature"]) > 400),
           (0, "approved", True, request["id"], True, f"{request['id']}|{serial}", True, True))
    file = pathlib.Path(history["file"])
    expect("only its owner reads it", file.stat().st_mode & 0o777, 0o600)
    text = file.read_text()
    file.write_text(text.replace("Sign in from", "Sign  in from"))
    log_in()
    request = verb("list")[0]["requests"][0]
    verb("no", request["id"])
    answer, status = verb("history")
    expect("a changed line is noticed", (answer["intact"], len(answer["warnings"])), (False, 1))
    file.write_text(text)
    answer, status = verb("history")
    expect("and a missing one at the end", (answer["intact"], len(answer["events"])), (False, 1))
    transaction, _ = log_in()
    plan = raw("--virtual", f"{WORK}/key.json", "approve", "yes", "--plan", "--store", f"{WORK}/accounts.json", env=PIN)
    expect("a plan shows the texts and sends nothing", (plan.returncode, f"sign 'NONCE|{serial}'" in plan.stdout, status_of(transaction)), (0, True, "pending"))


def test_declining():
    fresh()
    for options, challenge, decision in (((), "declined", "declined"), (("--fraud",), "declined", "declined"), (("--cancelled",), "cancelled", "cancelled")):
        transaction, _ = log_in()
        answer, status = verb("no", *options)
        expect(f"declined {options}", (status, answer["decision"], answer["accepted"], status_of(transaction), finish(transaction)),
               (0, decision, True, challenge, "REJECT"))
    entries = server().admin("GET", "/audit/", action="*ttype*", pagesize=10, sortorder="desc").value["auditdata"]
    reasons = " ".join(entry["action_detail"] or "" for entry in entries)
    expect("the server knows the reasons", ("unknown_trigger" in reasons, "cancelled" in reasons), (True, True))


def test_presence():
    fresh()
    server().policy("push-presence")
    try:
        transaction, message = log_in()
        number = message.rsplit(": ", 1)[1]
        request = verb("list")[0]["requests"][0]
        wrong = [one for one in request["numbers"] if one != number]
        expect("numbers are offered", (number in request["numbers"], len(request["numbers"])), (True, 3))
        answer, status = verb("yes", request["id"])
        expect("a number is needed", (status, code(answer), [one["name"] for one in answer["error"]["candidates"]]), (2, "number-needed", request["numbers"]))
        answer, status = verb("yes", request["id"], "--number", "9999")
        expect("one that is offered", (status, code(answer)), (2, "number-not-offered"))
        answer, status = verb("yes", request["id"], "--number", wrong[0])
        expect("a wrong number", (status, code(answer)), (8, "wrong-number"))
        answer, status = verb("yes", request["id"], "--number", number)
        expect("the right number", (status, answer["accepted"], status_of(transaction), finish(transaction)), (0, True, "accept", "ACCEPT"))
        transaction, message = log_in()
        request = verb("list")[0]["requests"][0]
        wrong = [one for one in request["numbers"] if one != message.rsplit(": ", 1)[1]]
        statuses = [verb("yes", request["id"], "--number", one)[1] for one in wrong]
        answer, status = verb("yes", request["id"], "--number", message.rsplit(": ", 1)[1])
        expect("two wrong numbers, and no third try", (statuses, status, code(answer)), ([8, 8], 9, "too-many-numbers"))
        answer, status = verb("no", request["id"], "--fraud")
        expect("declining needs no number", (status, status_of(transaction)), (0, "declined"))
        transaction, message = log_in()
        request = verb("list")[0]["requests"][0]
        offered = request["numbers"]
        wrong = offered.index(next(one for one in offered if one != message.rsplit(": ", 1)[1])) + 1
        with Terminal([YKIT, "--virtual", f"{WORK}/key.json", "approve", "yes", "--store", f"{WORK}/accounts.json"], environment(PIN)) as person:
            at = 0
            for _ in range(2):
                at = person.expect("which number", after=at)
                person.type(f"{wrong}\r")
                at = person.expect(r"Approve\? \[y/N\]", after=at)
                person.type("y\r")
            at = person.expect("Decline it, as not started by you", after=at)
            person.type("y\r")
            expect("after two wrong numbers declining is offered", (person.wait(), status_of(transaction)), (0, "declined"))
    finally:
        server().policy("push-presence", False)


def test_display_code():
    fresh()
    server().policy("push-code")
    try:
        transaction, _ = log_in()
        request = verb("list")[0]["requests"][0]
        answer, status = verb("yes", request["id"])
        shown = answer["displayCode"]
        expect("the code to type", (status, answer["accepted"], len(shown or "")), (0, True, 2))
        expect("which the service wants", (status_of(transaction), finish(transaction, secret="x"), finish(transaction, secret=shown)),
               ("pending", "REJECT", "ACCEPT"))
    finally:
        server().policy("push-code", False)


def test_waiting():
    """Flow 28: a service that waits for the answer in one request."""
    fresh()
    server().policy("push-wait")
    answers = []
    service = threading.Thread(target=lambda: answers.append(server().call("POST", "/validate/check", user="alice", **{"pass": "2222"})))
    service.start()
    try:
        end = time.monotonic() + 15
        while time.monotonic() < end and not (found := verb("list")[0].get("requests")):
            time.sleep(0.2)
        answer, status = verb("yes", found[0]["id"])
        expect("approved while the service waits", (status, answer.get("accepted")), (0, True))
        service.join(30)
        expect("and its one request is answered", [each.authentication for each in answers], ["ACCEPT"])
    finally:
        server().policy("push-wait", False)


def test_several():
    fresh()
    first, _ = log_in()
    second, _ = log_in()
    answer, status = verb("yes")
    expect("two open requests", (status, code(answer), len(answer["error"]["candidates"])), (4, "several-requests", 2))
    words = [os.environ.get("YKIT_REAL", YKIT), "--virtual", f"{WORK}/key.json", "approve", "yes", "--store", f"{WORK}/accounts.json"]
    with Terminal(words, environment(PIN)) as terminal:
        place = terminal.expect("(?s)which request.*Esc cancels")
        terminal.type("2\r")
        terminal.expect(r"Approve\? \[y/N\]", 20, place or 0)
        terminal.type("n\r")
        expect("a menu at the terminal", (place is not None, terminal.wait(), status_of(first), status_of(second)), (True, 17, "pending", "pending"))
    requests = verb("list")[0]["requests"]
    answer, status = verb("no", requests[0]["id"][:8])
    expect("the first is the oldest", (status, status_of(first), status_of(second)), (0, "declined", "pending"))
    answer, status = verb("yes", requests[1]["id"])
    expect("the other is approved", (status, status_of(second)), (0, "accept"))
    answer, status = verb("yes", "AAAAAAAA")
    expect("an unknown one", (status, code(answer)), (12, "no-request"))
    answer, status = verb("yes", "AAAA")
    expect("too short an identifier", status, 2)


def test_person():
    """What a user at a terminal sees, and each question answered with ^C and ^D."""
    fresh()
    # The program itself, since ^C would also end the one that records it.
    words = [os.environ.get("YKIT_REAL", YKIT), "--virtual", f"{WORK}/key.json", "approve", "yes", "--store", f"{WORK}/accounts.json"]
    transaction, _ = log_in()
    for name, keys, wanted in (("^C", "\x03", 130), ("^D", "\x04", 130), ("an empty line", "\r", 17), ("n", "n\r", 17)):
        with Terminal(words, environment(PIN)) as terminal:
            asked = terminal.expect(r"Approve\? \[y/N\]")
            terminal.type(keys)
            expect(f"{name} at the question signs nothing", (terminal.wait(), asked is not None, status_of(transaction)), (wanted, True, "pending"))
    with Terminal(words, environment()) as terminal:
        terminal.expect("PIN")
        terminal.type("\x03")
        expect("^C at the PIN", (terminal.wait(), status_of(transaction)), (130, "pending"))
    with Terminal(words, environment()) as terminal:
        terminal.expect("PIN: ")
        terminal.type("123456\r")
        terminal.expect(r"Approve\? \[y/N\]")
        terminal.type("y\r")
        expect("approved at the terminal", (terminal.wait(), status_of(transaction)), (0, "accept"))
        seen = terminal.seen.decode()
        places = [seen.find(text) for text in ("ykit test", "Sign in from 127.0.0.1?", "  account  ", "localhost:", "  seen ", "Approve?", "approved for")]
        expect("title, question, account, server and age come before the question", (min(places) >= 0, places == sorted(places)), (True, True))
    fresh("alice", "--touch", "always")
    transaction, _ = log_in()
    with Terminal(words, environment(PIN)) as terminal:
        expect(
            "a key that wants a touch each time is asked nothing else",
            (terminal.wait(), "Approve?" in terminal.seen.decode(), status_of(transaction)),
            (0, False, "accept"),
        )


def test_proving():
    """A key that signs without a touch, and a user who is verified with FIDO2 before each approval."""
    server().remove_tokens()
    store = ("--store", f"{WORK}/proving.json")
    text, serial = link()
    words = ("enroll", text, "--force", "--ca", server().ca, "--touch", "never", "--require", "uv", *store)
    pathlib.Path(WORK, "proving-key.json").unlink(missing_ok=True)
    answer, status = approve(*words, key="proving-key.json")
    expect("a key without a FIDO2 PIN is refused", (status, code(answer)), (11, "no-user-verification"))
    expect("before a slot is used", ykit("piv", "keys", "info", "82", key="proving-key.json")[1], 12)
    ykit("fido2", "pin", "set", key="proving-key.json", env={"YKIT_NEW_PIN": "654321"})
    fido = [("--fido-pin-fd", "654321")]
    answer, status = approve(*words, key="proving-key.json", secrets=fido)
    expect("enrolled", (status, answer.get("proven"), answer.get("require"), answer["key"]["touchPolicy"]), (0, True, "uv", "never"))
    expect("the list of accounts says so", approve("accounts", *store)[0]["accounts"][0]["require"], "uv")
    transaction, _ = log_in()
    answer, status = approve("list", *store, key="proving-key.json")
    expect("a list costs no proof", (status, len(answer["requests"])), (0, 1))
    request = answer["requests"][0]["id"]
    answer, status = approve("yes", request, *store, key="proving-key.json", secrets=[("--fido-pin-fd", "000000")])
    expect("a wrong FIDO2 PIN approves nothing", (status, code(answer), status_of(transaction)), (8, "pin-wrong", "pending"))
    answer, status = approve("yes", request, *store, key="proving-key.json", secrets=fido)
    expect("approved after the proof", (status, answer.get("accepted"), status_of(transaction)), (0, True, "accept"))
    transaction, _ = log_in()
    answer, status = approve("no", *store, key="proving-key.json")
    expect("declining needs none", (status, status_of(transaction)), (0, "declined"))
    content = json.loads(pathlib.Path(WORK, "proving.json").read_text())
    pathlib.Path(WORK, "proving.json").write_text(json.dumps(content).replace('"userVerification": "required"', '"userVerification": "preferred"'))
    answer, status = approve("list", *store, key="proving-key.json")
    expect("an account whose proof is not known is not used", (status != 0, answer.get("requests")), (True, None))
    pathlib.Path(WORK, "proving.json").write_text(json.dumps(content))
    ykit("fido2", "reset", "--force", key="proving-key.json")
    ykit("fido2", "pin", "set", key="proving-key.json", env={"YKIT_NEW_PIN": "654321"})
    transaction, _ = log_in()
    answer, status = approve("yes", *store, key="proving-key.json", secrets=fido)
    expect("nor without the credential", (status, code(answer), status_of(transaction)), (8, "other-key", "pending"))


def test_software():
    server().remove_tokens()
    text, _ = link()
    store = ("--store", f"{WORK}/soft.json")
    passphrase = {"YKIT_STORE_PASSPHRASE": "correct horse"}
    answer, status = approve("enroll", text, "--force", "--ca", server().ca, "--software", *store, env=passphrase)
    expect("enrolled in software", (status, answer.get("proven"), len(answer["warnings"]) > 0), (0, True, True))
    transaction, _ = log_in()
    answer, status = approve("list", *store, env={"YKIT_STORE_PASSPHRASE": "wrong"})
    expect("the store's passphrase opens it", (status, code(answer)), (8, "wrong-passphrase"))
    answer, status = approve("list", *store, env=passphrase)
    answer, status = approve("yes", answer["requests"][0]["id"], *store, env=passphrase)
    expect(
        "approved in software, with a warning",
        (status, status_of(transaction), "key-in-software" in [w["code"] for w in answer["warnings"]]), (0, "accept", True)
    )

    answer, status = approve("address", "privacyIDEA", "topic-3", *store, env=passphrase)
    expect("its address can be changed", (status, answer.get("address")), (0, "topic-3"))
    expect("which is kept, and the key still opens",
           (approve("accounts", *store)[0]["accounts"][0]["address"], approve("list", *store, env=passphrase)[1]), ("topic-3", 0))


def test_changes():
    """A new address, a token that is disabled or deleted, another key in the slot, and a store that was moved."""
    serial = fresh()
    server().policy("push-delivered")
    try:
        answer, status = verb("address", serial, "topic-2")
        expect("a new address", (status, answer["address"]), (0, "topic-2"))
        before = len(server().messages("push"))
        text, other = link()
        answer, status = approve("enroll", text, "--force", "--ca", server().ca, "--store", f"{WORK}/delivered.json", "--listen", "desk-1")
        expect("enrolled for delivery: a touch each time", (status, answer["pollOnly"], answer["key"]["touchPolicy"]), (0, False, "always"))
        answer, status = approve("address", other, "desk-2", "--store", f"{WORK}/delivered.json")
        log_in()
        end = time.monotonic() + 10
        while len(server().messages("push")) <= before and time.monotonic() < end:
            time.sleep(0.05)
        sent = [message for message in server().messages("push")[before:] if message.get("push", {}).get("serial") == other]
        expect("delivered to the new address", "desk-2" in json.dumps(sent), True)
        server().admin("DELETE", f"/token/{other}")
    finally:
        server().policy("push-delivered", False)
    expect("an account that answers has no mark", [account["gone"] for account in verb("accounts")[0]["accounts"]], [False])
    answer, status = verb("address", serial, "a|b")
    expect("an address with a bar", (status, code(answer)), (13, "malformed"))
    transaction, _ = log_in()
    server().admin("POST", f"/token/disable/{serial}")
    expect("a disabled token still shows what was open", len(verb("list")[0]["requests"]) > 0, True)
    server().admin("POST", f"/token/enable/{serial}")
    answer, status = verb("list", key="stranger.json")
    expect("another security key", (status, code(answer)), (3, "other-key"))
    moved = f"{WORK}/moved.json"
    answer, status = verb("move-store", moved)
    expect("the store is moved", (status, answer["store"], os.path.exists(f"{WORK}/accounts.json")), (0, moved, False))
    answer, status = approve("list", "--store", moved)
    expect("and works there", (status, len(answer["requests"]) > 0), (0, True))
    ykit("piv", "keys", "delete", "82", "--force")
    answer, status = approve("list", "--store", moved)
    expect("a slot without its key", (status, code(answer)), (8, "other-key"))
    ykit("piv", "keys", "generate", "82", "--algorithm", "rsa2048")
    answer, status = approve("list", "--store", moved)
    expect("a slot with another key", (status, code(answer)), (8, "other-key"))
    answer, status = approve("clear", "--keys", "--force", "--store", moved)
    expect("clearing does not touch it", (status, answer["deletedSlots"]), (0, []))
    expect("the key is still there", ykit("piv", "keys", "info", "82")[1], 0)
    answer, status = approve("clear", "--accounts", "--force", "--store", moved)
    expect("all accounts are removed", (status, answer["accountCount"], approve("accounts", "--store", moved)[0]["accounts"]), (0, 1, []))
    serial = fresh()
    server().admin("DELETE", f"/token/{serial}")
    answer, status = verb("list")
    expect("a token that the server deleted", (status, code(answer)), (8, "poll-refused"))
    expect("stays in the store, marked", [account["gone"] for account in verb("accounts")[0]["accounts"]], [True])
    answer, status = verb("clear", "--keys", "--force")
    expect("clearing deletes its key", (status, answer["deletedSlots"]), (0, ["82"]))


class Proxy(QuietHandler):
    """A proxy that alters what passes."""
    alter = staticmethod(lambda method, status, body: (status, body))
    skew = 0
    drops = False
    target = ""
    protocol_version = "HTTP/1.1"

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + Proxy.skew, usegmt=True)

    def pass_on(self):
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length) if length else None
        if Proxy.drops and data is not None:
            return self.reply(200, {"result": {"status": True, "value": False}, "detail": None})
        request = urllib.request.Request(Proxy.target + self.path, data, method=self.command)
        if data is not None:
            request.add_header("Content-Type", self.headers["Content-Type"])
        try:
            reply = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30)
        except urllib.error.HTTPError as error:
            reply = error
        self.reply(*Proxy.alter(self, reply.status, json.loads(reply.read())))

    def reply(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = pass_on


def test_forgeries():
    """A server that lies: unsigned data is not shown, and nothing is signed for it."""
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{proxy.server_address[1]}"
    Proxy.target = server().http
    honest = Proxy.alter
    server().admin("POST", "/policy/through", scope="enrollment", active=True, priority=1,
                   action={"push_registration_url": f"{address}/ttype/push", "push_firebase_configuration": "poll only"})
    try:
        server().remove_tokens()
        text, serial = link()
        for name in ("lies.json", "lies-history.jsonl"):
            pathlib.Path(WORK, name).unlink(missing_ok=True)
        store = ("--store", f"{WORK}/lies.json")
        answer, status = approve("enroll", text, "--force", *store)
        expect("enrolled through somebody", (status, answer.get("proven")), (0, True))
        transaction, _ = log_in()

        def changed(**members):
            def alter(handler, status, body):
                if handler.command == "GET":
                    for entry in body["result"]["value"]:
                        entry.update(members)
                return status, body
            return alter

        for name, members in (("a forged question", {"question": "Pay 1 CHF?"}), ("a forged title", {"title": "x"}),
                              ("a forged nonce", {"nonce": "A" * 32}), ("added numbers", {"require_presence": "1,2,3"}),
                              ("a signature of nobody", {"signature": "A" * 824}), ("another serial number", {"serial": "PIPU00000001"}),
                              ("another address", {"url": "https://evil.example/ttype/push"}), ("no question", {"question": None})):
            Proxy.alter = staticmethod(changed(**members))
            answer, status = approve("list", *store)
            expect(f"{name} is not shown", (status, answer["requests"], len(answer["warnings"])), (0, [], 1))
            text = json.dumps(answer)
            expect(f"{name}: nothing of it is said", ("Pay 1" in text, "evil" in text), (False, False))
            answer, status = approve("yes", *store)
            expect(f"{name} is not approved", (status, code(answer), status_of(transaction)), (12, "no-request", "pending"))
        for name, body, wanted in (("no list", {"result": {"status": True, "value": "x"}}, 13), ("no result", {}, 13), ("a list", [], 13)):
            Proxy.alter = staticmethod(lambda handler, status, _, body=body: (200, body))
            expect(f"{name} instead of requests", approve("list", *store)[1], wanted)
        held = {}

        def replayed(handler, status, body):
            if handler.command == "GET":
                if body["result"]["value"]:
                    held.setdefault("list", body)
                return status, held.get("list", body)
            return status, body
        Proxy.alter = staticmethod(replayed)
        request = approve("list", *store)[0]["requests"][0]
        answer, status = approve("yes", request["id"], *store)
        expect("approved", (status, status_of(transaction)), (0, "accept"))
        answer, status = approve("list", *store)
        expect("a request that is played again after its answer is not shown", (status, answer["requests"]), (0, []))
        answer, status = approve("yes", *store)
        expect("nor approved", (status, code(answer)), (12, "no-request"))

        Proxy.alter, Proxy.drops = staticmethod(honest), True
        transaction, _ = log_in()
        request = approve("list", *store)[0]["requests"][0]
        answer, status = approve("yes", request["id"], *store)
        expect("an answer that is refused without a reason is no success", (status, code(answer), status_of(transaction)), (8, "not-accepted", "pending"))
        Proxy.drops = False
        Proxy.alter = staticmethod(
            lambda handler, status, body: (
                (status, {"result": {"status": True, "value": False}, "detail": None}) if handler.command == "POST" else (status, body)
            )
        )
        answer, status = approve("no", request["id"], *store)
        expect("one that is no longer open is said to be closed", (status, code(answer), status_of(transaction)), (10, "request-closed", "declined"))

        def clock(seconds):
            """A server whose clock is ahead of this one, with its window of 60 seconds."""
            def alter(handler, status, body):
                query = urllib.parse.parse_qs(urllib.parse.urlparse(handler.path).query)
                if handler.command == "GET":
                    import datetime
                    stamp = datetime.datetime.fromisoformat(query["timestamp"][0]).timestamp()
                    if abs(stamp - time.time() - seconds) > 60:
                        return 400, {"result": {"status": False, "error": {"code": 10, "message": "ERR10: Timestamp not in valid range."}}, "detail": None}
                    return 200, {"result": {"status": True, "value": []}, "detail": None}
                return status, body
            return alter
        for seconds in (50, -50, 90, -90, 86400, -86400):
            Proxy.skew = seconds
            Proxy.alter = staticmethod(clock(seconds))
            answer, status = approve("list", *store)
            expect(
                f"the server's clock is {seconds} s off: said, and polled with its time",
                (status, answer["requests"], "clock" in [w["code"] for w in answer["warnings"]]),
                (0, [], True),
            )
        Proxy.skew = 86400
        Proxy.alter = staticmethod(lambda handler, status, body: (400, {"result": {"status": False, "error": {"code": 10, "message": "no"}}, "detail": None}))
        answer, status = approve("list", *store)
        expect("a lying Date does not help", (status, code(answer)), (13, "clock"))
        Proxy.skew = 0
        answer, status = approve("list", *store)
        expect("with the right time it is not the clock", (status, code(answer)), (8, "poll-refused"))
    finally:
        Proxy.alter, Proxy.skew = staticmethod(honest), 0
        server().admin("DELETE", "/policy/through")
    proxy.shutdown()
    proxy.server_close()
    answer, status = approve("list", *store)
    expect("nobody answers", (status, code(answer)), (16, "server-unreachable"))


def test_reader():
    """The same over a real pcscd; the account selects one of two keys by its serial number."""
    if "YKIT_TEST_VPCD_PORTS" not in os.environ:
        sandbox = [f"{ROOT}/tools/lab/pcscd-sandbox", "--readers", "2", "--", *parts(__file__, "reader")]
        return expect("enrolled, approved and declined through a real pcscd", subprocess.run(sandbox).returncode, 0)
    served = []
    for number, port in enumerate(os.environ["YKIT_TEST_VPCD_PORTS"].split()[:2]):
        state = pathlib.Path(WORK, f"served-{number}.json")
        raw("virtual", "new", str(state), "--firmware", "5.7.1")
        state.write_text(re.sub(r'"serial" ?: ?[0-9]+', f'"serial":{30000001 + number}', state.read_text(), count=1))
        served.append(start("virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", str(state),
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    end = time.monotonic() + 60
    while len(json.loads(raw("list", "--json").stdout or "{}").get("devices") or []) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    store = ("--store", f"{WORK}/reader.json", "--json")
    for name, serial in (("first", "30000001"), ("second", "30000002")):
        text, _ = link()
        done = raw("--device", serial, "approve", "enroll", text, "--force", "--name", name, "--ca", server().ca, *store, env=PIN)
        answer = json.loads(done.stdout)
        expect(f"{name} account, on key {serial}", (done.returncode, answer.get("proven"), (answer.get("key") or {}).get("serial")), (0, True, serial))
    transaction, _ = log_in()
    pins = {**PIN, "YKIT_PIV_PIN_30000001": "123456", "YKIT_PIV_PIN_30000002": "123456"}
    answer = json.loads(raw("approve", "list", *store, env=pins).stdout)
    expect("both accounts are asked, each with its own key", sorted({request["account"] for request in answer["requests"]}), ["first", "second"])
    chosen = next(request["id"] for request in answer["requests"] if request["account"] == "second")
    done = raw("approve", "yes", chosen, *store, env=pins)
    expect("approved with the second key, without naming it", (done.returncode, json.loads(done.stdout)["account"]), (0, "second"))
    expect("the service sees it", status_of(transaction), "accept")
    for process in served:
        process.terminate()
