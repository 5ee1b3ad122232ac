# SPDX-License-Identifier: Apache-2.0
"""Two virtual keys behind one real pcscd: how one is selected, and what happens when a key or the daemon disappears.

YKIT is the ykit to test.
"""

import base64
import json
import os
import subprocess

from lib import terminal
from lib.peer import ROOT, YKIT, beside_pcscd, expect, own_folder, reader_port, within

BASE32 = base64.b32encode(b"12345678901234567890").decode()
READERS = ["Yubico YubiKey OTP+FIDO+CCID", "Yubico YubiKey CCID"]
beside_pcscd("--readers", "2", "--apdu-log", *(word for name in READERS for word in ("--name", name)))
FOLDER = own_folder()
NAMES = [f"{READERS[0]} 00 00", f"{READERS[1]} 01 00"]
SERIALS = ["30000001", "30000002"]
SECRETS = {"YKIT_OATH_SECRET": BASE32, "YKIT_OATH_NEW_PASSWORD": "correct horse"}


def start(*arguments, **settings):
    home = {"HOME": FOLDER, "XDG_STATE_HOME": f"{FOLDER}/state", "YKIT_KEYRING": "file"}
    environment = {name: value for name, value in os.environ.items() if name not in ("YKIT_DEVICE", "YKIT_READER")}
    return subprocess.Popen([YKIT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**environment, **home, **settings})


def finish(process, seconds=90):
    """Status, output and errors; a program that hangs is killed and has the status None."""
    try:
        output, errors = process.communicate(timeout=seconds)
        return process.returncode, output.strip(), errors.strip()
    except subprocess.TimeoutExpired:
        process.kill()
        return None, *(text.strip() for text in process.communicate())


def ykit(*arguments, **settings):
    return finish(start(*arguments, **settings))


def filled():
    """By reader name: whether it contains a card."""
    answer = json.loads(ykit("list", "--readers", "--json")[1] or "{}")
    return {device["reader"]: device["hasCard"] for device in answer.get("devices", [])}


def control(verb):
    subprocess.run([os.environ["YKIT_TEST_PCSCD_CTL"], verb], stdout=subprocess.DEVNULL, check=True, timeout=90)


def new_key(place, *names):
    """The state file of a key with a serial number of its own."""
    path = f"{FOLDER}/key-{place}.json"
    for name in names:
        ykit(f"--virtual={path}", "oath", "add", "-f", name, **SECRETS)
    with open(path) as file:
        state = json.load(file)
    state["device"]["serial"] = int(SERIALS[place])
    with open(path, "w") as file:
        json.dump(state, file)
    return path


class Key:
    """A virtual key in a reader during a block."""

    def __init__(self, place, state, *options):
        self.place, self.state, self.options = place, state, options

    def __enter__(self):
        port = reader_port(self.place)
        command = [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", self.state, *self.options]
        with open(f"{FOLDER}/serve.log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.wait(True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.wait(False)

    def wait(self, is_there):
        if not within(60, lambda: filled().get(NAMES[self.place]) == is_there):
            raise SystemExit("FAIL the virtual key and its reader do not find each other")

    def pull(self):
        self.process.kill()
        self.process.wait(60)


def choices(status, output):
    """The candidates in a JSON answer, abbreviated."""
    error = json.loads(output)["error"] or {}
    ways = [(one["reader"], one["serial"], one["transport"], one["path"]) for one in error.get("candidates", [])]
    found = [[way == (name, serial, "pcsc", None) for name, serial in zip(NAMES, SERIALS, strict=True)] for way in ways]
    return status, error.get("code"), found


def check_choice():
    both = [[True, False], [False, True]]
    verbs = [["info"], ["oath", "info"], ["oath", "list"], ["oath", "calculate"], ["oath", "calculate", "x"],
             ["oath", "add", "-f", "x"], ["oath", "rename", "-f", "x", "y"], ["oath", "delete", "-f", "x"],
             ["oath", "reset", "-f"], ["oath", "access", "change"], ["oath", "access", "forget"],
             ["apdu", "-a", "oath", "a1"]]
    for verb in verbs:
        status, output, errors = ykit(*verb, **SECRETS)
        told = [name in errors and serial in errors for name, serial in zip(NAMES, SERIALS, strict=True)]
        expect(f"{' '.join(verb)}: which key is asked", (status, output, told), (4, "", [True, True]))
        status, output, _ = ykit(*verb, "--json", **SECRETS)
        expect("... also in JSON", choices(status, output), (4, "several-devices", both))
    for place, account in enumerate(["Acme:alice", "Other:bob"]):
        def by(*options, **settings):
            return ykit("oath", "list", *options, **settings)
        found = [by("--device", SERIALS[place]), by("--reader", NAMES[place]), by("--reader", f"0{place} 00"),
                 by(YKIT_DEVICE=SERIALS[place]), by(YKIT_READER=NAMES[place].lower())]
        expect(f"key {place + 1} by serial number, reader, part of it, environment", found, [(0, account, "")] * 5)
    wrong = ykit("oath", "list", "--device", "999", "--json")
    expect("no such serial number", choices(*wrong[:2]), (3, "no-such-device", both))
    status, _, errors = ykit("oath", "list", "--device", SERIALS[0], "--reader", NAMES[1])
    expect("a serial number that is in another reader", (status, SERIALS[0] in errors), (3, True))
    status, _, errors = ykit("oath", "list", "--reader", "nosuch")
    expect("no such reader", (status, "'nosuch'" in errors), (3, True))
    expect("a part of both readers' names", ykit("oath", "list", "--reader", "YUBICO")[0], 4)


def check_menu():
    """A user at a terminal chooses between the two."""
    environment = {**os.environ, "HOME": FOLDER, "XDG_STATE_HOME": f"{FOLDER}/state", "TERM": "xterm", "NO_COLOR": "1"}
    for keys, wanted in (("2\n", b"Other:bob"), ("\x1b[B\n", b"Acme:alice"), (SERIALS[1] + "\n", b"Other:bob")):
        status, seen = terminal.run([YKIT, "oath", "list"], environment, FOLDER, (("(?s)which key.*Esc cancels", keys),))
        expect(f"{keys!r} at the menu of keys", (status, seen.endswith(wanted + b"\r\n")), (0, True))
    status, seen = terminal.run([os.environ.get("YKIT_REAL", YKIT), "oath", "reset"], environment, FOLDER, (("(?s)which key.*Esc cancels", "\x03"),))
    expect("^C at the menu of keys: 130", status, 130)


def check_list():
    devices = json.loads(ykit("list", "--json")[1])["devices"]
    expect("list shows both", [(one["reader"], one["serial"]) for one in devices], list(zip(NAMES, SERIALS, strict=True)))
    expect("list --serials", ykit("list", "--serials")[1].split(), SERIALS)
    rows = ykit("list")[1].splitlines()
    expect("list for people", [name in row and serial in row for row, name, serial in zip(rows, NAMES, SERIALS, strict=False)],
           [True, True])


def sent(command=""):
    """The number of APDUs in pcscd's log with this prefix."""
    with open(os.environ["YKIT_TEST_PCSCD_LOG"], errors="replace") as log:
        return log.read().count(f"APDU: {command}")


def in_the_middle(act, *arguments):
    """What a verb does when something happens while the key processes LIST."""
    before = sent("00 A1")
    process = start(*arguments)
    reached = within(60, lambda: sent("00 A1") > before)
    act()
    return reached, *finish(process)


def check_gone_in_the_middle(first, second):
    slow = ["--fault", "on 00a1: delay 60s"]
    with Key(0, first), Key(1, second, *slow) as key:
        reached, status, _, errors = in_the_middle(key.pull, "oath", "list", "--device", SERIALS[1])
        expect("a key pulled in the middle", (reached, status, "removed" in errors), (True, 7, True))
        key.wait(False)
        expect("the other one is not asked about then", ykit("oath", "list"), (0, "Acme:alice", ""))
        status, _, errors = ykit("oath", "list", "--reader", NAMES[1])
        expect("an empty reader", (status, "no card" in errors), (3, True))
        status, output, _ = ykit("list")
        expect("list shows that it is empty", (status, "no card" in output), (0, True))
    expect("both readers empty", ykit("oath", "list")[0], 3)
    with Key(0, first, *slow):
        reached, status, _, errors = in_the_middle(lambda: control("kill"), "oath", "list")
        expect("pcscd killed in the middle", (reached, status, "hint: ykit doctor" in errors), (True, 3, True))
        status, _, errors = ykit("oath", "list")
        expect("no pcscd", (status, "hint: ykit doctor" in errors), (3, True))
        expect("list without pcscd has nothing to show", ykit("list"), (0, "", ""))
        status, output, _ = ykit("list", "--json")
        expect("... also in JSON", (status, json.loads(output)["ok"], json.loads(output)["devices"]), (0, True, []))
        control("start")
    with Key(0, first):
        expect("all is well after a restart", ykit("oath", "list"), (0, "Acme:alice", ""))
    status, _, errors = ykit("oath", "list", PCSCLITE_CSOCK_NAME=f"{FOLDER}/no-socket")
    expect("no socket", (status, "hint: ykit doctor" in errors), (3, True))


def reinserted(leaves, comes):
    """What a reset does for which the card has to be removed from the reader and presented again."""
    with Key(0, leaves) as key:
        process = start("fido2", "reset", "--force", "--reinsert", "--link", "pcsc")
        asked = "put it back" in process.stderr.readline()
        key.pull()
        key.wait(False)
        with Key(0, comes):
            status, output, errors = finish(process)
    return asked, status, output, "another key was inserted" in errors


def check_reinsertion(first, second):
    expect("a card that was put back is reset", reinserted(first, first),
           (True, 0, "all FIDO credentials are deleted, no PIN is set", False))
    expect("another one is not", reinserted(first, second), (True, 15, "", True))


BEFORE = {"Acme:alice", "Acme:bob"}
VERBS = {
    "oath list": BEFORE, "oath calculate": BEFORE, "oath calculate Acme:alice": BEFORE, "info": BEFORE,
    "oath add -f New:carol": BEFORE | {"New:carol"}, "oath rename -f Acme:alice New:dave": {"New:dave", "Acme:bob"},
    "oath delete -f Acme:alice": {"Acme:bob"}, "oath access change": BEFORE, "list": BEFORE,
}


def accounts(state):
    """The accounts of a key, whether it was locked meanwhile or not."""
    status, output, errors = ykit(f"--virtual={state}", "oath", "list", YKIT_OATH_PASSWORD="correct horse")
    return set(output.splitlines()) if status == 0 else (status, errors)


def check_removal(state):
    """The key is removed at exchange N; a verb with fewer exchanges is done before."""
    with open(state, "rb") as file:
        fresh = file.read()
    for verb, after in VERBS.items():
        wrong = []
        for number in range(1, 7):
            with open(state, "wb") as file:
                file.write(fresh)
            before = sent()
            with Key(0, state, "--fault", f"at {number}: remove"):
                status, _, errors = ykit(*verb.split(), **SECRETS)
                gone = sent() - before >= number
            kept = accounts(state)
            right = status == (7 if gone and verb != "list" else 0) and kept in ([BEFORE, after] if gone else [after])
            if not right:
                wrong.append((number, gone, status, errors, kept))
            if not gone:
                break
        expect(f"{verb}: the key removed at any exchange", wrong, [])


def names_on(place):
    return ykit("oath", "list", "--device", SERIALS[place])[1].split()


def check_two_at_once():
    both = [word for serial in SERIALS for word in ("--device", serial)]
    container = f"{FOLDER}/both.pskc"
    status, output, errors = ykit("oath", "add", "both", *both, "--pskc", container, "--json", YKIT_FILE_PASSWORD="pass word", **SECRETS)
    answer = json.loads(output)
    expect("one secret gets on two keys", (status, answer["serials"], answer["pskc"]), (0, SERIALS, container))
    codes = [ykit("oath", "calculate", "both", "-s", "--at", "59", "--device", serial)[1] for serial in SERIALS]
    expect("both give the same codes", (len(codes[0]), codes[0]), (6, codes[1]))
    reader = ("import sys, pskc; p = pskc.PSKC(sys.argv[1]); p.encryption.derive_key(sys.argv[2]);"
              "print(p.keys[0].secret.decode(), p.keys[0].serial)")
    read = subprocess.run([f"{ROOT}/.build-venv/bin/python3", "-c", reader, container, "pass word"], capture_output=True, text=True)
    expect("python-pskc reads the container", read.stdout.strip() or read.stderr, f"12345678901234567890 {SERIALS[0]}")
    expect("which is the owner's alone", oct(os.stat(container).st_mode & 0o777), "0o600")
    status, _, errors = ykit("oath", "add", "bob", *both, **SECRETS)
    ykit("oath", "add", "only", "--device", SERIALS[1], **SECRETS)
    status, _, errors = ykit("oath", "add", "only", *both, "--pskc", f"{FOLDER}/only.pskc", YKIT_FILE_PASSWORD="x", **SECRETS)
    expect("what the second cannot take, the first does not get", (status, "only" in names_on(0), os.path.exists(f"{FOLDER}/only.pskc")),
           (15, False, False))
    expect("one key twice is refused", ykit("oath", "add", "x", "--device", SERIALS[0], "--device", SERIALS[0], **SECRETS)[0], 2)
    with open(f"{FOLDER}/many.txt", "w") as file:
        file.writelines(f"otpauth://totp/n{number:02}?secret={BASE32}\n" for number in range(64))
    ykit("oath", "import", "--yes", f"{FOLDER}/many.txt", "--device", SERIALS[1])
    status, _, errors = ykit("oath", "add", "last", *both, **SECRETS)
    expect("a second key that is full is said to be, and the first has the account",
           (status != 0, SERIALS[1] in errors, "last" in names_on(0), "last" in names_on(1)), (True, True, True, False))


def test_two_keys():
    first, second = new_key(0, "Acme:alice"), new_key(1, "Other:bob")
    expect("no key", ykit("oath", "list")[0], 3)
    with Key(0, first), Key(1, second):
        check_list()
        check_choice()
        check_menu()
        check_two_at_once()
    for state in (first, second):
        os.remove(state)
    first, second = new_key(0, "Acme:alice"), new_key(1, "Other:bob")
    check_gone_in_the_middle(first, second)
    check_reinsertion(first, second)
    check_removal(new_key(0, "Acme:bob"))
