# SPDX-License-Identifier: Apache-2.0
"""What the scripts in this folder share: the guest, virtual keys on its /dev/hidraw, the web site, and its three judges."""

import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))
from lib.peer import ROOT, YKIT, expect, failures, within  # noqa: E402
from lib.relying_party import RelyingParty  # noqa: E402

#: As short as a PIN may be: one that a dialog got only a part of is not sent to the key.
PIN, WRONG_PIN = "1357", "2468"
#: Where pictures of the pages are kept, also of those at which a browser hung.
PICTURES = ROOT / ".build/browser"
#: How long a ceremony may take in the guest on a busy machine, in seconds.
LIMIT = 240


def in_guest(script):
    """Runs the script again as root of a guest with uhid; returns there, with an empty folder as HOME."""
    if "YKIT_IN_GUEST" not in os.environ:
        PICTURES.mkdir(parents=True, exist_ok=True)
        guest = f"{ROOT}/tools/lab/run-in-guest"
        os.environ |= {"YKIT": YKIT, "YKIT_IN_GUEST": "yes", "YKIT_QT": os.environ.get("YKIT_QT", "")}
        os.execv(guest, [guest, "-m", "uhid hid-generic", "-r", "3072", "-t", "2400", "-w", str(PICTURES), "-e", "YKIT",
                         "-e", "YKIT_IN_GUEST", "-e", "YKIT_QT", "--", sys.executable, "-B", os.path.abspath(script), *sys.argv[1:]])
    os.environ["HOME"] = tempfile.mkdtemp()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    # Browsers learn of keys that are plugged in later from the udev daemon.
    subprocess.run(["/lib/systemd/systemd-udevd", "--daemon"], check=True)


def ykit(*arguments, text=""):
    """ykit's answer as JSON."""
    done = subprocess.run([YKIT, "--json", *arguments], input=text, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)


class Key:
    """A virtual key of its own, plugged in during the block."""

    #: Those of the case.
    made: list = []

    def __init__(self, *options, pin=False, touch="yes"):
        folder = tempfile.mkdtemp()
        self.state, self.log, self.said = f"{folder}/key.json", f"{folder}/log", f"{folder}/said"
        made = ykit("virtual", "new", self.state, *options)
        assert made["ok"], made
        if pin:
            done = ykit("--virtual", self.state, "fido2", "pin", "set", "--new-pin-stdin", text=f"{PIN}\n")
            assert done["ok"], done
        self.touching, self.process = touch, None
        Key.made.append(self)

    def __enter__(self):
        command = [YKIT, "--log-level", "traffic", "--log-file", self.log, "virtual", "serve", "--uhid", "--state", self.state,
                   "--touch", self.touching]
        with open(self.said, "w") as said:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        node = within(120, lambda: re.search(r"the key is (/dev/hidraw\d+)", read(self.said)))
        assert node, f"no node: {read(self.said)}"
        self.node = node[1]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        assert within(60, lambda: not os.path.exists(self.node)), f"{self.node} stays"

    def count(self, words):
        """How often words are in its traffic so far."""
        return read(self.log).count(words)


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except FileNotFoundError:
        return ""


class Site:
    """A relying party with one account, and its page at http://localhost."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    def __init__(self):
        handler = functools.partial(self.Handler, directory=os.path.dirname(os.path.abspath(__file__)))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.origin = f"http://localhost:{server.server_port}"
        self.page = f"{self.origin}/page.html"


class Account:
    """An account at the site, in one browser. Each answer is judged by python-fido2, webauthn and ykit."""

    def __init__(self, browser, site, name):
        self.browser, self.site, self.name = browser, site, name
        self.party = RelyingParty("none", rp="localhost", origin=site.origin)
        self.registrations, self.folder = {}, pathlib.Path(tempfile.mkdtemp())

    def create(self, what="create", pins=(), during=None, **wanted):
        """Registers a key; the RegistrationResponseJSON."""
        options, state = self.party.creation(**wanted)
        self.user = options["publicKey"]["user"]["id"]
        made = self.answer(what, options, pins, during)
        self.judge(what, state, made, self.party.registered)
        self.registrations[made["id"]] = made
        return made

    def get(self, what="get", pins=(), during=None, named=True, **wanted):
        """Signs in, with or without naming the credentials; the AuthenticationResponseJSON."""
        options, state = self.party.request(self.party.known if named else None, **wanted)
        signed = self.answer(what, options, pins, during)
        self.judge(what, state, signed, self.party.authenticated, self.registrations.get(signed["id"]))
        return signed

    def refused(self, what, wanted, **options):
        """A registration that ends with this error."""
        options, _ = self.party.creation(**options)
        got = self.browser.ceremony(f"{self.name} {what}", options["publicKey"])
        expect(f"{self.name}: {what}", got.get("error", got), wanted)

    def answer(self, what, options, pins, during):
        got = self.browser.ceremony(f"{self.name} {what}", options["publicKey"], pins, during)
        if "credential" not in got:
            raise RuntimeError(f"{what}: {got}")
        return got["credential"]

    def judge(self, what, state, answer, servers, registration=None):
        verdicts = {"python-fido2, webauthn": "accepted", "ykit": self.verdict(state, answer, registration)}
        try:
            servers(state, answer)
        except Exception as error:  # Whatever a judge raises is a refusal.
            verdicts["python-fido2, webauthn"] = repr(error)
        expect(f"{self.name}: {what}, three judges", verdicts, dict.fromkeys(verdicts, "accepted"))

    def verdict(self, state, answer, registration):
        (self.folder / "answer").write_text(json.dumps(answer))
        more = ["--uv"] if state["user_verification"] == "required" else []
        if registration:
            (self.folder / "registration").write_text(json.dumps(registration))
            more += ["--registration", str(self.folder / "registration")]
        said = ykit("fido2", "verify", str(self.folder / "answer"), "--rp", "localhost", "--origin", self.site.origin,
                    "--challenge", state["challenge"], *more)
        return "accepted" if said["ok"] and said["verified"] else said


class Browser:
    """A browser with one page. A subclass starts and drives it."""

    #: Whether it looks for a credential without a touch before it signs in.
    searches = False
    #: Whether it hands a page the secrets that the key has derived.
    has_secrets = True

    def ceremony(self, what, options, pins=(), during=None):
        """What the page's ceremony gave. Meanwhile PINs are typed, dialogs are closed, and `during` is called once."""
        self.begin(pins)
        self.evaluate(f"begin({json.dumps(options)})")
        if during:
            during()
        answer = self.attended(lambda: self.evaluate("JSON.stringify(answer)"), what)
        return json.loads(answer)

    def attended(self, truth, what):
        """The value of `truth()`, called until it is neither None nor "null"; a user sits before the browser meanwhile."""
        limit = time.monotonic() + LIMIT
        while time.monotonic() < limit:
            value = truth()
            if value not in (None, "null"):
                return value
            self.attend()
            time.sleep(0.3)
        self.picture(PICTURES / f"{self.name}-{what.replace(' ', '-')}-hangs.png")
        raise TimeoutError(f"{what}: no answer in {LIMIT} s")


def case(test):
    """A test of a browser, by the name that the command line has for it."""
    cases[test.__name__.strip("_").replace("_", "-")] = test
    return test


cases: dict = {}


def run(make, script):
    """Runs the cases that are named, or all, in one browser in the guest; `make` makes the browser."""
    wanted = sys.argv[1:] or list(cases)
    unknown = [name for name in wanted if name not in cases]
    if unknown:
        sys.exit(f"no case {', '.join(unknown)}; there are: {' '.join(cases)}")
    wanted.sort(key=list(cases).index)
    in_guest(script)
    site, browser, started = Site(), make(), time.monotonic()
    try:
        browser.start(site.page)
        print(f"{browser.name} shows its page after {time.monotonic() - started:.0f} s", flush=True)
        for name in wanted:
            attempt(name, browser, site)
    finally:
        browser.stop()
    sys.exit(1 if failures else 0)


def attempt(name, browser, site):
    """Runs a case, and shows what key and browser said if it failed."""
    started, before = time.monotonic(), len(failures)
    Key.made = []
    try:
        cases[name](browser, site, name)
    except Exception as error:
        expect(name, f"{type(error).__name__}: {error}", "no error")
        if name != list(cases)[-1]:
            browser.go(site.page)
    if len(failures) > before:
        for key in Key.made:
            lines = [line for line in read(key.log).splitlines() if line.startswith("traffic:   ")]
            print("\n".join(f"     {line}" for line in [*lines[-40:], *read(key.said).splitlines()[-5:]]))
        print("\n".join(f"     {line}" for line in browser.log()))
    print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
