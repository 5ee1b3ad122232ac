# SPDX-License-Identifier: Apache-2.0
"""The Secrets application of a virtual Nitrokey 3 in a real pcscd: Nitrokey's own tests of it pass, and Nitrokey's client and
ykit read what the other wrote. The commands of the article are typed.

YKIT is the ykit to test.
"""

import base64
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
from xml.etree import ElementTree

import pyotp
from nitrokey.nk3 import NK3
from nitrokey.nk3.secrets_app import Algorithm, Kind, SecretsApp, SecretsAppException
from nitrokey.trussed.admin_app import AdminApp, Status

from lib import terminal
from lib.device_suites import Key, venv
from lib.nitrokey_device import Device, connected
from lib.peer import ROOT, YKIT, beside_pcscd, expect, own_folder, reader_port, within

beside_pcscd("--name", "Nitrokey")

FOLDER = own_folder()
SECRET = b"12345678901234567890"
BASE32 = base64.b32encode(SECRET).decode()
PIN, NEW = "123456", "654321"
#: What cannot pass here, and why.
EXCEPT = {
    "test_send_remaining": "counts on the parts of a long list as HID has them",
    "test_send_rubbish": "counts on an error of CTAPHID",
    "test_reverse_hotp_failure": "adds without a PIN what the firmware refuses without one since version 0.13",
    "test_set_code": "of a feature that the firmware does not have",
    "test_set_code_and_validate": "of a feature that the firmware does not have",
    "test_revhotp_bruteforce": "of a feature that is off in the firmware",
    "test_revhotp_delay_on_failure": "of a feature that is off in the firmware",
    "test_load[1000]": "takes long",
}


@contextlib.contextmanager
def served():
    """A new key in the reader, which pcscd has noticed."""
    with Key("--vpcd", f"127.0.0.1:{reader_port()}", "--model", "nitrokey3", waits_for="the key is in the reader"):
        expect("a key is in the reader", within(10, connected) is not None)
        yield


def ykit(*arguments, text="", **settings):
    done = subprocess.run([YKIT, "--link", "pcsc", "secrets", *arguments, "--json"], input=text, capture_output=True, text=True,
                          timeout=60, env={**os.environ, **settings})
    answer = json.loads(done.stdout or "{}")
    return answer if done.returncode == 0 else (done.returncode, answer.get("error", {}).get("code"), done.stderr)


def test_suite():
    """Nitrokey's tests, unchanged."""
    sources = list((pathlib.Path(venv("pytest")).parent.parent / "suites").glob("pynitrokey-*/pynitrokey"))
    if len(sources) != 1:
        sys.exit("FAIL the tests of pynitrokey are not there; tools/test fetches them")
    report = f"{FOLDER}/report.xml"
    with served():
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "lib.nitrokey_device", "-p", "no:cacheprovider", f"--junitxml={report}",
             "-c", os.devnull, "--rootdir", sources[0], f"{sources[0]}/test_secrets_app.py",
             "-k", " and ".join(f"not ({name.replace('[', ' and ').rstrip(']')})" for name in EXCEPT)],
            env={**os.environ, "PYTHONPATH": f"{ROOT}/Tests/Peers:{sources[0].parent}"}, capture_output=True, text=True, timeout=600)
    if not os.path.exists(report):
        sys.exit(f"FAIL Nitrokey's tests were not read\n{done.stdout}{done.stderr}")
    cases = ElementTree.parse(report).getroot().findall(".//testcase")
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = [case.get("name") for case in cases if case.find("skipped") is not None]
    expect("none of Nitrokey's tests fails", failed or done.returncode, 0)
    expect("or is skipped", skipped, [])
    expect("all of them ran", len(cases) > 130 or len(cases))


def refused(status, call, *arguments):
    """Whether Nitrokey's client says that the key refused a command with this status."""
    try:
        call(*arguments)
    except SecretsAppException as error:
        return error.to_string() == status or error.to_string()
    return "not refused"


def found():
    """What Nitrokey's client finds by itself: by the answer to reset. The virtual key has no admin application."""
    AdminApp.status = lambda self: Status()
    with served():
        keys = NK3.list_ccid(exclusive=False)
        expect("Nitrokey's client finds the key", len(keys), 1)
        status = SecretsApp(keys[0]).select()
        expect("and its version", (status.version_str(), status.pin_attempt_counter), ("4.14.0", None))
        keys[0].close()


def both():
    """Each client in turn, since each selects the application anew."""
    totp, hotp = pyotp.TOTP(BASE32), pyotp.HOTP(BASE32)
    with served():
        expect("ykit sets the PIN", ykit("pin", "set", "--new-pin-stdin", text=PIN)["pinRetries"], 8)
        ykit("add", "one", "--secret-stdin", text=BASE32)
        ykit("add", "count", "--type", "hotp", "--counter", "5", "--secret-stdin", text=BASE32)
        ykit("add", "safe", "--type", "password", "--login", "alice", "--protected", "--password-stdin", "--metadata-fd", "0",
             "--pin-stdin", text=f"hunter2\nnote\n{PIN}")
        ykit("add", "laptop", "--type", "reverse-hotp", "--secret-stdin", "--pin-stdin", text=f"{BASE32}\n{PIN}")
        with Device() as device:
            client = SecretsApp(device)
            listed = {item.label.decode(): item for item in client.list_with_properties()}
            expect("Nitrokey's client lists what ykit added", sorted(listed), ["count", "laptop", "one"])
            expect("with its types", [listed[name].kind for name in sorted(listed)], [Kind.Hotp, Kind.HotpReverse, Kind.Totp])
            expect("makes its codes", client.calculate(b"one", 100).decode(), totp.at(3000))
            expect("and counts", [client.calculate(b"count").decode() for _ in range(2)], [hotp.at(5), hotp.at(6)])
            expect("does not see the protected entry", refused("NotFound", client.get_credential, b"safe"), True)
            client.verify_pin_raw(PIN)
            entry = client.get_credential(b"safe")
            expect("but with the PIN", (entry.login, entry.password, entry.metadata), (b"alice", b"hunter2", b"note"))
            client.verify_code(b"laptop", int(hotp.at(3)))
            expect("verifies codes once", refused("VerificationFailed", client.verify_code, b"laptop", int(hotp.at(3))), True)
            client.register(b"theirs", SECRET, 8, Kind.Totp, Algorithm.Sha256, touch_button_required=True)
            client.verify_pin_raw(PIN)
            client.register(b"vault", login=b"bob", password=b"pw", pin_based_encryption=True)
        expect("ykit goes on counting", ykit("code", "count")["code"], hotp.at(7))
        expect("makes their codes", ykit("code", "theirs", "--at", "59")["code"],
               pyotp.TOTP(BASE32, digits=8, digest="sha256").at(59))
        expect("lists their entry", [entry for entry in ykit("list")["entries"] if entry["name"] == "theirs"],
               [{"name": "theirs", "type": "totp", "algorithm": "sha256", "touch": True, "protected": False, "hasPassword": False}])
        expect("verifies the next code", ykit("verify", "laptop", hotp.at(6))["verified"], True)
        expect("and refuses the last one", ykit("verify", "laptop", hotp.at(6))[:2], (8, "code-wrong"))
        shown = ykit("show", "vault", "--pin-stdin", text=PIN)
        expect("shows their password", (shown["login"], shown["password"], shown["metadata"]), ("bob", "pw", None))
        ykit("update", "vault", "--login", "carol", "--pin-stdin", text=PIN)
        exported = ykit("export", "-", "--protected", "--pin-stdin", text=PIN)
        fields = {entry["name"]: (entry["login"], entry["password"], entry["metadata"]) for entry in exported["entries"]}
        expect("exports what can be read", (fields["vault"], fields["safe"], fields["one"]),
               (("carol", "pw", None), ("alice", "hunter2", "note"), (None, None, None)))
        expect("a wrong PIN costs one try", ykit("pin", "verify", "--pin-stdin", text="0")[:2], (8, "pin-wrong"))
        ykit("pin", "change", "--pin-stdin", "--new-pin-stdin", text=f"{PIN}\n{NEW}")
        ykit("rename", "one", "two", "--force")
        ykit("delete", "theirs", "--force")
        with Device() as device:
            client = SecretsApp(device)
            expect("Nitrokey's client counts tries as ykit", client.select().pin_attempt_counter, 8)
            expect("the old PIN is refused", refused("VerificationFailed", client.verify_pin_raw, PIN), True)
            client.verify_pin_raw(NEW)
            expect("and the new one opens", sorted(client.list()), [b"count", b"laptop", b"safe", b"two", b"vault"])
            client.verify_pin_raw(NEW)
            expect("the fields that ykit did not change are there", client.get_credential(b"vault").password, b"pw")
        expect("ykit reads the tries", (ykit("info")["pinRetries"], ykit("info")["pinSet"]), (8, True))
        expect("and resets", ykit("reset", "--force")["reset"], True)
        with Device() as device:
            client = SecretsApp(device)
            expect("which Nitrokey's client sees", (client.list(), client.select().pin_attempt_counter), ([], None))


def test_clients():
    found()
    both()


def test_article():
    """Its commands, in a shell at a terminal, where the person sees what is asked."""
    text = (ROOT / "Sources/ykit/ykit.docc/Secrets.md").read_text()
    commands = [line.split("  #")[0].strip() for block in re.findall(r"^```\n(.*?)^```$", text, re.S | re.M)
                for line in block.splitlines()]
    expect("its commands", len(commands), 11)
    home = f"{FOLDER}/home"
    os.makedirs(f"{home}/bin")
    pathlib.Path(f"{home}/bin/ykit").write_text(f'#!/bin/sh\nexec {YKIT} --virtual {home}/key.json --link pcsc "$@"\n')
    os.chmod(f"{home}/bin/ykit", 0o700)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("YKIT_") or key in ("YKIT_REAL", "YKIT_NOTES")}
    environment |= {"HOME": home, "TERM": "xterm", "NO_COLOR": "1", "PATH": f"{home}/bin:{os.environ['PATH']}",
                    "YKIT_OATH_SECRET": "JBSWY3DPEHPK3PXP"}
    subprocess.run([YKIT, "virtual", "new", "key.json", "--model", "nitrokey3"], check=True, cwd=home, env=environment,
                   stdout=subprocess.DEVNULL)
    for line in commands:
        answers = []
        if "--type password" in line:
            answers += [("password of", "hunter2\n"), ("[Rr]epeat|again", "hunter2\n")]
        if line.endswith("pin set"):
            answers += [("new PIN", f"{PIN}\n"), ("[Rr]epeat|again", f"{PIN}\n")]
        if "protected" in line or "reverse" in line or "show shop" in line:
            answers.append(("PIN: ", f"{PIN}\n"))
        status, seen = terminal.run(["bash", "-c", line], environment, home, answers, 60)
        expect(f"the article: {line}", status == 0 or seen.decode(errors="replace"))
