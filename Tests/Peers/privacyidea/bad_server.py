# SPDX-License-Identifier: Apache-2.0
"""A server that misbehaves below HTTP's surface, in front of a good one: answers that are cut, stalled, endless, of another
kind, or somewhere else.

    with BadServer(server.http) as bad:          # passes everything on
        bad.mode = "cut-body"                    # until told otherwise
        bad.only = 2                             # only the third request, or those for which a function is true
        bad.is_late = True                       # the server gets the request, its answer is lost
        bad.asked                                # the requests that came
    bad.is_signed = True                     # ykit knows the audit key
    bad.alter = lambda path, answer: …       # with the mode "altered": another answer than the good one, both JSON

TABLE says for each mode how long a client is to wait, and what ykit has to say: exit status and error code.
"""

import http.server
import json
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request

from lib.peer import QuietHandler

#: What ykit says of an answer that cannot be used: exit status, error code.
TABLE = {
    "close": (16, "http"), "cut-header": (13, "malformed"), "cut-body": (16, "http"), "stall": (10, "server-timed-out"),
    "trickle": (10, "server-timed-out"), "html": (13, "malformed"), "wrong-type": (13, "malformed"),
    "empty": (13, "malformed"), "half-json": (13, "malformed"), "deep-json": (13, "malformed"),
    "gigabyte": (13, "malformed"), "endless-header": (13, "malformed"), "500": (1, "server"), "503": (1, "server"),
    "redirect": (16, "redirected"), "redirect-here": (16, "redirected"), "not-http": (16, "http"),
}
#: The same, where the audit key was given, of an answer with a signature of nobody, and of one that was given before.
SIGNED = {"unsigned": (13, "signature"), "replayed": (13, "signature")}


class Handler(QuietHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self):
        bad = self.server.bad
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        bad.asked.append((self.command, self.path, body))
        try:
            is_bad = bad.only(self.command, self.path) if callable(bad.only) else bad.only in (None, len(bad.asked) - 1)
            if bad.mode is None or not is_bad:
                status, answer, kind, cookie = self.target_answer(body)
                return self.reply(status, answer, kind, **({"Set-Cookie": cookie} if cookie else {}))
            if bad.is_late:
                self.target_answer(body)
            getattr(self, "do_" + bad.mode.replace("-", "_"))()
        except OSError:
            pass
        self.close_connection = True

    do_GET = do_POST = do_DELETE = do_PATCH = handle_request

    def target_answer(self, body):
        request = urllib.request.Request(self.server.bad.target + self.path, body, method=self.command)
        for name in ("Content-Type", "Authorization", "X-API-Key", "Origin", "Cookie"):
            if self.headers.get(name):
                request.add_header(name, self.headers[name])
        try:
            reply = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30)
        except urllib.error.HTTPError as error:
            reply = error
        answer, kind = reply.read(), reply.headers.get("Content-Type", "application/json")
        if reply.status == 200 and b'"signature"' in answer:
            self.server.bad.given[self.path.split("?")[0]] = self.server.bad.given[None] = answer
        return reply.status, answer, kind, reply.headers.get("Set-Cookie")

    def reply(self, status, body, kind="application/json", **fields):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data):
        self.wfile.write(data)
        self.wfile.flush()

    def do_close(self):
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_cut_header(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Ty")

    def do_cut_body(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"result\":")

    def do_stall(self):
        self.server.bad.over.wait(60)

    def do_trickle(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        while not self.server.bad.over.wait(0.2):
            self.raw(b" ")

    def do_unsigned(self):
        self.reply(200, b'{"id":1,"jsonrpc":"2.0","result":{"status":true,"value":true},"detail":{},"signature":"rsa_sha256_pss:00"}')

    def do_replayed(self):
        given = self.server.bad.given
        self.reply(200, given.get(self.path.split("?")[0], given[None]))

    def do_altered(self):
        status, answer, kind, _ = self.target_answer(self.server.bad.asked[-1][2])
        self.reply(status, json.dumps(self.server.bad.alter(self.path.split("?")[0], json.loads(answer))).encode(), kind)

    def do_html(self):
        self.reply(200, b"<html><script>alert(1)</script></html>", "text/html")

    def do_wrong_type(self):
        self.reply(200, b'{"result":{"status":true,"value":[]},"detail":null}', "application/octet-stream")

    def do_empty(self):
        self.reply(200, b"")

    def do_half_json(self):
        self.reply(200, b'{"result":{"status":true,"val')

    def do_deep_json(self):
        self.reply(200, b"[" * 500000)

    def do_gigabyte(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n")
        for _ in range(1 << 14):
            self.raw(b" " * (1 << 16))

    def do_endless_header(self):
        self.raw(b"HTTP/1.1 200 OK\r\n")
        while not self.server.bad.over.is_set():
            self.raw(b"X-Long: " + b"x" * 4096 + b"\r\n")

    def do_500(self):
        self.reply(500, b"<h1>Internal Server Error</h1>", "text/html")

    def do_503(self):
        self.reply(503, json.dumps({"error": "busy"}).encode())

    def do_redirect(self):
        self.reply(302, b"", Location="https://evil.example/ttype/push")

    def do_redirect_here(self):
        self.reply(307, b"", Location=self.server.bad.url + "/elsewhere")

    def do_not_http(self):
        self.raw(b"220 mail.example ESMTP\r\n")


class BadServer:
    """Misbehaves as `mode` says; None passes everything on to `target`."""

    def __init__(self, target, certificate=None, port=0):
        self.target, self.mode, self.asked, self.over = target, None, [], threading.Event()
        self.only, self.is_late, self.is_signed, self.alter, self.given = None, False, False, None, {}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads, self.server.bad = True, self
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"http{'s' if certificate else ''}://localhost:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def wait_for(self, count, seconds=30):
        """Whether so many requests have come before the time is over."""
        end = time.monotonic() + seconds
        while len(self.asked) < count and time.monotonic() < end:
            time.sleep(0.05)
        return len(self.asked) >= count
