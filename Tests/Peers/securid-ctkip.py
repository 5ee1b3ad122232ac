# SPDX-License-Identifier: Apache-2.0
"""CT-KIP between ykit and rsa_ct_kip, plain and over TLS, and servers that fail in every other way.

YKIT is the ykit to test.
"""

import atexit
import base64
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from lib.peer import ROOT, YKIT, QuietHandler, expect
from lib.securid_tool import CACHE, WORK, raw, seed_of, ykit

SERVER = f"{ROOT}/Tests/Peers/ctkip/ctkip-server"
CODE = "135792468013579"


def server(*options):
    process = subprocess.Popen(["/usr/bin/python3", SERVER, "run", "--until-eof", "--env", CACHE, *options],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    line = process.stdout.readline()
    return process, json.loads(line) if line else sys.exit("the CT-KIP server did not start")


def fetch(url, store, *options, code=CODE):
    """An import from a server: exit status, error code, seconds, and whether anything was stored."""
    started = time.monotonic()
    answer, status = ykit("import", "--ctkip", url, "--code-stdin", *options, store=store, stdin=code + "\n")
    return answer, (status, (answer["error"] or {}).get("code")), time.monotonic() - started


def refused(name, url, wanted, *options):
    """Expects an error, nothing half-imported, and no trace of the activation code."""
    answer, got, seconds = fetch(url, "refused.json", *options)
    expect(f"{name} is refused as {wanted[1]}", (got, seconds < 20, os.path.exists(f"{WORK}/refused.json")), (wanted, True, False))
    expect(f"{name}: the code is in no answer", CODE in json.dumps(answer), False)
    record, log = f"{WORK}/record.jsonl", f"{WORK}/log.txt"
    done = raw("--virtual", f"{WORK}/key.json", "--record", record, "--log-level", "traffic", "--log-file", log, "securid", "import", "--ctkip", url,
               "--code-stdin", "--store", f"{WORK}/refused.json", *options, stdin=CODE + "\n")
    text = done.stdout + done.stderr + "".join(pathlib.Path(path).read_text() for path in (record, log) if os.path.exists(path))
    expect(f"{name}: nor in an error, a recording or a log", (done.returncode, CODE in text), (wanted[0], False))
    for path in (record, log):
        if os.path.exists(path):
            os.unlink(path)


class Answers(QuietHandler):
    """A server that answers with a function of the request; the function may also write the answer itself."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            answer = self.server.make(self, body)
        except (BrokenPipeError, ConnectionResetError):
            return
        if answer is not None:
            self.reply(*answer)

    def reply(self, status, body, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)



class answering:
    """A server on a free port during a block; returns its address."""

    def __init__(self, make):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.daemon_threads = True
        self.server.make = make

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://localhost:{self.server.server_port}/ctkip/services/CtkipService"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def test_hostile():
    """Servers that do not speak CT-KIP."""
    stop = threading.Event()

    def stall(handler, body):
        stop.wait(30)
        handler.close_connection = True

    def trickle(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not stop.wait(0.2):
            handler.wfile.write(b" ")

    def endless(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", str(1 << 30))
        handler.end_headers()
        for _ in range(1 << 14):
            handler.wfile.write(b"<" * (1 << 16))

    def close(handler, body):
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    def cut(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"<Envelope>")
        handler.close_connection = True

    html = f"<html><body>Error for {CODE}</body></html>".encode()
    envelope = "<Envelope><Body>%s</Body></Envelope>"
    fault = envelope % f"<Fault><faultstring>nested exception is: com.rsa.Other: bad code {CODE}</faultstring></Fault>"
    named = f"<Envelope><Body><ServerResponse><AuthData>{CODE}</AuthData><Response>%s</Response></ServerResponse></Body></Envelope>"
    other = named % base64.b64encode(f"<a{CODE}/>".encode()).decode()
    bomb = "<!DOCTYPE a [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]><Envelope>&b;</Envelope>"
    cases = [
        ("a server that stalls", stall, (10, "server-timed-out"), "--timeout", "2"),
        ("a server that trickles", trickle, (10, "server-timed-out"), "--timeout", "2"),
        ("a body of 1 GB", endless, (13, "malformed")), ("a server that closes", close, (16, "http")),
        ("an answer cut short", cut, (16, "http")),
        ("a redirect", lambda handler, _: handler.reply(302, b"", Location=f"http://localhost:1/?activationCode={CODE}"), (16, "redirected")),
        ("HTML", lambda *_: (200, html), (13, "malformed")), ("no content", lambda *_: (200, b""), (13, "format")),
        ("HTML as an error", lambda *_: (500, html), (1, "server")), ("a missing page", lambda *_: (404, html), (1, "server")),
        ("a fault", lambda *_: (200, fault.encode()), (1, "server-fault")), ("an XML bomb", lambda *_: (200, bomb.encode()), (13, "format")),
        ("bytes that are not XML", lambda *_: (200, b"\xff\xfe\x00"), (13, "format")),
        ("a name that repeats the code", lambda *_: (200, other.encode()), (13, "malformed")),
        ("an end that repeats the code", lambda *_: (200, f"<a{CODE}></b>".encode()), (13, "format")),
    ]
    for name, make, wanted, *options in cases:
        with answering(make) as url:
            refused(name, url, wanted, *options)
    stop.set()
    usage = subprocess.Popen([YKIT, "securid", "import", "--ctkip", "http://localhost:1/", "--code-stdin", "--store", f"{WORK}/none.json"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    expect("no code is given", usage.wait() != 0)


def changed_in(body, name, change):
    """A SOAP reply whose inner XML a function changed."""
    text = body.decode()
    inner = re.search(f"<{name}>(.*?)</{name}>", text, re.S)
    plain = change(base64.b64decode(inner[1]).decode())
    return (text[:inner.start(1)] + base64.b64encode(plain.encode()).decode() + text[inner.end(1):]).encode()


def test_altered():
    """A real server behind a proxy that alters its answers."""
    process, state = server("--reuse", "--code", CODE)
    nonce = base64.b64encode(bytes(range(16))).decode()
    answers = []

    def between(change):
        def make(handler, body):
            request = urllib.request.Request(state["url"], body, {key: value for key, value in handler.headers.items() if key != "Host"})
            with urllib.request.urlopen(request) as reply:
                answer = reply.read()
            answers.append(answer)
            return 200, change(answer, handler.headers["SOAPAction"] == "StartService")
        return answering(make)

    def inner(first, pattern, new):
        def change(answer, is_first):
            if is_first != first:
                return answer
            return changed_in(answer, "Response", lambda xml: re.sub(pattern, new, xml, flags=re.S))
        return between(change)

    with between(lambda answer, _: answer) as url:
        answer, got, _ = fetch(url, "between.json")
        expect("an unchanged exchange gives a token", got, (0, None))
    both = r"(<(?:Nonce|Data)[^>]*>)[^<]*<"
    cases = [
        ("another nonce", inner(True, both, rf"\g<1>{nonce}<"), (1, "server-fault")),
        ("two nonces", inner(True, r"(<Nonce[^>]*>)[^<]*<", rf"\g<1>{nonce}<"), (13, "malformed")),
        ("another session at first", inner(True, r'SessionID="[^"]*"', 'SessionID="ffff"'), (1, "server-fault")),
        ("another session at the end", inner(False, r'SessionID="[^"]*"', 'SessionID="ffff"'), (13, "malformed")),
        ("a wrong MAC", inner(False, r"(<Mac [^>]*>)[^<]*<", rf"\g<1>{nonce}<"), (8, "mac")),
        ("no MAC", inner(False, r"<Mac .*?</Mac>", ""), (13, "malformed")),
        ("another status", inner(False, 'Status="Success"', 'Status="Continue"'), (13, "malformed")),
        ("another modulus", inner(True, r"(<(?:ds:)?Modulus[^>]*>)[^<]*<", lambda found: found[1] + base64.b64encode(bytes([0xC1]) * 128).decode() + "<"),
         (1, "server-fault")),
        ("a short modulus", inner(True, r"(<(?:ds:)?Modulus[^>]*>)[^<]*<", r"\g<1>AQID<"), (13, "malformed")),
        ("another code echoed", between(lambda answer, _: answer.replace(CODE.encode(), b"1")), (13, "malformed")),
        ("a replay of the first reply", between(lambda answer, first: answer if first else answers[-2]), (13, "malformed")),
    ]
    for name, server_between, wanted in cases:
        with server_between as url:
            refused(name, url, wanted)
    # The MAC does not cover the reply's description of the token; impossible values are refused nevertheless.
    with inner(False, r"(<TokenID[^>]*>)[^<]*<", r"\g<1>eHh4<") as url:
        refused("a serial number of letters", url, (13, "format"))
    with inner(False, r"<OTPLength>[^<]*<", "<OTPLength>99<") as url:
        refused("99 digits", url, (13, "format"))
    process.stdin.close()
    process.wait()


def recorded(url):
    """An import is recorded and replayed without the server; a redacted recording is not replayed."""
    code = "123456789012"
    for secrets, wanted in (["--keep-secrets"], (0, None)), ([], (14, "overwritten")):
        record, kept = f"{WORK}/import{len(secrets)}.jsonl", f"{WORK}/replayed{len(secrets)}.json"
        words = ["--json", "securid", "import", "--ctkip", url, "--code-stdin", "--insecure", "--store", f"{WORK}/recorded.json"]
        before = raw("--virtual", f"{WORK}/key.json", "--record", record, *secrets, *words, stdin=code + "\n")
        expect(f"CT-KIP: an import is recorded {' '.join(secrets)}", (before.returncode, code in pathlib.Path(record).read_text()), (0, bool(secrets)))
        os.unlink(f"{WORK}/recorded.json")
        after = raw("--replay", record, *words[:-1], kept, stdin=code + "\n")
        answer = json.loads(after.stdout)
        expect("CT-KIP: ... and replayed", (after.returncode, (answer["error"] or {}).get("code")), wanted)
        if not wanted[0]:
            expect("CT-KIP: ... with the same token", answer["serial"], json.loads(before.stdout)["serial"])


def test_ctkip():
    """The server of rsa_ct_kip, with right, wrong and used codes."""
    process, state = server("--code", "111122223333", "--code", "444455556666")
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", store="ctkip.json", stdin="111122223333\n")
    line = json.loads(pathlib.Path(state["tokens"]).read_text().splitlines()[0])
    expect("CT-KIP: the serial number is the server's", (status, answer.get("serial")), (0, line["serial"]))
    path = f"{WORK}/ctkip.sdtid"
    ykit("export", "--format", "sdtid", "--force", "--output", path, store="ctkip.json")
    expect("CT-KIP: the seed is the server's", seed_of(path), line["seed"])
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", store="ctkip.json", stdin="111122223333\n")
    expect("CT-KIP: a used code is refused", (status, answer["error"]["code"]), (8, "activation-refused"))
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", store="ctkip.json", stdin="999999999999\n")
    expect("CT-KIP: a wrong code is refused", (status, answer["error"]["code"]), (8, "activation-refused"))
    expect("CT-KIP: the code is in no message", "999999999999" in json.dumps(answer), False)
    answer, status = ykit("import", state["links"][1], store="ctkip.json")
    expect("CT-KIP: a link is followed", status, 0)
    process.stdin.close()
    process.wait()
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", store="ctkip.json", stdin="111122223333\n")
    expect("CT-KIP: a server that is gone", (status, answer["error"]["code"]), (16, "server-unreachable"))

    process, state = server("--tls", "--digits", "6", "--interval", "30", "--add-pin", "0", "--serial", "000000000042")
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", store="tls.json", stdin="123456789012\n")
    expect("CT-KIP: an unknown authority is refused", (status, answer["error"]["code"]), (16, "certificate"))
    pins = ["--server-pin", "sha256/" + "A" * 43 + "=", "--server-pin", "sha256/" + "A" * 42 + "E="]
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", "--ca", state["ca"], *pins, store="tls.json", stdin="123456789012\n")
    expect("CT-KIP: another key is refused", (status, answer["error"]["code"]), (16, "server-pin"))
    expect("CT-KIP: nothing was imported", os.path.exists(f"{WORK}/tls.json"), False)
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", "--ca", state["ca"], *pins[:2], "--server-pin", state["pin"],
                          store="tls.json", stdin="123456789012\n")
    token = (answer.get("tokens") or [{}])[0]
    expect("CT-KIP: over TLS, 6 digits, 30 s",
           (status, token.get("serial"), token.get("digits"), token.get("interval"), token.get("type")), (0, "000000000042", 6, 30, "keyfob"))
    process.stdin.close()

    process, state = server("--tls", "--reuse")
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", "--insecure", store="insecure.json", stdin="123456789012\n")
    expect("CT-KIP: --insecure", status, 0)
    recorded(state["url"])
    process.stdin.close()

    process, state = server("--wrong-mac")
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", store="mac.json", stdin="123456789012\n")
    expect("CT-KIP: a wrong MAC", (status, answer["error"]["code"], os.path.exists(f"{WORK}/mac.json")), (8, "mac", False))
    process.stdin.close()

    process, state = server("--expiry", "2026-01-01")
    answer, status = ykit("import", "--ctkip", state["url"], "--code-stdin", store="old.json", stdin="123456789012\n")
    expect("CT-KIP: an expired token", (status, answer["error"]["code"]), (15, "expired"))
    process.stdin.close()
