# SPDX-License-Identifier: Apache-2.0
"""One-time passwords made by yubiotp: ykit decrypts them with the key, and sends them to a validation server.

The server decides with yubiotp and signs with yubico-client, whose client is compared with ykit. YKIT is the ykit to test.
"""

import base64
import http.server
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

from yubico_client import Yubico
from yubico_client.yubico_exceptions import StatusCodeError
from yubiotp import otp as yubiotp

from lib.peer import YKIT, QuietHandler, expect, own_folder

FOLDER = own_folder()

AES, PUBLIC, PRIVATE = bytes(range(16)), b"\x01\x02\x03\x04\x05\x06", b"\xaa\xbb\xcc\xdd\xee\xff"
CLIENT, API_KEY = 42, base64.b64encode(b"a key of twenty bytes").decode()


# yubiotp calls the power-up counter "session" and the use counter "counter".
def otp(counter, session, timestamp=1000, key=AES, private=PRIVATE, public=PUBLIC):
    return yubiotp.encode_otp(yubiotp.OTP(private, counter, timestamp, session, 4711), key, yubiotp.modhex(public)).decode()


def run(*arguments, key=None, **settings):
    """Exit status and the answer in JSON."""
    environment = {**os.environ, "HOME": FOLDER, **({} if key is None else {"YKIT_OTP_KEY": key}), **settings}
    result = subprocess.run([YKIT, "otp", "verify", *arguments, "--json"], stdin=subprocess.DEVNULL, text=True,
                            capture_output=True, cwd=FOLDER, timeout=60, env=environment)
    answer = json.loads(result.stdout or "{}")
    return result.returncode, (answer.get("error") or {}).get("code"), answer


def verify(text, *arguments, **settings):
    return run(text, "--store", "counters", *arguments, key=AES.hex(), **settings)[:2]


def test_keys():
    good, replayed = (0, None), (8, "replayed")
    expect("the first one", verify(otp(1, 0)), good)
    expect("the same again", verify(otp(1, 0)), replayed)
    expect("the next of the session", verify(otp(1, 1)), good)
    expect("one of the session that was skipped", [verify(otp(1, 9)), verify(otp(1, 5))], [good, replayed])
    expect("the next power-up", [verify(otp(2, 0)), verify(otp(1, 255))], [good, replayed])
    expect("the last of all", [verify(otp(0x7FFF, 255)), verify(otp(0x7FFF, 255)), verify(otp(1, 0))], [good, replayed, replayed])
    answer = run(otp(3, 7, 0xABCDEF, public=b""), "--store", "counters", key=AES.hex())[2]
    expect("everything in it", [answer[name] for name in ("publicId", "useCounter", "sessionUse", "timestamp", "random", "previous")],
           ["", 3, 7, 0xABCDEF, 4711, None])
    expect("another AES key", verify(otp(9, 9, key=bytes(16), public=b"x" * 6)), (8, "key-wrong"))
    with open(f"{FOLDER}/keys.csv", "w") as file:
        for number in range(300):
            print(f"{number},{yubiotp.modhex(bytes([9, 9, 9, 9, number >> 8, number & 255])).decode()},"
                  f"{PRIVATE.hex()},{bytes([number & 255] * 16).hex()},,", file=file)
    def one(number, private=PRIVATE):
        return otp(1, 0, key=bytes([number & 255] * 16), private=private,
                                                  public=bytes([9, 9, 9, 9, number >> 8, number & 255]))
    def csv(text):
        return run(text, "--key-file", "keys.csv", "--store", "many")[:2]
    expect("one of 300 keys of a CSV file", [csv(one(7)), csv(one(299)), csv(one(7))], [good, good, replayed])
    expect("another private identity", csv(one(8, bytes(6))), (8, "other-private-id"))
    expect("a key that is not in the file", csv(otp(1, 0)), (12, "no-such-key"))


def test_crash():
    """Killed at any moment, it leaves the file intact, and no accepted password is accepted again."""
    wrong, accepted = [], 0
    for number in range(60):
        process = subprocess.Popen([YKIT, "otp", "verify", otp(100 + number, 0), "--store", "crash", "--json"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True, cwd=FOLDER, env={**os.environ, "YKIT_OTP_KEY": AES.hex()})
        time.sleep(0.0005 * (number % 30))
        process.send_signal(signal.SIGKILL)
        if '"ok":true' in process.communicate()[0]:
            accepted += 1
            if run(otp(100 + number, 0), "--store", "crash", key=AES.hex())[1] != "replayed":
                wrong.append(number)
        status, code, _ = run(otp(1, 0, public=b"another"[:6]), "--store", "crash", key=AES.hex())
        if code not in (None, "replayed"):
            wrong.append((number, status, code))
    expect(f"killed 60 times ({accepted} had answered)", wrong, [])
    many = [subprocess.Popen([YKIT, "otp", "verify", otp(500, 0), "--store", "crash"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, cwd=FOLDER, env={**os.environ, "YKIT_OTP_KEY": AES.hex()}) for _ in range(12)]
    expect("twelve at once: one is first", sorted(process.wait(60) for process in many), [0] + [8] * 11)


class Server(QuietHandler):
    """A validation server; the path selects its behaviour."""
    protocol_version = "HTTP/1.1"
    counters, answered, asked = {}, set(), []
    signer = Yubico(str(CLIENT), API_KEY)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        values = dict(urllib.parse.parse_qsl(query))
        Server.asked.append((path, values))
        behaviour = path.strip("/")
        if behaviour == "slow":
            time.sleep(120)
        if behaviour in ("redirect", "500"):
            self.send_response(302 if behaviour == "redirect" else 500)
            self.send_header("Location", f"{URL}/verify?{query}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if behaviour == "gigabyte":
            self.send_response(200)
            self.send_header("Content-Length", str(1 << 30))
            self.end_headers()
            try:
                for _ in range(1 << 14):
                    self.wfile.write(b"a" * (1 << 16))
                Server.asked.append(("all of it", {}))
            except OSError:
                pass
            return self.close()
        body = self.reply(behaviour, values).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def close(self):
        self.close_connection = True

    def reply(self, behaviour, values):
        status = {"backend": "BACKEND_ERROR", "few": "NOT_ENOUGH_ANSWERS"}.get(behaviour) or self.status(values)
        reply = {"otp": values.get("otp", ""), "nonce": values.get("nonce", ""), "status": status, "t": "2026-11-21T10:00:00Z0123"}
        if status == "OK" and values.get("timestamp") == "1":
            use, session = Server.counters[values["otp"][:-32]]
            reply |= {"sessioncounter": str(use), "sessionuse": str(session), "timestamp": "1000", "sl": values.get("sl", "100")}
        if behaviour == "nonce":
            reply["nonce"] = "n" * 32
        if behaviour == "otp":
            reply["otp"] = otp(7, 7)
        signature = self.signer.generate_message_signature("&".join(f"{k}={v}" for k, v in reply.items()))
        if behaviour == "tampered":
            reply["status"] = "OK"
        if behaviour == "html":
            return "<html>status: OK</html>"
        lines = ([] if behaviour == "unsigned" else [f"h={signature}"]) + [f"{name}={value}" for name, value in reply.items()]
        if behaviour == "twice":
            lines.append("status=OK")
        return "\r\n".join(lines) + "\r\n\r\n"

    def status(self, values):
        if values.get("id") != str(CLIENT):
            return "NO_SUCH_CLIENT"
        plain = "&".join(f"{name}={value}" for name, value in values.items() if name != "h")
        if "h" in values and values["h"] != self.signer.generate_message_signature(plain):
            return "BAD_SIGNATURE"
        if not 16 <= len(values.get("nonce", "")) <= 40:
            return "MISSING_PARAMETER"
        try:
            public, token = yubiotp.decode_otp(values["otp"].encode(), AES)
        except ValueError:
            return "BAD_OTP"
        public, now = public.decode(), (token.session, token.counter)
        if (values["otp"], values["nonce"]) in Server.answered:
            return "REPLAYED_REQUEST"
        Server.answered.add((values["otp"], values["nonce"]))
        if Server.counters.get(public, (-1, -1)) >= now:
            return "REPLAYED_OTP"
        Server.counters[public] = now
        return "OK"


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
URL = f"http://127.0.0.1:{server.server_address[1]}"
threading.Thread(target=server.serve_forever, daemon=True).start()


def ask(text, *behaviours, client=CLIENT, key=API_KEY, more=()):
    servers = [word for behaviour in behaviours for word in ("--server", behaviour if "//" in behaviour else f"{URL}/{behaviour}")]
    return run(text, *servers, "--client", str(client), *more, **({} if key is None else {"YKIT_API_KEY": key}))


def test_server():
    status, code, answer = ask(otp(10, 0), "verify")
    expect("a good one", (status, code, answer["status"], answer["useCounter"], answer["sessionUse"]), (0, None, "OK", 10, 0))
    asked = Server.asked[-1][1]
    expect("what was asked", (asked["id"], asked["timestamp"], len(asked["nonce"]), "h" in asked), ("42", "1", 32, True))
    expect("the same again", ask(otp(10, 0), "verify")[:2], (8, "replayed-otp"))
    expect("a broken one", ask(otp(11, 0, key=bytes(16)), "verify")[:2], (8, "bad-otp"))
    expect("another client", ask(otp(11, 1), "verify", client=7)[:2], (8, "no-such-client"))
    expect("another key of the client", ask(otp(11, 2), "verify", key=base64.b64encode(b"other").decode())[:2], (8, "bad-signature"))
    expect("how long the server may ask others", Server.asked[-1][1]["timeout"], "30")
    expect("sync level", (ask(otp(12, 0), "verify", more=["--sync-level", "75"])[0], Server.asked[-1][1]["sl"]), (0, "75"))
    record = f"{tempfile.mkdtemp()}/server.jsonl"
    kept, there = ask(otp(12, 1), "verify", more=["--record", record]), len(Server.asked)
    expect("a recording has no password", (kept[0], otp(12, 1)[-32:] in pathlib.Path(record).read_text()), (0, False))
    again = ask(otp(12, 1), "verify", more=["--replay", record])
    expect("a replay says the same and asks no server", (again, len(Server.asked)), (kept, there))
    expect("another password, signed, is another request", ask(otp(12, 2), "verify", more=["--replay", record])[:2], (14, "replay-mismatch"))
    theirs = Yubico(str(CLIENT), API_KEY, api_urls=(f"{URL}/verify",))
    expect("yubico-client agrees on a good one", theirs.verify(otp(13, 0)))
    expect("... which ykit then finds replayed", ask(otp(13, 0), "verify")[:2], (8, "replayed-otp"))
    expect("ykit's good one", ask(otp(14, 0), "verify")[0], 0)
    try:
        found = theirs.verify(otp(14, 0))
    except StatusCodeError as error:
        found = error.status_code
    expect("... which yubico-client then finds replayed", found, "REPLAYED_OTP")


def test_liars():
    for number, (behaviour, wanted) in enumerate([("tampered", "reply-not-signed"), ("unsigned", "reply-not-signed"), ("nonce", "other-reply"),
                              ("otp", "other-reply"), ("html", "malformed"), ("twice", "malformed"), ("redirect", "server"), ("500", "server")]):
        text = otp(20, number) if behaviour != "tampered" else otp(10, 0)
        expect(f"a server that does '{behaviour}'", ask(text, behaviour)[1], wanted)
    before = len(Server.asked)
    ask(otp(21, 0), "redirect")
    expect("a redirection is not followed", len(Server.asked) - before, 1)
    started = time.monotonic()
    found = ask(otp(22, 0), "gigabyte")[:2]
    expect("a reply of a gigabyte is left unread", (found[1], time.monotonic() - started < 60, Server.asked[-1][0] != "all of it"),
           ("server", True, True))
    started = time.monotonic()
    found = ask(otp(23, 0), "slow", more=["--timeout", "1"])[:2]
    expect("a server that does not answer in time", (found[1], time.monotonic() - started < 60), ("server", True))
    expect("nobody there", ask(otp(23, 1), "http://127.0.0.1:9/verify")[1], "server")
    expect("no key and no TLS", ask(otp(23, 2), "verify", key=None)[:2], (15, "unprotected"))


def test_several():
    before = len(Server.asked)
    status, _, answer = ask(otp(30, 0), "http://127.0.0.1:9/verify", "500", "backend", "few", "verify", "html")
    asked = Server.asked[before:]
    expect("one server after the other", (status, [path for path, _ in asked], answer["server"]),
           (0, ["/500", "/backend", "/few", "/verify"], f"{URL}/verify"))
    expect("... with the same nonce", len({values["nonce"] for _, values in asked}), 1)
    expect("a server that was asked before and whose reply was lost", ask(otp(31, 0), "html", "verify")[1], "replayed-request")
    started = time.monotonic()
    found = ask(otp(32, 0), "slow", "verify", more=["--timeout", "8"])[0]
    expect("each gets its share of the time", (found, time.monotonic() - started < 60), (0, True))
    before = len(Server.asked)
    expect("a no ends the round", (ask(otp(30, 0), "verify", "verify")[1], len(Server.asked) - before), ("replayed-otp", 1))
