# SPDX-License-Identifier: Apache-2.0
"""`ykit fido2 try` with a client in the browser's place: python-fido2's, with the virtual key through a real pcscd.

Access control: a token that is used once, another host, another origin, no cookie, side effects by GET, a client that
stalls. Verdicts: every step with a good answer, and answers that were tampered with.
"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

from fido2.pcsc import CtapPcscDevice

from lib import fido2_client
from lib.peer import YKIT, beside_pcscd, expect, in_reader, own_folder

beside_pcscd()

sys.dont_write_bytecode = True

PIN = fido2_client.PIN


class Try:
    """A run of `ykit fido2 try`, and a browser that has its page open."""

    def __init__(self, *options, program=YKIT):
        self.process = subprocess.Popen(
            [program, "--json", "fido2", "try", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        match = re.search(r"(http://localhost:(\d+))(/[\w-]{22}/)$", line.strip())
        if not match:
            sys.exit(f"FAIL no address: {line}")
        self.origin, self.port, self.path = match[1], int(match[2]), match[3]
        self.cookie = None

    def ask(self, method, path, body=None, host="127.0.0.1", **fields):
        """Sends a browser's header fields, except as given; None omits a field."""
        usual = {"Host": f"localhost:{self.port}", "User-Agent": "played by Python"}
        if self.cookie:
            usual["Cookie"] = self.cookie
        if method == "POST":
            usual |= {"Origin": self.origin, "Content-Type": "application/json"}
        usual |= {name.replace("_", "-"): value for name, value in fields.items()}
        connection = http.client.HTTPConnection(host, self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        data = None if body is None else json.dumps(body).encode()
        for name, value in usual.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer, text

    def status(self, *arguments, **fields):
        return self.ask(*arguments, **fields)[0].status

    def open(self):
        answer, text = self.ask("GET", self.path)
        self.cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
        return answer, text.decode()

    def post(self, path, body):
        answer, text = self.ask("POST", path, body)
        return json.loads(text) if answer.status == 200 else answer.status

    def end(self, limit=60):
        out, err = self.process.communicate(timeout=limit)
        return self.process.returncode, json.loads(out), err


def guarded():
    run = Try()
    expect("before the page is opened nothing acts", run.status("POST", "/begin", {"step": "sign-up"}), 404)
    expect("... nor is there another page", [run.status("GET", p) for p in ("/", "/favicon.ico", "/x/", run.path[:-1])],
           [404] * 4)
    for name, host in (("by its number", f"127.0.0.1:{run.port}"), ("without its port", "localhost"),
                       ("by another name", f"rebound.example:{run.port}"), ("nameless", None)):
        expect(f"a host {name} is refused", run.status("GET", run.path, Host=host), 403)
    expect("a wrong token", run.status("GET", run.path[:-2] + "_/"), 404)
    answer, text = run.open()
    expect("the page is there", (answer.status, answer.getheader("Content-Type")), (200, "text/html; charset=utf-8"))
    cookie = answer.getheader("Set-Cookie")
    expect("its cookie is for this site and not for scripts", re.sub(r"=[\w-]{22};", "=…;", cookie),
           "ykit-try=…; HttpOnly; SameSite=Strict; Path=/")
    nonce = re.search(r"script-src 'nonce-([\w-]{22})'", answer.getheader("Content-Security-Policy"))[1]
    expect("its policy", answer.getheader("Content-Security-Policy").replace(nonce, "N"),
           "default-src 'none'; script-src 'nonce-N'; style-src 'nonce-N'; connect-src 'self'; "
           "frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
    expect("its other fields", [answer.getheader(n) for n in (
        "Permissions-Policy", "Cache-Control", "Referrer-Policy", "X-Content-Type-Options")], [
            "publickey-credentials-create=(self), publickey-credentials-get=(self)", "no-store", "no-referrer", "nosniff"])
    expect("style and script are marked, and nothing comes from elsewhere",
           (text.count(f'nonce="{nonce}"'), re.findall(r"(?:src|href|url)\s*[=(]|https?:", text)), (2, []))
    expect("the page is opened once", run.status("GET", run.path, Cookie=None), 404)
    answer, text = run.ask("GET", run.path)
    expect("... but the same browser may reload it", (answer.status, answer.getheader("Set-Cookie")), (200, None))
    expect("the nonce is used once", nonce in text.decode(), False)
    begin = {"step": "sign-up"}
    expect("what acts is not done by GET", [run.status("GET", path) for path in ("/begin", "/finish", "/end")], [405] * 3)
    for name, origin in (("another origin", "http://evil.example"), ("another port", "http://localhost:1"),
                         ("the opaque origin", "null"), ("no origin", None)):
        expect(f"{name} is refused", run.status("POST", "/begin", begin, Origin=origin), 403)
    expect("another host is refused", run.status("POST", "/begin", begin, Host=f"evil.example:{run.port}"), 403)
    expect("no cookie is refused", run.status("POST", "/begin", begin, Cookie=None), 404)
    expect("another cookie is refused", run.status("POST", "/begin", begin, Cookie="ykit-try=" + "A" * 22), 404)
    expect("two cookies are refused", run.status("POST", "/begin", begin, Cookie=f"{run.cookie}; {run.cookie}"), 404)
    expect("a form is refused", run.status("POST", "/begin", begin, Content_Type="text/plain"), 415)
    expect("other methods are refused", [run.status(m, "/begin", begin) for m in ("PUT", "DELETE", "OPTIONS")], [405] * 3)
    expect("no step", [run.status("POST", "/begin", b) for b in ({}, [], {"step": "x"}, {"step": 1})], [400] * 4)
    expect("steps that are not part of the run, or not yet",
           [run.status("POST", "/begin", {"step": s}) for s in ("prf", "sign-in", "sign-up-again")], [409] * 3)
    expect("an answer that nobody asked for", run.status("POST", "/finish", {**begin, "error": "x"}), 409)
    expect("a body that is too long", run.status("POST", "/finish", {"step": "x" * 70_000}), 413)
    stalled = [socket.create_connection(("127.0.0.1", run.port)) for _ in range(20)]
    for connection in stalled:
        connection.sendall(b"POST /begin HTTP/1.1\r\nContent-Length: 10\r\n\r\n")
    started = time.monotonic()
    expect("clients that stall keep nobody out", (run.status("GET", "/"), time.monotonic() - started < 4), (404, True))
    stalled[0].settimeout(60)
    expect("... and are sent away", stalled[0].recv(1), b"")
    try:
        expect("the page is at ::1 as well", run.status("GET", "/", host="::1"), 404)
    except OSError as error:
        print(f"skip ::1: {error}")
    listening = subprocess.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True).stdout
    local = {line.split()[1].rsplit(":", 1)[0] for line in listening.splitlines()
             if f":{run.port:04X} " in line[:60] and " 0A " in line}
    expect("it listens at loopback addresses only", local <= {"0100007F", "00000000000000000000000001000000"})
    expect("the run can be ended", run.post("/end", {}), {"over": True})
    status, answer, _ = run.end()
    expect("... which is no success", (status, answer["error"]["code"], answer["steps"]), (17, "ended-early", []))


def client(origin):
    from fido2.client import DefaultClientDataCollector, Fido2Client
    from fido2.ctap2.extensions import CredProtectExtension, HmacSecretExtension, LargeBlobExtension

    return Fido2Client(DEVICE, DefaultClientDataCollector(origin), user_interaction=fido2_client.user(),
                       extensions=[HmacSecretExtension(), CredProtectExtension(), LargeBlobExtension()])


def step(run, name, change=lambda answer: answer):
    """What the page's script does."""
    from fido2.client import ClientError
    from fido2.webauthn import PublicKeyCredentialCreationOptions, PublicKeyCredentialRequestOptions

    begun = run.post("/begin", {"step": name})
    if not isinstance(begun, dict) or "verdict" in begun:
        return begun
    options = begun["publicKey"]
    try:
        if "rp" in options:
            made = client(run.origin).make_credential(PublicKeyCredentialCreationOptions.from_dict(options))
        else:
            made = client(run.origin).get_assertion(PublicKeyCredentialRequestOptions.from_dict(options)).get_response(0)
    except ClientError as error:
        names = {ClientError.ERR.DEVICE_INELIGIBLE: "InvalidStateError", ClientError.ERR.CONFIGURATION_UNSUPPORTED:
                 "ConstraintError"}
        return run.post("/finish", {"step": name, "error": names.get(error.code, "NotAllowedError")})
    answer = json.loads(json.dumps(dict(made)))
    results = answer.get("clientExtensionResults", {}).get("prf", {}).pop("results", None)
    if results:
        answer["clientExtensionResults"]["prf"] |= {
            "lengths": [len(v) * 3 // 4 for v in results.values()], "different": len(set(results.values())) == 2}
    return run.post("/finish", {"step": name, "credential": change(answer)})


def outcome(reply):
    return reply["verdict"]["outcome"] if isinstance(reply, dict) else reply


def usual():
    run = Try()
    run.open()
    for name in ("sign-up", "sign-in", "sign-up-again"):
        reply = step(run, name)
        expect(f"{name} passes", outcome(reply), "passed")
    expect("the last step ends the run", reply["over"])
    status, answer, err = run.end()
    expect("the answer", (status, answer["ok"], answer["origin"], answer["userAgent"]), (0, True, run.origin, "played by Python"))
    expect("a verdict for each step", [(s["step"], s["outcome"]) for s in answer["steps"]],
           [(name, "passed") for name in ("sign-up", "sign-in", "sign-up-again")])
    expect("the sign-up in detail", [answer["steps"][0][k] for k in ("algorithm", "format", "flags")],
           ["ES256", "packed", ["UP", "AT"]])
    expect("each is told as it comes", [line for line in err.splitlines() if ": passed" in line],
           ["sign-up: passed", "sign-in: passed", "sign-up-again: passed"])


def everything():
    run = Try("--all")
    run.open()
    names = ["sign-up", "sign-in", "sign-up-again", "pin", "prf", "attestation", "passkey", "passkey-sign-in",
             "large-blob-write", "large-blob-read"]
    expect("a later step has to wait", outcome(step(run, "large-blob-read")), 409)
    replies = {name: step(run, name) for name in names}
    for name, reply in replies.items():
        expect(f"--all: {name} passes", outcome(reply), "passed")
        if outcome(reply) != "passed":
            print("    ", reply)
    status, answer, err = run.end()
    steps = {s["step"]: s for s in answer["steps"]}
    expect("--all: the answer", (status, list(steps)), (0, names))
    expect("the PIN is seen in the flags", steps["pin"]["flags"], ["UP", "UV"])
    expect("the attestation tells the model", (steps["attestation"]["format"], steps["attestation"]["trust"],
           steps["attestation"]["aaguid"] != "00000000-0000-0000-0000-000000000000"), ("packed", "certificates", True))
    expect("the secrets of prf are not told", steps["prf"]["extensions"]["prf"], {"lengths": [32, 32], "different": True})
    expect("a warning says that the passkey stays, and how to remove it",
           [w["message"].split(";")[1] for w in answer["warnings"]],
           [f" to remove it: ykit fido2 credentials delete {steps['passkey']['credentialId']}"])


def wrong():
    run = Try()
    run.open()

    def tampered(answer):
        answer["response"]["clientDataJSON"] = encoded(decoded(answer["response"]["clientDataJSON"]).replace(
            b"webauthn.create", b"webauthn.get"))
        return answer

    def unsigned(answer):
        signature = bytearray(decoded(answer["response"]["signature"]))
        signature[-1] ^= 1
        answer["response"]["signature"] = encoded(signature)
        return answer

    reply = step(run, "sign-up", tampered)
    expect("client data of another operation", (outcome(reply), reply["verdict"]["reason"]),
           ("failed", "the client data are of type 'webauthn.get'"))
    expect("not JSON of WebAuthn", outcome(step(run, "sign-up", lambda answer: {"id": 1})), "failed")
    begun = run.post("/begin", {"step": "sign-up"})
    for name, wanted in (("NotAllowedError", "unanswered"), ("SecurityError", "failed"), ("ConstraintError", "unsupported")):
        expect(f"the browser's {name}", outcome(run.post("/finish", {"step": "sign-up", "error": name})), wanted)
        begun = run.post("/begin", {"step": "sign-up"})
    expect("what is not supported is not done again", begun, 409)
    expect("what needs it is not supported either", [outcome(step(run, n)) for n in ("sign-in", "sign-up-again")],
           ["unsupported"] * 2)
    status, answer, _ = run.end()
    expect("the key cannot do it", (status, answer["error"]["code"]), (11, "not-supported"))

    run = Try()
    run.open()
    step(run, "sign-up")
    first = []

    def keep(answer):
        first.append(json.loads(json.dumps(answer)))
        return unsigned(answer)

    reply = step(run, "sign-in", keep)
    expect("a signature that was changed", (outcome(reply), "signature" in reply["verdict"]["reason"]), ("failed", True))
    reply = step(run, "sign-in", lambda answer: first[0])
    expect("an answer to an earlier challenge", (outcome(reply), reply["verdict"]["reason"]),
           ("failed", "the challenge is not that of the ceremony"))
    run.post("/end", {})
    status, answer, err = run.end()
    expect("a failure is the exit code", (status, answer["error"]["code"], answer["ok"]), (8, "not-verified", False))

    run = Try()
    run.open()
    run.post("/begin", {"step": "sign-up"})
    run.post("/finish", {"step": "sign-up", "error": "NotAllowedError"})
    run.post("/end", {})
    status, answer, err = run.end()
    expect("no answer is another one", (status, answer["error"]["code"]), (10, "no-answer"))
    # The program itself, as ^C would end the script that notes how it is called.
    real = os.environ.get("YKIT_REAL", YKIT)
    run = Try(program=real)
    run.process.send_signal(signal.SIGINT)
    status, answer, err = run.end()
    expect("^C ends the run", (status, answer["error"]["code"]), (130, "interrupted"))
    run = Try("--passkey", program=real)
    run.open()
    for name in ("sign-up", "sign-in", "sign-up-again", "passkey"):
        step(run, name)
    run.process.send_signal(signal.SIGINT)
    status, answer, err = run.end()
    expect("^C after the passkey: what stays on the key is said, with the results so far",
           (status, len(answer["steps"]), "passkey-kept" in [w["code"] for w in answer["warnings"]]), (130, 4, True))
    run = Try("--open", program=real)
    if os.geteuid() != 0:
        run.process.stderr.readline()
    run.process.send_signal(signal.SIGINT)
    status, answer, err = run.end()
    if os.geteuid() == 0:
        expect("no browser is started by root", "no-browser" in [w["code"] for w in answer["warnings"]])


def decoded(text):
    from fido2.utils import websafe_decode
    return websafe_decode(text)


def encoded(data):
    from fido2.utils import websafe_encode
    return websafe_encode(bytes(data))


def test_browserless():
    global DEVICE
    folder = own_folder()
    state = f"{folder}/key"
    subprocess.run([YKIT, "--virtual", state, "fido2", "pin", "set"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, "YKIT_NEW_PIN": PIN})
    with in_reader("--state", state, ready=lambda: list(CtapPcscDevice.list_devices())):
        guarded()
        DEVICE = next(iter(CtapPcscDevice.list_devices()))
        usual()
        everything()
        wrong()
