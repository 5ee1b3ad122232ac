# SPDX-License-Identifier: Apache-2.0
"""`ykit approve watch`: requests that privacyIDEA delivers or that are polled, bursts, desktop notifications, a locked
screen, and misbehaving servers.

YKIT is the ykit to test. The script runs itself again in separate D-Bus sessions.
"""

import base64
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "privacyidea"))
from bad_server import TABLE, BadServer  # noqa: E402
from server import WORK, Server, code, raw, start, ykit  # noqa: E402

from lib.peer import ROOT, expect, free_port, parts, reader_port  # noqa: E402

PIN = {"YKIT_PIN": "123456"}
INSIDE = "YKIT_TEST_WATCH_INSIDE"
#: The bus names that the desktop tests use.
NOTIFICATIONS, LOGIN = "org.freedesktop.Notifications", "org.freedesktop.login1"


PORT = free_port()
SERVER = None


def server():
    """One server for all parts; it delivers pushes to PORT if the policy says so."""
    global SERVER
    SERVER = SERVER or Server("--small-keys", "--push-url", f"http://127.0.0.1:{PORT}/push")
    return SERVER


def enrolled(store, *options, url=None, key="key.json"):
    """An account of alice on a key, in a store with no other account."""
    server().remove_tokens()
    for name in (f"{store}.json", f"{store}-history.jsonl", key):
        pathlib.Path(WORK, name).unlink(missing_ok=True)
    detail = server().admin("POST", "/token/init", type="push", user="alice", realm="test", genkey=1, pin="2222")["detail"]
    answer, status = ykit("approve", "enroll", detail["pushurl"]["value"], "--force", "--store", f"{WORK}/{store}.json", *options,
                          key=key, env=PIN)
    if status != 0:
        sys.exit(f"cannot enrol: {answer}")
    return detail["serial"]


def through(url):
    """Makes the server announce a different address to devices, that of a proxy before it."""
    if url is None:
        return server().admin("DELETE", "/policy/through")
    return server().admin("POST", "/policy/through", scope="enrollment", active=True, priority=1,
                          action={"push_registration_url": f"{url}/ttype/push", "push_firebase_configuration": "poll only"})


class Watch:
    """A running `approve watch` and the events it has reported."""

    def __init__(self, store, *options, key="key.json", env=None):
        self.process = start(*(("--virtual", f"{WORK}/{key}") if key else ()), "--json", "approve", "watch", "--store", f"{WORK}/{store}.json", *options,
                             env={**PIN, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.events, self.errors = [], []
        for stream, into in ((self.process.stdout, self.take), (self.process.stderr, self.errors.append)):
            threading.Thread(target=lambda stream=stream, into=into: [into(line) for line in stream], daemon=True).start()

    def take(self, line):
        self.events.append(json.loads(line))

    def named(self, event):
        return [found for found in list(self.events) if found.get("event") == event]

    def wait(self, event, count=1, seconds=30):
        """Waits for a number of events of a kind."""
        end = time.monotonic() + seconds
        while len(self.named(event)) < count and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.02)
        if len(self.named(event)) < count:
            print(f"     no {event} of {count}: {self.events[-5:]} {self.errors[-5:]}", flush=True)
        return self.named(event)

    def memory(self):
        """Its peak memory in MiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def watched(*words, env=PIN):
    """The last line of `approve watch`, and its exit status."""
    done = raw("--virtual", f"{WORK}/key.json", "--json", "approve", "watch", *words, env=env)
    return json.loads((done.stdout.splitlines() or ["{}"])[-1]), done.returncode


def post(body, port=PORT):
    """The listener's HTTP status."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body if isinstance(body, bytes) else json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    try:
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code


def test_delivered():
    """Requests that the server delivers require no signature; only what the server signed is accepted."""
    server().policy("push-delivered")
    enrolled("delivered", "--listen", "topic-1")
    hook = f"{WORK}/hook.jsonl"
    watch = Watch("delivered", "--listen", f"127.0.0.1:{PORT}", "--command", f"cat >> {hook}")
    ready = watch.wait("ready")[0]
    expect("it says where it listens, and polls nothing", (ready["url"], ready["accountCount"], ready["polledCount"]), (f"http://127.0.0.1:{PORT}/", 1, 0))
    transaction = server().log_in()
    request = watch.wait("request")[0]["request"]
    expect("a delivered request is told", (request["verified"], request["poll"], len(request["id"]), bool(request["question"])), (True, False, 32, True))
    message = server().messages("push")[-1] if server().messages("push") else None
    answer, status = ykit("approve", "list", "--store", f"{WORK}/delivered.json", env=PIN)
    expect("'list' has the same one", [entry["id"] for entry in answer["requests"]], [request["id"]])
    expect("nothing is approved by watching", server().state_of(transaction), "pending")
    second = server().log_in()
    watch.wait("request", 2)
    for name, body in (("junk", b"\xff\xfe"), ("an empty body", b""), ("no request", {"push": {"serial": "x"}}),
                       ("a forged question", {"to": "topic-1", "push": {**(message or {}).get("push", {}), "question": "Pay 1 CHF?"}})):
        expect(f"{name} is answered at once", post(body), 200)
    expect("forgeries are counted", watch.wait("unverified")[-1]["count"] >= 1)
    time.sleep(1)
    expect("and not told", (len(watch.named("request")), "Pay 1" in json.dumps(watch.events)), (2, False))
    expect("more than 64 KiB is refused", post(b"x" * 65537), 413)
    expect("the command got each request once", [json.loads(line)["request"]["id"] for line in pathlib.Path(hook).read_text().splitlines()],
           [event["request"]["id"] for event in watch.named("request")])
    answer, status = ykit("approve", "yes", request["id"], "--store", f"{WORK}/delivered.json", env=PIN)
    expect("it is approved meanwhile", (status, server().state_of(transaction), server().state_of(second)), (0, "accept", "pending"))
    expect("SIGTERM ends it", watch.end(), 130)
    server().policy("push-delivered", False)


def test_polled():
    """Polling survives all server errors, and each request is reported once."""
    with BadServer(server().http) as bad:
        through(bad.url)
        enrolled("polled", "--touch", "never")
        watch = Watch("polled", "--every", "0.3", "--timeout", "20")
        expect("one account is polled", watch.wait("ready")[0]["polledCount"], 1)
        first = server().log_in()
        request = watch.wait("request")[0]["request"]
        expect("a polled request is told", (request["poll"], request["verified"]), (True, True))
        seen = len(bad.asked)
        bad.wait_for(seen + 3)
        expect("and once, however often it is polled", len(watch.named("request")), 1)
        bad.mode = "500"
        expect("a server that fails is told", watch.wait("fails")[0]["problem"]["code"] != "", True)
        for mode in ("html", "cut-body", "close", "gigabyte"):
            bad.mode = mode
            seen = len(bad.asked)
            bad.wait_for(seen + 1)
        second = server().log_in()
        bad.mode = None
        expect("it goes on by itself when the server is back", len(watch.wait("request", 2)), 2)
        expect("that the server was away is told once, and its return", (len(watch.named("fails")), len(watch.wait("answers"))), (1, 1))
        port = bad.port
    expect("killed: that is told", len(watch.wait("fails", 2)), 2)
    third = server().log_in()
    with BadServer(server().http, port=port):
        expect("restarted: it goes on", len(watch.wait("request", 3)), 3)
        expect("each request once", len({event["request"]["id"] for event in watch.named("request")}), 3)
        expect("all are open", [server().state_of(each) for each in (first, second, third)], ["pending"] * 3)
        expect("memory in MiB after a gigabyte was offered", watch.memory() < 60)
        watch.end()
        answer, status = watched("--every", "0.2", "--for", "1s", "--store", f"{WORK}/polled.json")
        expect("--for ends it", status, 0)
        for _ in (first, second, third):
            ykit("approve", "no", next(event["request"]["id"] for event in watch.named("request")), "--store", f"{WORK}/polled.json", env=PIN)
            watch.events.pop(next(n for n, event in enumerate(watch.events) if event.get("event") == "request"))
        answer, status = watched("--every", "0.2", "--for", "1s", "--store", f"{WORK}/polled.json")
        expect("when nothing comes it says so", (status, code(answer)), (10, "no-request"))
    through(None)


def test_restarted():
    """privacyIDEA is killed and restarted: `watch` continues by itself."""
    enrolled("restarted", "--touch", "never")
    watch = Watch("restarted", "--pause-on-battery", "--every", "0.3", "--timeout", "20")
    watch.wait("ready")
    first = server().log_in()
    expect("a request before", len(watch.wait("request")), 1)
    server().kill()
    # The kill interrupts a request, or the next request finds no server.
    expect("that the server is gone is told", watch.wait("fails")[0]["problem"]["code"] in ("http", "server-unreachable"))
    server().restart()
    second = server().log_in()
    expect("the request after is told", len({event["request"]["id"] for event in watch.wait("request", 2)}), 2)
    expect("the server's absence and its return are told once", (len(watch.named("fails")), len(watch.named("answers"))), (1, 1))
    expect("both log-ins are open", [server().state_of(each) for each in (first, second)], ["pending"] * 2)
    expect("it can be ended", watch.end(), 130)


def test_wrong_pin():
    """A wrong PIN is sent once, however long the watch runs."""
    enrolled("wrong", "--touch", "never")
    watch = Watch("wrong", "--every", "0.2", env={"YKIT_PIN": "654321"})
    expect("a wrong PIN ends it", (watch.process.wait(30), code((watch.events or [{}])[-1])), (8, "pin-wrong"))
    expect("only one try is used", ykit("piv", "info")[0]["pin"]["retries"], 2)


def test_unplugged():
    """The key is unplugged and plugged in again while its account is polled through a real pcscd."""
    if "YKIT_TEST_VPCD_PORTS" not in os.environ:
        sandbox = [f"{ROOT}/tools/lab/pcscd-sandbox", "--", *parts(__file__, "unplugged")]
        return expect("watched through a real pcscd", subprocess.run(sandbox).returncode, 0)
    port, state = reader_port(), f"{WORK}/plugged.json"

    def plug():
        process = start("virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", state, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not any(device.get("serial") for device in json.loads(raw("list", "--json").stdout)["devices"]) and time.monotonic() < end:
            time.sleep(0.1)
        return process

    enrolled("unplugged", "--touch", "never", key="plugged.json")
    key = plug()
    watch = Watch("unplugged", "--every", "0.3", key=None)
    watch.wait("ready")
    server().log_in()
    expect("a request with the key plugged in", len(watch.wait("request")), 1)
    key.terminate()
    key.wait(30)
    fault = watch.wait("fails")[0]["problem"]
    expect("that the key is gone is told", fault["code"] in ("no-card", "removed"))
    server().log_in()
    time.sleep(2)
    expect("once", len(watch.named("fails")), 1)
    key = plug()
    expect("plugged in again: the next request is told", len(watch.wait("request", 2)), 2)
    expect("and that the account can be asked again", len(watch.named("answers")), 1)
    expect("it can be ended", watch.end(), 130)
    key.terminate()


def test_touches():
    """Keys that require a touch for each poll are not polled."""
    enrolled("cached")
    answer, status = watched("--for", "1s", "--store", f"{WORK}/cached.json")
    expect("a key with a cached touch is not polled", (status, code(answer)), (15, "poll-needs-touch"))
    answer, status = watched("--for", "1s", "--every", "0.3", "--touch-ok", "--store", f"{WORK}/cached.json")
    expect("unless that is wanted", (status, code(answer)), (10, "no-request"))
    enrolled("always", "--touch", "always")
    answer, status = watched("--for", "1s", "--touch-ok", "--store", f"{WORK}/always.json")
    expect("a key with a touch each time is never polled", (status, code(answer)), (15, "poll-needs-touch"))
    for words in (["--listen", "nonsense"], ["--listen", "127.0.0.1"], ["--every", "0"], ["--for", "1w"]):
        answer, status = watched(*words, "--store", f"{WORK}/always.json")
        expect(f"{' '.join(words)} is refused", status, 2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer, status = watched("--listen", f"127.0.0.1:{taken.getsockname()[1]}", "--store", f"{WORK}/always.json")
        expect("a port in use is said", (status, code(answer)), (1, "listen"))


def test_burst():
    """50 accounts and 500 delivered requests at once, along with slow clients and forgeries."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    enrolled("one", "--touch", "never")
    key = rsa.generate_private_key(65537, 2048)
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    store = json.loads(pathlib.Path(WORK, "one.json").read_text())
    text, found = json.dumps(store["records"][0]), store["records"][0]
    details = next(part["details"] for part in (found, found.get("description", {}), found.get("public", {})) if "details" in part)
    serial = next(part["serial"] for part in (found, found.get("description", {}), found.get("public", {})) if "serial" in part)
    text = text.replace(details["serverKey"], base64.urlsafe_b64encode(public).decode().rstrip("="))
    store["records"] = [json.loads(text.replace(serial, f"PIPU{number:08}").replace(f'"name": "{serial}', f'"name": "{number} {serial}'))
                        for number in range(50)]
    for number, record in enumerate(store["records"]):
        for part in (record, record.get("description", {}), record.get("public", {})):
            if "name" in part:
                part["name"] = f"account {number}"
            if "details" in part:
                part["details"]["address"] = f"topic-{number}"
    pathlib.Path(WORK, "many.json").write_text(json.dumps(store))

    def request(number):
        members = {"nonce": base64.b32encode(number.to_bytes(20, "big")).decode(), "url": details["url"], "serial": f"PIPU{number % 50:08}",
                   "question": f"Log in number {number}?", "title": "Load", "sslverify": "1"}
        signed = "|".join(members[name] for name in ("nonce", "url", "serial", "question", "title", "sslverify"))
        signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return json.dumps({"to": f"topic-{number % 50}", "push": {**members, "signature": base64.b32encode(signature).decode()}}).encode()

    requests = [request(number) for number in range(500)]
    port = free_port()
    watch = Watch("many", "--listen", f"127.0.0.1:{port}")
    expect("50 accounts are watched", watch.wait("ready")[0]["accountCount"], 50)
    before = watch.memory()
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    statuses = []

    def send(part):
        for body in requests[part::5] + requests[part::25] + [b'{"push":{"serial":"PIPU00000001"}}'] * 20:
            statuses.append(post(body, port))

    started = time.monotonic()
    threads = [threading.Thread(target=send, args=[part]) for part in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = watch.wait("request", 500)
    seconds = time.monotonic() - started
    nonces = [event["request"]["id"] for event in told]
    expect("500 delivered requests: none lost, none twice", (len(nonces), len(set(nonces))), (500, 500))
    expect("each for its account", all(event["request"]["account"] == f"account {int(event['request']['question'].split()[3][:-1]) % 50}" for event in told))
    expect("every sender was answered 200", set(statuses), {200})
    expect("forgeries are counted", watch.wait("unverified")[-1]["count"] > 0)
    memory = watch.memory()
    print(f"     500 requests in {seconds:.1f} s; {before:.0f} MiB before, {memory:.0f} MiB at the most", flush=True)
    expect("at most 40 MiB", memory <= 40)
    for connection in idle:
        connection.close()
    watch.end()


def test_recorded():
    """What the key and the server say is recorded together, and replayed without either of them."""
    store = ("--store", f"{WORK}/recorded.json")
    enrolled("recorded", "--touch", "never")
    transaction = server().log_in()
    before, status = ykit("approve", "list", *store, env=PIN, record=f"{WORK}/list.jsonl")
    expect("a poll is recorded", (status, len(before["requests"])), (0, 1))
    text = pathlib.Path(WORK, "list.jsonl").read_text()
    expect("with the server's answer", ('"h":' in text, '"c":' in text, before["requests"][0]["id"] in text), (True, True, True))
    done = raw("--replay", f"{WORK}/list.jsonl", "--json", "approve", "list", *store, env=PIN)
    expect("and replayed", (done.returncode, json.loads(done.stdout)), (0, before))
    changed = text.replace("Sign in", "Pay for")
    pathlib.Path(WORK, "changed.jsonl").write_text(changed)
    done = raw("--replay", f"{WORK}/changed.jsonl", "--json", "approve", "list", *store, env=PIN)
    expect("a question changed in the recording is not shown", (changed != text, json.loads(done.stdout)["requests"]), (True, []))
    answer, status = ykit("approve", "no", *store, env=PIN, record=f"{WORK}/no.jsonl")
    expect("an answer is recorded", (status, server().state_of(transaction)), (0, "declined"))
    server().remove_tokens()
    detail = server().admin("POST", "/token/init", type="push", user="alice", realm="test", genkey=1, pin="2222")["detail"]
    answer, status = ykit("approve", "enroll", detail["pushurl"]["value"], "--force", "--slot", "90", *store, env=PIN, record=f"{WORK}/enroll.jsonl")
    text = pathlib.Path(WORK, "enroll.jsonl").read_text()
    expect("the enrolment's credential is not in its recording",
           (status, detail["enrollment_credential"] in text, "enrollment_credential=<hidden>" in text), (0, False, True))


def test_bad_servers():
    """The message for each way in which a server can misbehave, and its cost in memory."""
    with BadServer(server().http) as bad:
        through(bad.url)
        enrolled("bad", "--touch", "never")
        for mode, wanted in TABLE.items():
            bad.mode = mode
            del bad.asked[:]
            answer, status = ykit("approve", "list", "--timeout", "3", "--store", f"{WORK}/bad.json", env=PIN)
            expect(f"{mode}: said, and asked once", (status, code(answer), len(bad.asked)), (*wanted, 1))
        print(f"     {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB at the most", flush=True)
        bad.mode = None
        server().log_in()
        answer, status = ykit("approve", "list", "--store", f"{WORK}/bad.json", env=PIN)
        expect("afterwards all is well", (status, len(answer["requests"])), (0, 1))
    through(None)


# The desktop, in a separate session


class Desktop:
    """The notification service and logind, as far as they are used here."""

    def __init__(self):
        self.shown, self.locked, self.connections, self.client = [], False, [], None
        self.serve("DBUS_SESSION_BUS_ADDRESS", NOTIFICATIONS, self.notifications)
        self.serve("DBUS_SYSTEM_BUS_ADDRESS", LOGIN, self.login)

    def serve(self, variable, name, answer):
        from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return
        from jeepney.io.blocking import open_dbus_connection

        connection = open_dbus_connection(os.environ[variable])
        self.connections.append(connection)
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        connection.send_and_get_reply(new_method_call(bus, "RequestName", "su", (name, 4)))

        def loop():
            while True:
                message = connection.receive()
                if message.header.message_type != MessageType.method_call:
                    continue
                if name == NOTIFICATIONS:
                    self.client = message.header.fields[HeaderFields.sender]
                found = answer(message.header.fields[HeaderFields.member], message.body)
                connection.send(new_method_return(message, *found) if found else new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
        threading.Thread(target=loop, daemon=True).start()

    def notifications(self, member, body):
        if member == "Notify":
            self.shown.append(body)
            return "u", (len(self.shown),)
        return None

    def login(self, member, body):
        return ("v", (("b", self.locked),)) if (member, body[1:]) == ("Get", ("LockedHint",)) else None

    def choose(self, number, action):
        from jeepney import DBusAddress, new_signal
        emitter = DBusAddress("/org/freedesktop/Notifications", interface=NOTIFICATIONS)
        self.connections[0].send(new_signal(emitter, "ActionInvoked", "us", (number, action)))

    def forge(self, number, action):
        """Sends a button to ykit from another program of the session."""
        from jeepney import DBusAddress, HeaderFields, new_signal
        from jeepney.io.blocking import open_dbus_connection
        emitter = DBusAddress("/org/freedesktop/Notifications", interface=NOTIFICATIONS)
        signal = new_signal(emitter, "ActionInvoked", "us", (number, action))
        signal.header.fields[HeaderFields.destination] = self.client
        with open_dbus_connection(os.environ["DBUS_SESSION_BUS_ADDRESS"]) as other:
            other.send(signal)

    def wait(self, count, seconds=60):
        end = time.monotonic() + seconds
        while len(self.shown) < count and time.monotonic() < end:
            time.sleep(0.02)
        return self.shown


def test_desktop():
    """Notifications with Show and Decline, never Approve; none while the screen is locked."""
    if INSIDE not in os.environ:
        words = ["dbus-run-session", "--", "sh", "-c", 'DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS exec dbus-run-session -- "$@"', "sh",
                 *parts(__file__, "desktop")]
        expect("the desktop's part", subprocess.run(words, env={**os.environ, INSIDE: "1"}).returncode, 0)
        return
    screen = Desktop()
    enrolled("desktop", "--touch", "never")
    server().admin("POST", "/policy/words", scope="authentication", active=True, priority=1,
                   action={"push_text_on_mobile": "Log in <b>now</b> & 'here'?\u202e" + "x" * 300, "push_title_on_mobile": "Te'st"})
    hook = f"{WORK}/desktop.jsonl"
    watch = Watch("desktop", "--notify", "--every", "0.3", "--command", f"cat >> {hook}")
    watch.wait("ready")
    transaction = server().log_in()
    body = screen.wait(1)[0]
    request = watch.wait("request")[0]["request"]
    expect("a notification has Show and Decline and no Approve", body[5], ["show", "Show", "decline", "Decline"])
    expect("its title is the server's", body[3], "Te'st")
    expect("the server's text is shown without markup and marks, and cut",
           (body[4].startswith("Log in &lt;b&gt;now&lt;/b&gt; &amp; 'here'?xxx"), "\u202e" in body[4], len(body[4]) < 400), (True, False, True))
    expect("it says how to approve", f"ykit approve yes {request['id'][:8]}" in body[4])
    expect("the line for programs is cut as well", len(request["question"]) <= 200 and "\u202e" not in request["question"])
    screen.choose(1, "show")
    expect("Show shows it", watch.wait("show")[0]["request"]["id"], request["id"])
    screen.choose(99, "decline")
    screen.choose(1, "approve")
    screen.forge(1, "decline")
    time.sleep(1)
    expect("other choices do nothing", (server().state_of(transaction), watch.named("declined")), ("pending", []))
    screen.choose(len(screen.wait(2)), "decline")
    expect("Decline declines", (watch.wait("declined")[0]["accepted"], server().state_of(transaction)), (True, "declined"))
    answer, status = ykit("approve", "history", "--store", f"{WORK}/desktop.json", key="other.json", env=PIN)
    expect("and is in the history", [event.get("decision", event) for event in answer["events"] or [answer["error"]]], ["declined"])
    screen.locked = True
    time.sleep(1.5)
    shown, told = len(screen.shown), len(watch.named("request"))
    server().log_in()
    time.sleep(3)
    expect(
        "nothing is told while the screen is locked",
        (len(screen.shown), len(watch.named("request")), len(pathlib.Path(hook).read_text().splitlines())),
        (shown, told, told),
    )
    screen.locked = False
    expect("it is when the screen is unlocked", len(watch.wait("request", told + 1)), told + 1)
    expect("and notified of", len(screen.wait(shown + 1)), shown + 1)
    watch.end()
    server().admin("DELETE", "/policy/words")
    answer, status = watched("--notify", "--store", f"{WORK}/desktop.json", env={**PIN, "DBUS_SESSION_BUS_ADDRESS": ""})
    expect("without a session there is nobody to notify", (status, code(answer)), (1, "no-desktop"))


def test_unit():
    """The systemd unit: installed on request, and valid."""
    home = tempfile.mkdtemp(dir=WORK)
    tool = HERE.parent.parent / "tools/build/install"
    done = subprocess.run([str(tool), "--approve"], env={**os.environ, "HOME": home, "XDG_CONFIG_HOME": f"{home}/config"}, capture_output=True, text=True)
    path = pathlib.Path(home, "config/systemd/user/ykit-approve.service")
    expect("the unit is installed", (done.returncode, path.exists()), (0, True))
    text = path.read_text() if path.exists() else ""
    for line in ("RestartPreventExitStatus=2 8 9 12 15", "NoNewPrivileges=yes", "PrivateTmp=yes", "CapabilityBoundingSet="):
        expect(f"it has {line}", line in text.splitlines())
    expect("nothing is enabled", sorted(str(each.relative_to(home)) for each in pathlib.Path(home).rglob("*") if not each.is_dir()),
           ["config/systemd/user/ykit-approve.service"])
