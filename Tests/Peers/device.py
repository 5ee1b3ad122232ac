# SPDX-License-Identifier: Apache-2.0
"""tools/test device on virtual keys in a reader of a real pcscd, with a person at a terminal: a key that holds something and one
that is not the named one are refused; without consent nothing happens; a run ends with a key that is empty again and a report
without deviations, whose recordings replay to the same answers; ^C says what the key holds; and a key that misbehaves on purpose is
caught, each deviation by its kind. Over a whole USB key: tools/test guest device.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import threading
import time

from lib.peer import REAL, ROOT, beside_pcscd, expect, holds, own_folder, reader_port, within
from lib.tampering import Tampering
from lib.terminal import Terminal

beside_pcscd()
sys.path.insert(0, str(ROOT / "Tests/Device"))
from trial.replay import replays  # noqa: E402

FOLDER = pathlib.Path(own_folder())
SERIAL = "16909060"
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("YKIT")}, "YKIT": REAL, "HOME": str(FOLDER)}


class Key:
    """A virtual key in the reader, behind a link that may change its answers, with the person who plugs it in."""

    def __init__(self, name, *options, change=lambda command, answer: answer, model=(), serial=SERIAL):
        self.state, self.options, self.serial = FOLDER / f"{name}.json", options, serial
        if not self.state.exists():
            subprocess.run([REAL, "virtual", "new", self.state, *model], check=True, capture_output=True)
            content = json.loads(self.state.read_text())
            content["device"]["serial"] = int(serial)
            self.state.write_text(json.dumps(content))
        self.link = Tampering(reader_port(), change)

    def plug(self):
        self.server = subprocess.Popen(
            [REAL, "virtual", "serve", "--vpcd", f"127.0.0.1:{self.link.port}", "--state", self.state, *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.server.stderr.read, daemon=True).start()
        within(60, self.is_seen, 0.1)

    def is_seen(self):
        listed = subprocess.run([REAL, "list", "--serials"], capture_output=True, text=True, env=ENVIRONMENT)
        return self.serial in listed.stdout.split()

    def unplug(self):
        self.server.terminate()
        self.server.wait()
        time.sleep(1.2)  # pcscd looks every 0.4 s

    def ykit(self, *words, **variables):
        """A verb on the key while nothing uses it."""
        done = subprocess.run([REAL, "--json", "--virtual", self.state, *words], capture_output=True, text=True,
                              env={**ENVIRONMENT, **variables})
        return json.loads(done.stdout)

    def content(self, *applications):
        """What it holds, without what it generates by itself when it is first asked."""
        state = json.loads(self.state.read_text())
        return [state.get(name) for name in applications or ("oath", "piv", "fido")]

    def __enter__(self):
        self.plug()
        return self

    def __exit__(self, *_):
        self.unplug()
        self.link.close()


def terminal(key, *words, name=None):
    command = [f"{ROOT}/Tests/Device/run", "--serial", SERIAL, *words]
    if name:
        command += ["--output", str(FOLDER / name)]
    return Terminal(command, ENVIRONMENT, str(FOLDER), columns=160)


def attended(key, *words, name):
    """A run whose person consents, and re-inserts the key when asked to; returns its status, its output and its report."""
    with terminal(key, *words, name=name) as person:
        if person.expect("to continue, [0-9]+:", 60) is not None:
            person.type(SERIAL + "\n")
            if person.expect("then (insert it again|put it back)|the report is in", 500) and b"the report is in" not in person.seen:
                key.unplug()
                key.plug()
        status = person.wait(300)
        said = person.seen.decode(errors="replace")
    report = FOLDER / name / "report.json"
    return status, said, json.loads(report.read_text()) if report.exists() else None


def deviations(report):
    return [(step["application"], step["name"], one["kind"], one["where"], one["key"], one["expected"])
            for step in report["steps"] for one in step["deviations"]]


def test_refusals():
    with Key("held") as key:
        pass
    key.ykit("oath", "uri", "otpauth://totp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    key.ykit("fido2", "pin", "set", YKIT_NEW_PIN="123456")
    key.ykit("piv", "keys", "generate", "9a")
    before = key.content()
    with Key("held") as key, terminal(key) as person:
        expect("a key that holds something is refused", person.wait(60), 1)
        said = person.seen.decode()
        for part in ("nothing was changed", "OATH accounts: 1", "a FIDO2 PIN", "a PIV key or certificate in slot 9a"):
            holds("... and what it holds is said", part, said)
    expect("... and it is as it was", key.content(), before)
    with Key("held") as key:
        status, said, report = attended(key, "--read-only", name="reading")
        expect("read-only, it may hold anything", (status, {step["exitCode"] for step in report["steps"]} <= {0, 11, 12}), (0, True))
        expect("... and nothing was done but reading", report["applications"]["oath"], "not changed")
    with Key("other", serial="5") as key, terminal(key) as person:
        expect("a key that is not the named one is refused", (person.wait(60), b"can be used" in person.seen), (1, True))
    with Key("empty") as key:
        before = key.content("oath")
        with terminal(key, "oath") as person:
            person.expect("to continue", 60)
            holds("what is lost is said", "all OATH accounts and the password", person.seen.decode())
            person.type("yes\n")
            expect("without the serial number nothing happens", (person.wait(20), b"not confirmed" in person.seen), (1, True))
        done = subprocess.run([f"{ROOT}/Tests/Device/run", "--serial", SERIAL], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env=ENVIRONMENT, cwd=FOLDER)
        expect("without a terminal nothing happens", (done.returncode, "run it at a terminal" in done.stdout), (1, True))
    expect("the key is as it was", key.content("oath"), before)


def test_whole():
    for name, model in (("5.7.1", []), ("neo", ["--model", "neo"])):
        with Key(name, model=model) as key:
            status, said, report = attended(key, name=f"report-{name}")
            expect(f"{name}: no deviation", (deviations(report), status) if report else said, ([], 0))
            expect(f"{name}: every application is empty again, or was only read",
                   set(report["applications"].values()) <= {"emptied again", "not changed", "not on this key"} or report["applications"])
            expect(f"{name}: and steps were done", sum(step["exitCode"] == 0 for step in report["steps"]) > 25)
        expect(f"{name}: the recordings replay to the same answers", list(replays(REAL, FOLDER / f"report-{name}")), [])
        expect(f"{name}: no account is left", key.ykit("oath", "list")["accounts"], [])
        with tarfile.open(FOLDER / f"report-{name}.tar.gz") as archive:
            names = archive.getnames()
        expect(f"{name}: the archive has the report and the recordings",
               {f"report-{name}/report.json", f"report-{name}/report.txt"} < set(names) and len(names) > 25)
    with contextlib.ExitStack() as stack:
        key = stack.enter_context(Key("nfc", "--nfc"))
        status, said, report = attended(key, "--contactless", "management", "oath", "nfc", "fido2", name="report-nfc")
        expect("contactless: no deviation", (deviations(report), status), ([], 0))


def test_interrupted():
    with Key("stopped", "--touch", "never") as key:
        with terminal(key, "oath", "piv", name="stopped") as person:
            person.expect("to continue", 60)
            person.type(SERIAL + "\n")
            person.expect("its code: touch the key", 60)
            time.sleep(1)
            person.type("\x03")
            expect("^C while it waits for a touch", person.wait(30), 130)
            said = person.seen.decode()
        holds("... says what the key holds and how it is emptied", f"oath: holds test data; 'ykit --device {SERIAL} oath reset' empties it", said)
        holds("... what is unchanged", "piv: not changed", said)
        holds("... and what was being done", "interrupted during 'oath: its code'", said)
        report = json.loads((FOLDER / "stopped/report.json").read_text())
        expect("... and there is a report", (report["finished"], len(report["steps"]) > 5), (False, True))


def after(prefix, change, skip=0):
    """A change of the answers to commands that begin with these bytes, after the first few of them."""
    seen = []

    def changed(command, answer):
        if not command.hex().startswith(prefix):
            return answer
        seen.append(command)
        return change(answer) if len(seen) > skip else answer

    return changed


def swapped(old, new):
    return lambda answer: answer.replace(bytes.fromhex(old), bytes.fromhex(new))


FIRST = "its first code, by RFC 4226"
#: What the key does wrong, how it is done, the applications, and the deviation that is found: step, kind, member or exchange.
MISDEEDS = [
    ("a wrong code", {"change": after("00a2", lambda answer: bytes([*answer[:-3], answer[-3] ^ 1, *answer[-2:]]))}, ["oath"],
     (FIRST, "result", "")),
    ("a status word of its own", {"change": after("00a1", lambda _: b"\x6f\x00", 1)}, ["oath"],
     ("the list with the password", "status", "")),
    ("a reply that is cut off", {"change": after("00a2", lambda answer: answer[:4] + b"\x90\x00")}, ["oath"], (FIRST, "malformed", "")),
    ("an account that it does not have", {"change": after("00a1", lambda answer: b"\x72\x03\x21ab" + answer, 1)}, ["oath"],
     ("the list with the password", "answer", "accounts")),
    ("another version than its firmware has", {"model": ["--firmware", "5.2.4"], "change": after("001d", swapped("050204", "050701"))},
     ["oath"], ("what it is", "answer", "version")),
    ("more tries than there are", {"change": after("0024", swapped("63c2", "63c9"))}, ["piv"],
     ("a wrong PIN", "answer", "error.retriesLeft")),
    ("an attestation that it does not have", {"change": after("00f9", lambda _: b"\x6d\x00")}, ["piv"],
     ("its attestation", "status", "")),
    ("a signature of something else", {"change": after("0087119a", lambda answer: answer[:-8] + b"\0" * 6 + answer[-2:])}, ["piv"],
     ("a signature", "malformed", "")),
    ("no answer", {"options": ["--fault", "on 00a2 at 1: drop"]}, ["oath"], (FIRST, "silent", "")),
    ("a late answer", {"options": ["--fault", "on 00a2 at 1: delay 9s"]}, ["oath"], (FIRST, "slow", "")),
    ("removed while it works", {"options": ["--fault", "on 00a2 at 1: remove"]}, ["oath"], (FIRST, "gone", "")),
]


def test_misdeeds():
    for number, (name, how, applications, found) in enumerate(MISDEEDS):
        with Key(f"misdeed{number}", *how.get("options", []), change=how.get("change", lambda _, answer: answer),
                 model=how.get("model", [])) as key:
            status, said, report = attended(key, *applications, name=f"misdeed{number}")
            steps = [one[1:4] for one in deviations(report)] if report else [said]
            expect(f"{name}: found", found if found in steps else steps, found)
            expect(f"{name}: the run says so", status, 1)


def test_sent_in():
    """Every report that people sent in replays."""
    for folder in sorted(path.parent for path in (ROOT / "captures/hardware").glob("*/report.json")):
        expect(f"{folder.name} replays", list(replays(REAL, folder)), [])
