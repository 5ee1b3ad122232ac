# SPDX-License-Identifier: Apache-2.0
"""Every menu, confirmation and secret prompt at a terminal, with answers, ^C, ^D and ^Z.

YKIT is the ykit to test.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

from lib import terminal
from lib.peer import ROOT, YKIT, expect, own_folder

#: At a terminal the shell stops and continues the program itself, not the one that records it.
PROGRAM = os.environ.get("YKIT_REAL", YKIT)
FOLDER = own_folder()
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("YKIT_") or k in ("YKIT_REAL", "YKIT_NOTES", "YKIT_NOTE_TEST")},
               "HOME": FOLDER, "TERM": "xterm", "YKIT_KEYRING": "file", "NO_COLOR": "1", "XDG_STATE_HOME": FOLDER}
CTRL_C, CTRL_D, CTRL_Z = "\x03", "\x04", "\x1a"


def plain(*words, stdin=""):
    return subprocess.run([YKIT, *words], input=stdin, capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT)


def person(words, *answers, seconds=30, program=PROGRAM):
    """The exit status and the output of a verb whose questions are answered."""
    status, seen = terminal.run([program, *words], ENVIRONMENT, FOLDER, answers, seconds)
    return status, seen.decode(errors="replace").replace("\r\n", "\n")


def state(name):
    """The state of a virtual key, without the counters that change with a question alone."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        text = json.load(file)
    return json.dumps(text.get("fido2", text.get("fido", text)), sort_keys=True)


def test_make_keys():
    for words, stdin in [
        (("virtual", "new", "bare.json"), ""),
        (("virtual", "new", "pin.json"), ""),
        (("--virtual", "pin.json", "fido2", "pin", "set", "--new-pin-stdin"), "123456\n"),
        (("--virtual", "pin.json", "oath", "add", "Acme:alice", "--secret-stdin"), "JBSWY3DPEHPK3PXP\n"),
        (("--virtual", "pin.json", "piv", "keys", "generate", "9a", "/dev/null"), ""),
        (("--virtual", "pin.json", "otp", "chalresp", "2", "--key-stdin"), "00" * 20 + "\n"),
        (("virtual", "new", "one.json"), ""),
        (("--virtual", "one.json", "fido2", "pin", "set", "--new-pin-stdin"), "123456\n"),
    ]:
        done = plain(*words, stdin=stdin)
        if done.returncode:
            sys.exit(f"{words}: {done.stderr}")
    for key, users in (("pin.json", ["zed", "bob", "bob"]), ("one.json", ["alice"])):
        for user in users:
            done = plain("--virtual", key, "fido2", "register", "--rp", "example.com", "--user", user, "--resident",
                         "--pin-stdin", stdin="123456\n")
            if done.returncode:
                sys.exit(done.stderr)


def test_setup():
    """Every step is offered once, skipped by Enter, done by its command, and not offered again."""
    plain("virtual", "new", "new.json")
    words = ["--virtual=new.json", "setup"]
    steps = ["fidoPIN", "pivPIN", "pivPUK", "managementKey", "otherPINs", "browser", "sshKey", "guard", "secondKey"]

    def states():
        return {step["step"]: step["state"] for step in json.loads(plain(*words, "--plan", "--json").stdout)["steps"]}

    expect("a new key has it all before it", list(states()), steps)
    expect("and reports what", {name for name, state in states().items() if state == "open"}, set(steps) - {"browser", "otherPINs", "guard"})
    before = state("new.json")
    skip = ("run it", "\n")
    status, seen = person(words, *[skip] * 6)
    expect("all skipped", (status, "steps: 6 skipped" in seen), (0, True))
    expect("nothing is changed", state("new.json") == before)
    for keys in (CTRL_C, CTRL_D):
        status, seen = person(words, ("run it", keys))
        expect(f"{keys!r} ends it", (status, seen.count("run it?")), (130, 1))
    status, seen = person(words, ("run it", "y\n"), ("new PIN: ", CTRL_C))
    expect("^C in a step ends it", (status, seen.count("run it?")), (130, 1))
    expect("and it is not done", "steps: 1 failed" in seen or seen[-300:])
    status, seen = person(words, skip, ("run it", CTRL_C))
    expect("^C at a later step says what was done so far", (status, "steps: 1 skipped" in seen), (130, True))
    status, seen = person(
        words, ("run it", "y\n"), ("new PIN: ", "12\n"), ("new PIN: ", "111222\n"), ("repeat it: ", "111222\n"), skip, skip,
        ("run it", "y\n"), ("PIN: ", "123456\n"), skip, ("run it", "y\n"), program=YKIT)
    expect("three steps done", (status, "steps: 3 done, 3 skipped" in seen), (0, True))
    expect("no PIN is shown", "111222" in seen or "123456\n" in seen, False)
    expect("the files are there", os.path.exists(os.path.join(FOLDER, ".ssh/id_ed25519_sk.pub")))
    second = json.loads(plain("--virtual=second.json", "setup", "--plan", "--json").stdout)["steps"]
    own = {step["step"]: (step["state"], step["command"]) for step in second}["sshKey"]
    expect("the SSH key of the first key is not that of the second, whose file has another name",
           (own[0], "id_ed25519_sk_" in own[1]), ("open", True))
    expect("what is lost is said", "loses the credential" in plain("--virtual=second.json", "ssh", "generate").stderr)
    expect("the key reports them", [name for name, state in states().items() if state == "done"],
           ["fidoPIN", "managementKey", "sshKey"])
    status, seen = person(words, skip, ("run it", "y\n"), (r"PUK: ", "00000000\n"), ("new PUK: ", "87654321\n"),
                          ("repeat it: ", "87654321\n"), skip)
    expect("a step that fails is named, and the others follow",
           (status, "wrong PIV PUK" in seen, "not done: PIV PUK" in seen), (1, True, True))
    done = plain(*words)
    expect("without a terminal: 17, and how to see the steps", (done.returncode, "setup --plan" in done.stderr), (17, True))
    expect("JSON only of the plan", plain(*words, "--json").returncode, 2)


def test_menu():
    words = ["--virtual", "pin.json", "fido2", "assert", "--rp", "example.com", "--uv", "required"]
    pin = ("PIN: ", "123456\n")
    for name, keys in (("^C", CTRL_C), ("^D", CTRL_D)):
        for more in ([], ["--json"]):
            status, seen = person([*more, *words], pin, ("which account", keys))
            expect(f"{name} at the menu {' '.join(more)}: 130", status, 130)
            expect(f"{name} at the menu {' '.join(more)}: no signature",
                   "signature" in seen or "credential  " in seen, False)
    status, seen = person(words, pin, ("Esc cancels", "\n"), ("Esc cancels", "nobody\n"), ("no line has 'nobody'", "\x15"),
                          (r"(?s)which account\?.*Esc cancels", "3\n"))
    expect("Enter alone, and a word that no line has, choose nothing", status, 0)
    expect("the account of the number signs", re.search(r"^account +zed", seen, re.M) is not None)
    rows = re.findall(r"^  [123]  (.*)$", seen, re.M)
    expect("three accounts are shown", len(rows) >= 3)
    expect("two accounts of one name are told apart", len(set(rows[:3])), 3)
    status, seen = person(words, pin, ("Esc cancels", "zed"), ("> 3  zed", "\n"))
    expect("typing finds the account", (status, re.search(r"^account +zed", seen, re.M) is not None), (0, True))
    status, seen = person(words, pin, ("Esc cancels", "\x1b[B"), ("> 1", "\x1b[A\x1b[B\x1b[B"), ("> 3", "\n"))
    expect("arrows go to it", (status, re.search(r"^account +zed", seen, re.M) is not None), (0, True))
    status, seen = person(words, pin, ("Esc cancels", "\x1b"))
    expect("Esc at the menu: 130, and no signature", (status, "signature" in seen), (130, False))
    dumb = {**ENVIRONMENT, "TERM": "dumb"}
    status, seen = terminal.run([PROGRAM, *words], dumb, FOLDER, (pin, ("which account", "0\n"), ("which account", "3\n")))
    expect("a dumb terminal has numbers", (status, b"answer with a number from 1 to 3" in seen), (0, True))
    done = plain(*words, "--pin-stdin", stdin="123456\n")
    expect("several accounts without a terminal: 4", done.returncode, 4)
    expect("and nothing signed", done.stdout, "")
    done = plain(*words, "--pin-stdin", "--user", "bob", stdin="123456\n")
    expect("a name that two accounts have: 4", done.returncode, 4)
    done = plain(*words, "--pin-stdin", "--user", "zed", stdin="123456\n")
    expect("a name that one has: it signs", (done.returncode, "zed" in done.stdout), (0, True))


def test_accounts():
    """Menus of verbs on OATH accounts and credentials, on terminals of several sizes, with ^Z, and not without a terminal."""
    for name in ("Acme:rob", "Acme:Zo\u00eb", "Acme:\u30d3\u30c3\u30c8", "Acme:" + "x" * 59):
        plain("--virtual", "pin.json", "oath", "add", name, "--secret-stdin", stdin="JBSWY3DPEHPK3PXP\n")
    words = ["--virtual", "pin.json", "oath", "calculate", "acme"]
    for rows, columns in ((24, 80), (5, 20), (3, 12), (1, 4), (60, 200)):
        with terminal.Terminal([PROGRAM, *words], ENVIRONMENT, FOLDER, columns, rows) as typed:
            typed.expect(r"\x1b\[J|which|  1")
            typed.read(0.3)
            shown = typed.seen.decode(errors="replace").split("\x1b[J")[-1].split("\r\n")
            expect(f"{rows} by {columns}: the menu fits", len(shown) <= rows and all(len(line) < columns for line in shown))
            typed.type("\x1b[B\x1b[B\n")
            expect(f"{rows} by {columns}: the second is chosen", (typed.wait(), b"Acme:rob" in typed.seen or columns < 20), (0, True))
    status, seen = person(words, ("Esc cancels", "zo\u00eb"), ("> 3", "\n"))
    expect("a name with an accent is found", (status, re.search(r"^\d{6}$", seen, re.M) is not None), (0, True))
    before = state("pin.json")
    for keys, status in ((CTRL_C, 130), (CTRL_D, 130), ("\x1b", 130)):
        got = person(["--virtual", "pin.json", "oath", "delete", "acme"], ("Esc cancels", keys))[0]
        expect(f"oath delete, {keys!r} at the menu: 130", got, status)
    got = person(["--virtual", "pin.json", "oath", "delete", "acme"], ("Esc cancels", "2\n"), (r"delete it\?", "n\n"))[0]
    expect("the chosen one is asked about", got, 17)
    done = plain("--virtual", "pin.json", "oath", "list")
    expect("and nothing is deleted", done.stdout.count("Acme:"), 5)
    status, seen = person(["--virtual", "pin.json", "fido2", "credentials", "delete", "example.com"], ("PIN: ", "123456\n"),
                          ("which credential", "\x1b"))
    expect("credentials: Esc at the menu: 130", status, 130)
    expect("the credentials are there", state("pin.json") == before)
    for more in ([], ["--json"]):
        done = plain(*words, *more)
        expect(f"without a terminal {more}: 4", done.returncode, 4)
    status, seen = person([*words, "--json"])
    expect("--json asks nothing", status, 4)
    with terminal.Terminal(["bash", "--norc", "--noprofile", "-i"], {**ENVIRONMENT, "PS1": "shell> "}, FOLDER) as shell:
        shell.expect("shell> ")
        shell.type(" ".join(f"'{word}'" for word in [PROGRAM, *words]) + "\n")
        place = shell.expect("Esc cancels")
        expect("the menu is silent", shell.echoes, False)
        for turn in (1, 2):
            shell.type(CTRL_Z)
            place = shell.expect("shell> ", 20, place or 0)
            shell.type("stty -a | tr ' ' _ ; echo\n")
            place = shell.expect("_icanon_", 10, place or 0)
            expect(f"^Z {turn} at the menu gives the shell its terminal", place is not None)
            shell.type("fg\n")
            place = shell.expect("Esc cancels", 10, place or 0)
            expect(f"fg {turn} draws the menu again", (place is not None, shell.echoes), (True, False))
        shell.type("2\n")
        place = shell.expect(r"\d{6}\r\n", 10, place or 0)
        expect("and the choice counts", place is not None)
        shell.type("echo it-is-$((1+1))\n")
        expect("the shell has its echo back", shell.expect("it-is-2", 10) is not None and b"echo it-is" in shell.seen)


#: Two tokens of SecurID.
TOKENS = ("200522216143020723541574706600244335451106410137225201264173164624000252716762774",
          "205135154223900130612145651701006217724554233566001562264150064624371666671641317")


def test_stores():
    """Menus of tokens, of accounts that approve, and of fingerprints."""
    plain("virtual", "new", "seal.json")
    for index, token in enumerate(TOKENS):
        with open(f"{FOLDER}/token.txt", "w", encoding="utf-8") as file:
            file.write(token + "\n")
        done = plain("--virtual", "seal.json", "securid", "import", "token.txt", "--store", "t.json", *(["--type", "pinless"] * index))
        expect(f"token {index} is imported", done.returncode, 0)
    with open(f"{ROOT}/Tests/CLITests/fixtures/approve.json", encoding="utf-8") as file:
        book = json.load(file)
    book["records"].append(json.loads(json.dumps(book["records"][0]).replace("PIPU0000CAFE", "PIPU0000BEEF")))
    with open(os.open(f"{FOLDER}/a.json", os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        json.dump(book, file)
    fingers, pin = ["--virtual", "fingers.json", "fido2", "fingerprints"], "123456\n"
    plain("virtual", "new", "fingers.json", "--fingerprints")
    plain("--virtual", "fingers.json", "fido2", "pin", "set", "--new-pin-stdin", stdin=pin)
    for _ in range(2):
        plain(*fingers, "add", "--name", "thumb", "--pin-stdin", stdin=pin)
    def accounts():
        return re.findall("PIPU0000....", plain("approve", "accounts", "--store", "a.json").stdout)
    def enrolled():
        return re.findall("^[0-9a-f]{8}", plain(*fingers, "list", "--pin-stdin", stdin=pin).stdout, re.M)
    def tokens():
        return re.findall("[0-9]{12}", plain("securid", "list", "--store", "t.json").stdout)
    # Without a terminal only a whole name chooses what is deleted; both fingerprints have this one.
    for question, words, more, asked, yes, look, alone in (
            ("which token", ["securid", "delete", "05", "--store", "t.json"], [], [], r"051351542239[^\n]* would be permanently lost", tokens, 12),
            ("which account", ["approve", "logout", "pi.example", "--store", "a.json", "--keep-key"], [], [], "account 'work' of", accounts, 12),
            ("which fingerprint", [*fingers, "delete", "thumb"], ["--pin-stdin"], [("PIN: ", pin)], "delete", enrolled, 4)):
        before = look()
        expect(f"{question}: there are two", len(before), 2)
        expect(f"{question}, without a terminal: {alone}", plain(*words, *more, stdin=pin if more else "").returncode, alone)
        for keys in (CTRL_C, CTRL_D, "\x1b"):
            expect(f"{question}, {keys!r}: 130", person(words, *asked, (question, keys))[0], 130)
        expect(f"{question}: the chosen one is asked about",
               person(words, *asked, (f"(?s){question}.*Esc cancels", "2\n"), (yes, "n\n"))[0], 17)
        expect(f"{question}: nothing is lost so far", look(), before)
        status, seen = person(words, *asked, (f"(?s){question}.*Esc cancels", "2\n"), (yes, "y\n"))
        expect(f"{question}: the second is chosen", (status, look()), (0, before[:1]))


def test_colours():
    """Styles appear on a terminal, and nowhere else."""
    words = ["--virtual", "pin.json", "oath", "calculate", "Acme:alice"]
    free = {key: value for key, value in ENVIRONMENT.items() if key != "NO_COLOR"}
    for name, environment, more, wanted in (
        ("a terminal", free, [], True), ("NO_COLOR", ENVIRONMENT, [], False), ("TERM=dumb", {**free, "TERM": "dumb"}, [], False),
        ("--color never", free, ["--color", "never"], False), ("--color always", ENVIRONMENT, ["--color", "always"], True),
        ("--json", free, ["--json"], False),
    ):
        status, seen = terminal.run([PROGRAM, *words, *more], environment, FOLDER)
        expect(f"{name}: {'a bold code' if wanted else 'no escape sequence'}", (status, b"\x1b[1m" in seen, b"\x1b" in seen),
               (0, wanted, wanted))
    done = subprocess.run([YKIT, *words], capture_output=True, cwd=FOLDER, env=free)
    expect("a pipe: no escape sequence", (done.returncode, b"\x1b" in done.stdout + done.stderr), (0, False))
    status, seen = terminal.run([PROGRAM, "--virtual", "pin.json", "oath", "calculate"], free, FOLDER)
    expect("the table has bold codes and the seconds dim or yellow",
           re.search(rb"\x1b\[1m\d{6}\x1b\[0m +\x1b\[(2|33)m\d+ s\x1b\[0m", seen) is not None)
    status, seen = terminal.run([PROGRAM, "--virtual", "pin.json", "oath", "calculate", "nobody"], free, FOLDER)
    expect("a failure is red and its hint dim", b"\x1b[31mykit:\x1b[0m" in seen and b"\x1b[2mhint:" in seen)


def modules(text):
    """The rows of a QR code drawn in half blocks, as 1 for a dark module: what is drawn is light."""
    rows = []
    for line in text.split("\n"):
        rows += [[char not in "\u2588\u2580" for char in line], [char not in "\u2588\u2584" for char in line]]
    return rows


def test_qr_codes():
    """The QR code of a made-up secret: read from the screen by zbar, on terminals that are styled and not, and too narrow ones."""
    add = ["--virtual", "pin.json", "oath", "add", "--generate", "--qr"]
    styled = {key: value for key, value in ENVIRONMENT.items() if key != "NO_COLOR"}
    for number, (name, environment) in enumerate((("plain", ENVIRONMENT), ("styled", styled))):
        status, seen = terminal.run([PROGRAM, *add, f"Qr:{name}"], environment, FOLDER)
        seen = seen.decode().replace("\r\n", "\n")
        rows = re.findall("^(?:\x1b\\[97;40m)?([ \u2580\u2584\u2588]{29,})(?:\x1b\\[0m)?$", seen, re.M)
        expect(f"{name}: the code is on the screen", (status, len(rows) > 14, "\x1b[97;40m" in seen), (0, True, number == 1))
        expect(f"{name}: with a quiet zone of four modules", all(set(row[:4] + row[-4:]) <= set("\u2588\u2580") for row in rows))
        with open(f"{FOLDER}/{name}.pbm", "w") as file:
            bits = [[bit for bit in row for _ in range(4)] for row in modules("\n".join(rows)) for _ in range(4)]
            file.write(f"P1\n{len(bits[0])} {len(bits)}\n" + "\n".join("".join("01"[bit] for bit in row) for row in bits))
        read = subprocess.run(["zbarimg", "--quiet", "--raw", f"{FOLDER}/{name}.pbm"], capture_output=True, text=True).stdout.strip()
        expect(f"{name}: zbar reads the address that is below it", read != "" and f"enroll this with the service: {read}\n" in seen)
        expect(f"{name}: no result has the secret", "secret" in plain("--virtual", "pin.json", "oath", "list", "--json").stdout, False)
    status, seen = terminal.run([PROGRAM, *add, "Qr:narrow"], ENVIRONMENT, FOLDER, columns=30)
    expect("a terminal that is too narrow: nothing is added", (status, b"widen the terminal" in seen), (1, True))
    for words in (["Qr:none"], ["Qr:none", "--uri-file", "none.txt"]):
        done = plain(*add, *words)
        expect(f"without a terminal {words}: 17", (done.returncode, "without a terminal" in done.stderr), (17, True))
    expect("and no file is left", os.path.exists(f"{FOLDER}/none.txt"), False)
    done = plain("--virtual", "pin.json", "oath", "list")
    expect("two accounts were added", done.stdout.count("Qr:"), 2)


def test_named():
    words = ["--virtual", "one.json", "fido2", "assert", "--rp", "example.com", "--pin-stdin"]
    for more in ([], ["--uv", "required"], ["--json"]):
        done = plain(*words, *more, "--user", "bob", stdin="123456\n")
        expect(f"--user bob with only alice there {more}: 12", done.returncode, 12)
        expect("and no signature", "signature" in done.stdout or "credential  " in done.stdout, False)
    done = plain(*words, "--user", "alice", stdin="123456\n")
    expect("--user alice signs", (done.returncode, done.stderr.count("ykit:")), (0, 0))


CONFIRMATIONS = [
    (["--virtual", "pin.json", "oath", "delete", "alice"], r"\[y/N\]", True),
    (["--virtual", "pin.json", "oath", "rename", "alice", "Acme:bob"], r"\[y/N\]", True),
    (["--virtual", "pin.json", "oath", "reset"], r"(\[y/N\]|type)", None),
    (["--virtual", "pin.json", "piv", "reset"], r"(\[y/N\]|type)", None),
    (["--virtual", "pin.json", "piv", "keys", "generate", "9a", "/dev/null"], r"\[y/N\]", True),
    (["--virtual", "pin.json", "fido2", "reset"], r"(\[y/N\]|type)", None),
    (["--virtual", "pin.json", "config", "usb", "--disable", "oath"], r"\[y/N\]", True),
    (["--virtual", "pin.json", "otp", "swap"], r"\[y/N\]", True),
]


def test_confirmations():
    before = pathlib.Path(f"{FOLDER}/pin.json").read_text(encoding="utf-8")
    for words, question, _ in CONFIRMATIONS:
        name = " ".join(words[2:])
        for answer, keys, wanted in (("no", "n\n", 17), ("nothing", "\n", 17), ("^D", CTRL_D, 130), ("^C", CTRL_C, 130)):
            status, _ = person(words, (question, keys))
            expect(f"{name}: {answer} gives {wanted}", status, wanted)
        status, seen = person(words, (question, "perhaps\n"), (question, "\n"))
        expect(f"{name}: any other word asks again", status, 17)
        done = plain(*words)
        alone = 12 if "alice" in words else 17  # a part of a name, which is not enough without a question
        expect(f"{name}: without a terminal {alone}", done.returncode, alone)
    after = pathlib.Path(f"{FOLDER}/pin.json").read_text(encoding="utf-8")
    expect("nothing of all that changed the key", after == before)
    status, seen = person(CONFIRMATIONS[1][0], (r"\[y/N\]", "what\n"), (r"\[y/N\]", "y\n"))
    expect("yes after another word is a yes", status, 0)


OWN = ":".join(f"{part:02x}" * 16 for part in (1, 2, 3))
FACTORY = ["--virtual", "typed.json", "--scp", "03"]
# What is typed, what is asked about, and what the key shows before and after.
TYPED = [
    (["--virtual", "typed.json", "openpgp", "reset"], "reset", ["openpgp", "info"], r"login +jane", None),
    (["--virtual", "typed.json", "hsmauth", "reset"], "reset", ["hsmauth", "list"], "operator", None),
    ([*FACTORY, "sd", "keys", "import", "03,1", "own.keys"], "replace", ["sd", "keys", "list"], "03,255", "03,1 "),
    (["--virtual", "typed.json", "--scp", "03,1", "--scp-keys", "own.keys", "sd", "keys", "delete", "03,1"], "delete",
     ["sd", "keys", "list"], "03,1 ", "03,255"),
    (["--virtual", "typed.json", "sd", "reset"], "reset", ["sd", "keys", "list"], "11a,5", "11b,1"),
]


def test_typed_words():
    """What destroys keys for good asks for a word, and nothing but the word will do."""
    with open(f"{FOLDER}/own.keys", "w", encoding="utf-8") as file:
        file.write(OWN)
    secrets = {**ENVIRONMENT, "YKIT_ADMIN_PIN": "12345678", "YKIT_HSMAUTH_MANAGEMENT_PASSWORD": "00" * 16,
               "YKIT_HSMAUTH_PASSWORD": "pw"}
    plain("virtual", "new", "typed.json", "--firmware", "5.7.4")
    # VERIFY the admin PIN, and PUT DATA of the login name.
    plain("--virtual", "typed.json", "apdu", "-a", "openpgp", "00200083:3132333435363738", "00da005e:6a616e65")
    subprocess.run([YKIT, "--virtual", "typed.json", "hsmauth", "add", "operator", "--algorithm", "p256", "--generate"],
                   env=secrets, cwd=FOLDER, capture_output=True)
    for words, word, look, before, after in TYPED:
        name = " ".join(words[2:])
        if "delete" in words:
            plain("--virtual", "typed.json", "--scp", "03,1", "--scp-keys", "own.keys", "sd", "keys", "delete", "11b,1",
                  "--force")
        if words[-2:] == ["sd", "reset"]:
            plain(*FACTORY, "sd", "keys", "generate", "11a,5", "made.pem")
        def shows(part):
            return re.search(part, plain("--virtual", "typed.json", *look).stdout) is not None
        expect(f"{name}: the key has what will be lost", shows(before))
        question = f"type '{word}' to continue"
        for answer, keys, wanted in (("nothing", "\n", 17), ("^D", CTRL_D, 130), ("^C", CTRL_C, 130)):
            expect(f"{name}: {answer} gives {wanted}", person(words, (question, keys))[0], wanted)
        for wrong in ("y", "yes", word.upper(), word + "s", word[:-1]):
            status, seen = person(words, (question, wrong + "\n"), (f"not '{word}'.*\n?.*{question}", "\n"))
            expect(f"{name}: {wrong!r} will not do", (status, shows(before)), (17, True))
        expect(f"{name}: without a terminal 17", (plain(*words).returncode, shows(before)), (17, True))
        status, seen = person(words, (question, word + "\n"))
        expect(f"{name}: {word!r} will", (status, shows(before)), (0, False))
        if after:
            expect(f"{name}: what is left is shown", shows(after) and after.strip() in seen or seen)


SECRETS = [
    (["--virtual", "pin.json", "fido2", "pin", "verify"], "PIN: ", "123456", 0),
    (["--virtual", "bare.json", "oath", "add", "foo"], "base 32.*: ", "JBSWY3DPEHPK3PXP", 0),
    (["--virtual", "bare.json", "oath", "access", "change"], "new password.*: ", "hunter2hunter2", None),
    (["--virtual", "bare.json", "fido2", "pin", "set"], "new PIN: ", "998877", None),
    (["--virtual", "bare.json", "otp", "static", "1"], "password.*: ", "geheim77", None),
    (["--virtual", "bare.json", "piv", "access", "change-pin"], "PIN: ", "123456", None),
]


def test_secrets():
    for words, question, secret, status in SECRETS:
        name = " ".join(words[2:])
        for key, keys in (("^C", CTRL_C), ("^D", CTRL_D)):
            expect(f"{name}: {key} gives 130", person(words, (question, keys))[0], 130)
        suspended(name, words, question, secret, status)


def suspended(name, words, question, secret, status):
    """In a shell with jobs: ^Z at the prompt, fg, and the secret."""
    with terminal.Terminal(["bash", "--norc", "--noprofile", "-i"], {**ENVIRONMENT, "PS1": "shell> "}, FOLDER) as shell:
        shell.expect("shell> ")
        quoted = " ".join(f"'{word}'" for word in [PROGRAM, *words])
        shell.type(quoted + "; echo status=$?\n")
        place = shell.expect(question)
        expect(f"{name}: the prompt is silent", (place is not None, shell.echoes), (True, False))
        for turn in (1, 2):
            shell.type(CTRL_Z)
            place = shell.expect("shell> ", 20, place or 0)
            expect(f"{name}: ^Z {turn} gives the shell, which echoes", (place is not None, shell.expect("", 0) is not None),
                   (True, True))
            shell.type("fg\n")
            again = shell.expect(question, 10, place or 0)
            expect(f"{name}: fg {turn} asks again", again is not None)
            place = again or place
            expect(f"{name}: and is silent", shell.echoes, False)
        shell.type(secret + "\n")
        if status is None:
            shell.expect("(?s).{1}: $", 3, place)
            shell.type(CTRL_C)
        shell.expect("shell> ", 20, place)
        shell.read(0.3)
        expect(f"{name}: the secret is never on the screen", secret.encode() in shell.seen, False)
        shell.type("echo it-is-$((1+1))\n")
        expect(f"{name}: the shell has its echo back", shell.expect("it-is-2", 10) is not None and b"echo it-is" in shell.seen)


def test_generation():
    """^C while the key generates an RSA key: a virtual key handles it, too."""
    words = ["--virtual", "bare.json", "piv", "keys", "generate", "9d", "-a", "rsa4096", "--force", "pub.pem"]
    with terminal.Terminal([PROGRAM, *words], ENVIRONMENT, FOLDER) as key:
        key.read(0.15)
        key.type(CTRL_C)
        status = key.wait(60)
        expect("^C during RSA generation: 130", status, 130)
        expect("and no key is said to be made", b"made" in key.seen, False)
    done = plain("--virtual", "bare.json", "--json", "piv", "info")
    expect("and the slot is empty", '"9d"' in done.stdout, False)
