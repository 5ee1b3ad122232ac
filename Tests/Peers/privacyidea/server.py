# SPDX-License-Identifier: Apache-2.0
"""What the tests of approvals and second factors share: a privacyIDEA of their own, its administrator, the messages that it
sends, and ykit on software keys and a store in a folder of their own.

    sys.path.insert(0, f"{…}/Tests/Peers/privacyidea")
    from lib.peer import expect, main
    from server import Server, WORK, raw, ykit

    def part():
        with Server("--tls") as server:
            server.policy("push-presence")
            token = server.admin("POST", "/token/init", type="push", user="alice", genkey=1)["detail"]
            answer, status = ykit("approve", "list", stdin="1234\\n")
            expect("nothing is open", (status, answer["requests"]), (0, []))

    main(part)
"""

import atexit
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from lib.peer import ROOT, YKIT, own_folder, pipe

WORK = own_folder("privacyidea-")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ykit-test-servers/privacyidea-server")
PROGRAM = f"{ROOT}/Tests/Peers/privacyidea/privacyidea-server"


class Answer(dict):
    """A JSON answer with its HTTP status and header."""
    status = 0
    headers = None

    @property
    def value(self):
        return self["result"].get("value")

    @property
    def authentication(self):
        return self["result"].get("authentication")


class Server:
    """A privacyIDEA that ends with this process, with the options of YKIT_TEST_PRIVACYIDEA besides. `url` is its address over
    TLS when that was asked for, `http` the one without."""

    def __init__(self, *options):
        self.options = (*options, *os.environ.get("YKIT_TEST_PRIVACYIDEA", "").split())
        self.run()
        self.http = self.state["url"]
        self.url = self.state.get("https", self.http)
        self.ca, self.pin, self.dir = (self.state.get(name) for name in ("ca", "pin", "dir"))
        self.audit_key = f"{self.dir}/public.pem"
        self.token = self.call("POST", "/auth", username="admin", password="adminpw").value["token"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def run(self, *more):
        """Starts the process, and waits until it answers."""
        self.process = subprocess.Popen(["/usr/bin/python3", PROGRAM, "run", "--until-eof", "--env", CACHE, *self.options, *more],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.stop)  # Not killed: a PostgreSQL of its own would stay behind.
        line = self.process.stdout.readline()
        self.state = json.loads(line) if line else sys.exit("privacyIDEA did not start")

    def kill(self):
        """Kills the server as a crash would."""
        os.kill(self.state["pid"], signal.SIGKILL)
        self.process.wait(30)

    def restart(self):
        """Starts the killed server again with its database and its ports."""
        atexit.register(shutil.rmtree, self.dir, ignore_errors=True)
        ports = [f"--port={self.http.rsplit(':', 1)[1]}"]
        if "https" in self.state:
            ports.append(f"--tls-port={self.url.rsplit(':', 1)[1]}")
        self.run("--dir", self.dir, "--resume", *ports)

    def stop(self):
        """Ends the server, and waits for that."""
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def call(self, method, path, token=None, headers=None, **body):
        """A request without a token or with another one; refusals are answers too."""
        url, data, fields = self.http + path, None, dict(headers or {})
        if method in ("GET", "DELETE"):
            url += ("?" + urllib.parse.urlencode(body)) if body else ""
        else:
            data = json.dumps(body).encode()
            fields["Content-Type"] = "application/json"
        if token:
            fields["Authorization"] = token
        request = urllib.request.Request(url, data, fields, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            reply = opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            reply = error
        with reply:
            text = reply.read()
        try:
            answer = Answer(json.loads(text))
        except json.JSONDecodeError:
            answer = Answer(text=text.decode(errors="replace"), result={})
        answer.status, answer.headers = reply.status, reply.headers
        return answer

    def admin(self, method, path, **body):
        """A request of the administrator, which has to succeed."""
        answer = self.call(method, path, token=self.token, **body)
        if answer.status != 200:
            sys.exit(f"{method} {path}: {answer.status} {dict(answer)}")
        return answer

    def log_in(self):
        """Starts a login of alice, whose factor is asked in the background; its transaction."""
        return self.call("POST", "/validate/check", user="alice", **{"pass": "2222"})["detail"]["transaction_id"]

    def state_of(self, transaction):
        """What became of a login: pending, accept or declined."""
        return self.call("GET", "/validate/polltransaction", transaction_id=transaction)["detail"]["challenge_status"]

    def policy(self, name, on=True):
        """Switches one of the policies that privacyidea-server has."""
        self.admin("POST", f"/policy/{'enable' if on else 'disable'}/{name}")

    def messages(self, via=None):
        """What was sent by SMS ("sms"), mail ("mail") and push ("push") so far."""
        path = self.state["messages"]
        lines = pathlib.Path(path).read_text().splitlines() if os.path.exists(path) else []
        found = [json.loads(line) for line in lines]
        return [message for message in found if via in (None, message["via"])]

    def pin_sent(self, via="sms", after=0, seconds=10):
        """The six digits of the message after so many others."""
        end = time.monotonic() + seconds
        while len(self.messages(via)) <= after and time.monotonic() < end:
            time.sleep(0.05)
        found = self.messages(via)
        return found[-1]["text"].split()[-1] if len(found) > after else None

    def remove_tokens(self, user="alice"):
        """Deletes all tokens of a user."""
        for token in self.admin("GET", "/token/", user=user, realm="test").value["tokens"]:
            self.admin("DELETE", f"/token/{token['serial']}")

    def tls(self):
        """What trusts this server's certificate, for a client in Python."""
        return ssl.create_default_context(cafile=self.ca)


def environment(more=None):
    """The environment of ykit: nothing of this machine's owner."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("YKIT_") or name.startswith("YKIT_NOTE")
            or name == "YKIT_REAL"}
    return {**kept, "HOME": WORK, "XDG_DATA_HOME": f"{WORK}/data", "XDG_CONFIG_HOME": f"{WORK}/config", "NO_PROXY": "localhost,127.0.0.1",
            **(more or {})}


def raw(*words, stdin="", fds=(), env=None, timeout=120):
    """Runs ykit and waits for it."""
    return subprocess.run([YKIT, *words], input=stdin, capture_output=True, text=True, pass_fds=fds, env=environment(env), timeout=timeout)


def start(*words, env=None, **more):
    """Starts ykit beside the test, ended with it at the latest."""
    process = subprocess.Popen([YKIT, *words], text=True, env=environment(env), **more)
    atexit.register(process.kill)
    return process


def ykit(*words, key="key.json", stdin="", secrets=(), env=None, record=None):
    """The JSON answer of a verb on a software key in the work folder, and its exit status. `secrets` are pairs of an
    option and what is read from the descriptor that it names."""
    fds = []
    for option, secret in secrets:
        fds.append(pipe(secret))
        words += (option, str(fds[-1]))
    made = f"{WORK}/{key}"
    if not os.path.exists(made):
        raw("virtual", "new", made)
    before = ["--record", record] if record else []
    try:
        done = raw("--virtual", made, *before, "--json", *words, stdin=stdin, fds=fds, env=env)
    finally:
        for descriptor in fds:
            os.close(descriptor)
    try:
        return json.loads(done.stdout), done.returncode
    except json.JSONDecodeError:
        return {"ok": False, "error": {"code": None, "message": done.stdout + done.stderr}}, done.returncode


def code(answer):
    """The error code of an answer, or nothing."""
    return (answer.get("error") or {}).get("code")
