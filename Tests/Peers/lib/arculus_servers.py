# SPDX-License-Identifier: Apache-2.0
"""Loopback servers for arculus.py: the REST peer (fido_rest_server.py), a proxy that changes what passes between it and
ykit, and misbehaving servers."""

import contextlib
import http.client
import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import threading
import time

from lib.peer import ROOT, QuietHandler, free_port


class Peer:
    """The REST peer: Flask around PyPI's webauthn. A free port may be taken by another program before it is used, so
    another one is tried then."""

    def __init__(self, folder, seconds=None):
        script = ROOT / "Tests/Peers/servers/fido_rest_server.py"
        for _ in range(5):
            self.port = free_port()
            self.origin = f"http://localhost:{self.port}"
            arguments = [script, self.port, "localhost", self.origin, *([seconds] if seconds else [])]
            self.log = open(pathlib.Path(folder) / f"peer-{self.port}.log", "w")  # noqa: SIM115
            self.process = subprocess.Popen(
                [sys.executable, *map(str, arguments)], stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
            if self.answers():
                return
            self.end()
        raise SystemExit("FAIL the REST peer does not start")

    def answers(self):
        for _ in range(300):
            try:
                self.state()
                return True
            except OSError:
                if self.process.poll() is not None:
                    return False
                time.sleep(0.1)
        return False

    def state(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/test/state")
        return json.loads(connection.getresponse().read())

    def end(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Handler(QuietHandler):

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.path, dict(self.headers), body))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.server.answer(self, body)


class Server:
    """A server that answers each request with `answer(handler, body)`; over TLS with `certificate` (certificate and key
    in one file)."""

    def __init__(self, answer, certificate=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.answer, self.server.asked = answer, []
        self.server.handle_error = lambda *_: None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://localhost:{self.server.server_address[1]}"

    @property
    def asked(self):
        return self.server.asked

    def end(self):
        self.server.shutdown()
        self.server.server_close()


def reply(handler, status, body, *fields):
    handler.send_response(status)
    for name, value in fields:
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def between(peer, change=lambda path, body: body, cookies=True):
    """Forwards requests to the peer after `change(path, body)`, and returns the answers, with or without cookies."""

    def answer(handler, body):
        connection = http.client.HTTPConnection("127.0.0.1", peer.port, timeout=60)
        fields = {"Content-Type": "application/json"}
        if "Cookie" in handler.headers:
            fields["Cookie"] = handler.headers["Cookie"]
        connection.request("POST", handler.path, change(handler.path, body), fields)
        response = connection.getresponse()
        kept = [(name, value) for name, value in response.getheaders()
                if name in ("Content-Type", "Set-Cookie") and (cookies or name != "Set-Cookie")]
        reply(handler, response.status, response.read(), *kept)

    return answer


def redirect(handler, _):
    reply(handler, 302, b"", ("Location", "https://elsewhere.example/fidoapi"))


def html(handler, _):
    reply(handler, 200, b"<!doctype html><title>Portal</title>", ("Content-Type", "text/html"))


def endless(handler, _):
    """Two gigabytes, or as much as the other side reads."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(2 << 30))
    handler.end_headers()
    for _ in range(2048):
        handler.wfile.write(b" " * (1 << 20))


def unending(handler, _):
    """Two gigabytes without a Content-Length."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    for _ in range(2048):
        handler.wfile.write(b" " * (1 << 20))


def slow(handler, _):
    """Sends nothing until the client disconnects."""
    handler.connection.settimeout(60)
    handler.connection.recv(1)


def authority(folder):
    """A CA, its certificate for localhost, and one for another host; made by openssl."""
    folder = pathlib.Path(folder)

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=folder)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30, "-subj",
            "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
    for name in ("localhost", "elsewhere.example"):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-addext", f"subjectAltName=DNS:{name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                30, "-copy_extensions", "copy", "-out", f"{name}.crt")
        whole = (folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text()
        (folder / f"{name}.pem").write_text(whole)
    return folder


def pin(certificate):
    """The pin of a certificate's key, as openssl computes it."""
    command = ("openssl x509 -in \"$1\" -pubkey -noout | openssl pkey -pubin -outform der "
               "| openssl dgst -sha256 -binary | base64")
    result = subprocess.run(["sh", "-c", command, "sh", str(certificate)], check=True, capture_output=True, text=True)
    return "sha256/" + result.stdout.strip()
