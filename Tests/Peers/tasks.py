# SPDX-License-Identifier: Apache-2.0
"""Forty tasks of a first week with a key, each done by somebody who knows none of ykit's commands: they search the help for the
words in which they think of the task (`ykit help -k`), or read README, follow the pages of groups to a verb, find every option
that they type on its page, and type the line. Questions are answered on a terminal. YKIT is the ykit to test.
"""

import json
import os
import pathlib
import re
import subprocess
import typing

from lib import terminal
from lib.peer import REAL, ROOT, YKIT, expect, own_folder

FOLDER = own_folder()
KEY, SPARE, NITROKEY = (f"{FOLDER}/{name}.json" for name in ("key", "spare", "nitrokey"))
PIN, PUK = "123456", "12345678"
ENVIRONMENT = {**{name: value for name, value in os.environ.items() if not name.startswith("YKIT_") or name in ("YKIT_REAL", "YKIT_NOTES")},
               "HOME": FOLDER, "XDG_CONFIG_HOME": f"{FOLDER}/config", "XDG_STATE_HOME": FOLDER, "XDG_RUNTIME_DIR": FOLDER,
               "TERM": "xterm", "NO_COLOR": "1", "YKIT_KEYRING": "file", "PCSCLITE_CSOCK_NAME": f"{FOLDER}/none"}
for name in ("SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
    ENVIRONMENT.pop(name, None)
README = pathlib.Path(ROOT, "README.md").read_text(encoding="utf-8")
ENTERED = [(r"PIN[^\n]*: ", PIN)]


class Task(typing.NamedTuple):
    """A task: the words that are searched for (none: README leads there), the verb that they lead to, the line that is typed,
    what it says, and the answers to its questions, if it needs a terminal."""

    wish: str
    words: str
    verb: str
    line: str
    says: str
    answers: typing.Sequence | None = None
    status: int = 0


TASKS = [
    Task("set the first PIN", "set pin", "fido2 pin set", "fido2 pin set", "", [(r"PIN[^\n]*: ", PIN), (r"repeat[^\n]*: ", PIN)]),
    Task("create a passkey", "create passkey", "fido2 register", "fido2 register --rp example.com --user alice --resident",
         "example.com", ENTERED),
    Task("list the passkeys", "passkeys", "fido2 credentials list", "fido2 credentials list", "alice", ENTERED),
    Task("delete a passkey", "delete passkey", "fido2 credentials delete", "fido2 credentials delete alice", "deleted",
         [*ENTERED, (r"would be permanently lost: delete it\? \[y/N\]", "y")]),
    Task("move the accounts of a phone", "phone", "oath import", "oath import export.json", "added 'Shop:bob'",
         [(r"add 2 of 2 accounts\? \[y/N\]", "y")]),
    Task("see a code", "", "oath code", "oath code alice", r"^\d{6}\b"),
    Task("see all codes, live", "watch codes", "oath list", "oath list --watch", "alice", [(r"\d{6}", None)], 130),
    Task("a new secret, as a QR code for another device", "new secret", "oath add", "oath add Blog:carol --generate --qr", "Blog:carol", []),
    Task("a code on the clipboard", "clipboard", "oath calculate", "oath calculate alice --clipboard", "install", status=1),
    Task("rename an account", "rename account", "oath rename", "oath rename Shop:bob Shop:robert", "Shop:robert",
         [(r"rename [^\n]*\? \[y/N\]", "y")]),
    Task("a list of the accounts for the safe", "backup", "oath export", "oath export", "not a backup"),
    Task("a password for the codes", "set password", "oath access change", "oath access change", "",
         [(r"new password[^\n]*: ", "sesame"), (r"repeat[^\n]*: ", "sesame")]),
    Task("not to type it again", "remember password", "oath access remember", "oath access remember", "remembered",
         [(r"password[^\n]*: ", "sesame")]),
    Task("an SSH key that stays on the key", "ssh key", "ssh generate", "ssh generate --resident --output id_sk", "id_sk",
         ENTERED),
    Task("that key on another computer", "download", "ssh download", "ssh download", "id_ed25519_sk_rk", ENTERED),
    Task("sign a file with it", "sign a file", "ssh sign", "ssh sign --key id_sk letter.txt", "letter.txt.sig"),
    Task("a PIV key", "piv generate key", "piv keys generate", "piv keys generate 9a public.pem", "public.pem"),
    Task("a request for a certificate", "certificate request", "piv certificates request",
         "piv certificates request 9a request.pem --subject CN=Alice --san dns:alice.example.com", "request.pem", ENTERED),
    Task("import the certificate", "import certificate", "piv certificates import", "piv certificates import 9a certificate.pem",
         "certificate stored in 9a"),
    Task("sign a file with the PIV key", "sign a file", "piv sign", "piv sign --slot 9a letter.txt --output signature", "signature", ENTERED),
    Task("change the PIV PIN", "change pin", "piv access change-pin", "piv access change-pin", "",
         [(r"current[^\n]*: |old[^\n]*: |PIN[^\n]*: ", PIN), (r"new[^\n]*: ", "246813"), (r"repeat[^\n]*: ", "246813")]),
    Task("a forgotten PIV PIN", "forgotten pin", "piv access unblock-pin", "piv access unblock-pin", "",
         [(r"PUK[^\n]*: ", PUK), (r"new[^\n]*: ", PIN), (r"repeat[^\n]*: ", PIN)]),
    Task("is the PIN right?", "verify pin", "fido2 pin verify", "fido2 pin verify", "tries", [(r"PIN[^\n]*: ", "000000")], 8),
    Task("an encrypted disk that the key opens", "disk", "luks add", "luks add volume --volume-passphrase-file passphrase", "opens key slot 1",
         ENTERED),
    Task("what opens the disk", "volume", "luks list", "luks list volume", "FIDO2"),
    Task("encrypt files", "encrypt", "age generate", "age generate --output identity.txt", "identity.txt", ENTERED),
    Task("log in to this computer", "pam", "fido2 register", "fido2 register --format pam-u2f --user alice", "alice:"),
    Task("a second key that opens the same", "spare", "compare", "compare key.json spare.json", "second key", ENTERED),
    Task("what is on the key", "", "info", "info", "accounts"),
    Task("what is on all keys, for the safe", "inventory", "inventory", "inventory", "Shop:robert"),
    Task("set up a new key", "new key", "setup", "--virtual spare.json setup --plan", "1/8"),
    Task("an OTP slot that answers challenges", "challenge", "otp chalresp", "otp chalresp 2 --generate --output secret.key", "slot 2 answers challenges"),
    Task("swap the slots", "swap", "otp swap", "otp swap", "swapped", [(r"swap them\? \[y/N\]", "y")]),
    Task("switch an application off", "disable application", "config usb", "config usb --disable openpgp", "disable",
         [(r"\? \[y/N\]", "y")]),
    Task("the codes of a Nitrokey", "nitrokey", "secrets list", "--virtual nitrokey.json secrets list", "mail"),
    Task("a key for GnuPG", "gpg", "openpgp keys generate", "--virtual spare.json openpgp keys generate signature", "signature",
         [(r"PIN[^\n]*: ", PUK)]),
    Task("how sure is it that the PIV key was made on the key?", "attestation", "piv attest", "piv attest 9a", "ecc-p256", status=8),
    Task("the session for a report of a fault", "record", "capture show", "capture show session.jsonl", "SELECT"),
    Task("is all well with the key?", "", "doctor", "doctor", "no problems found"),
    Task("empty the FIDO part for another person", "reset fido2", "fido2 reset", "--virtual spare.json fido2 reset", "deleted",
         [(r"type 'reset' to continue: ", "reset")]),
]


def run(*words, given=None):
    done = subprocess.run([YKIT, *words], capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT, input=given, timeout=60)
    return done.returncode, done.stdout + done.stderr


def known():
    """All verbs and groups."""
    verbs = [verb.split() for verb in json.loads(run("schema")[1])]
    return {" ".join(words[:count]) for words in verbs for count in range(1, len(words) + 1)}


def found(words, commands):
    """The commands that a search shows first."""
    lines = [line[7:].split() for line in run("help", "-k", *words.split())[1].splitlines() if line.startswith("  ykit ")][:12]
    longest = (next((head for count in (4, 3, 2, 1) if (head := " ".join(line[:count])) in commands), "") for line in lines)
    return [command for command in longest if command]


def listed(group):
    """The names of the commands on a group's page, alternative names too."""
    rows = re.findall(r"^  (\S+(?:, \S+)*)", run("help", *group.split())[1].partition("SUBCOMMANDS:")[2], re.M)
    return {name for row in rows for name in row.split(", ")}


def leads(command, verb):
    """Whether pages of groups lead from a command that was found to the verb."""
    while command != verb and verb.startswith(command + " "):
        following = verb[len(command) + 1:].split()[0]
        if following not in listed(command):
            return False
        command += " " + following
    return command == verb


def unexplained(task):
    """The options of the line that neither the verb's page nor that of the global options has."""
    pages = run("help", *task.verb.split())[1] + run("help", "options")[1]
    return [word for word in task.line.split() if word.startswith("-") and not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", pages)]


def done(task):
    """Types the line, and answers its questions; returns the status and the output."""
    words = [REAL, *task.line.split()]
    if task.answers is None:
        finished = subprocess.run(words, capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT, stdin=subprocess.DEVNULL, timeout=120)
        return finished.returncode, finished.stdout + finished.stderr
    answers = [(pattern, "\x03" if answer is None else answer + "\r") for pattern, answer in task.answers]
    status, seen = terminal.run(words, ENVIRONMENT, FOLDER, answers, 60)
    return status, seen.decode(errors="replace").replace("\r", "")


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=FOLDER)


def write(name, text):
    path = pathlib.Path(FOLDER, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def prepare():
    """What the person has: a key without a PIN, a spare one, a Nitrokey, a phone's export, a letter, a disk."""
    for name, more in ((KEY, ()), (SPARE, ()), (NITROKEY, ("--model", "nitrokey3"))):
        expect(f"a key, {os.path.basename(name)}", run("virtual", "new", name, *more)[0], 0)
    write("config/ykit/config", f"virtual = {KEY}\n")
    accounts = [{"type": "totp", "name": name, "issuer": issuer, "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA1", "digits": 6, "period": 30}}
                for issuer, name in (("GitHub", "alice"), ("Shop", "bob"))]
    write("export.json", json.dumps({"version": 1, "header": {"slots": None, "params": None}, "db": {"version": 2, "entries": accounts}}))
    write("letter.txt", "Dear Bob\n")
    write("passphrase", "correct horse")
    with open(f"{FOLDER}/volume", "wb") as file:
        file.truncate(32 << 20)
    subprocess.run(["cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000",
                    "volume", "passphrase"], check=True, capture_output=True, cwd=FOLDER)
    run("--virtual", NITROKEY, "secrets", "add", "mail", "--secret-stdin", given="JBSWY3DPEHPK3PXP\n")
    run("--record", "session.jsonl", "oath", "list")


def before(task):
    """What others do before a task: a CA that signs the request."""
    if task.verb == "piv certificates import":
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=CA", "-keyout", "ca.key", "-out", "ca.pem")
        openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", "certificate.pem")


def test_tasks():
    prepare()
    expect("forty tasks", len(TASKS), 40)
    ready, commands = 0, known()
    for task in TASKS:
        before(task)
        where = f"help -k {task.words}" if task.words else "README"
        if task.words:
            shown = found(task.words, commands)
            way = any(leads(command, task.verb) for command in shown) or shown
        else:
            way = f"ykit {task.verb}" in README
        good = expect(f"{task.wish}: {where} leads to {task.verb}", way)
        good &= expect(f"{task.wish}: the page explains what is typed", unexplained(task), [])
        status, seen = done(task)
        good &= expect(f"{task.wish}: ykit {task.line}", (status == task.status and re.search(task.says, seen, re.M) is not None) or (status, seen[-900:]))
        ready += good
    print(f"{ready} of {len(TASKS)} tasks done")
