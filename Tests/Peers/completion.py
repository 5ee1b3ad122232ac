# SPDX-License-Identifier: Apache-2.0
"""What ykit provides to other programs and gets from them: completion for shells, a page for man, QR codes from zbar.

YKIT is the ykit to test.
"""

import base64
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse

from lib.peer import ROOT, YKIT, beside_pcscd, expect, own_folder, reader_port
from lib.terminal import Terminal

beside_pcscd()
FOLDER = own_folder()

SECRET = b"12345678901234567890"
BASE32 = base64.b32encode(SECRET).decode()
OATH = {"info", "list", "calculate", "add", "uri", "import", "export", "rename", "delete", "reset", "access"}
BASH = """
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
function=$(complete -p ykit | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
"$function" ykit "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*command, **settings):
    """The status, output and errors of a program whose home is a test folder and whose PATH includes ykit."""
    environment = dict(os.environ, HOME=FOLDER, LC_ALL="C.UTF-8", PATH=f"{FOLDER}/bin:{os.environ['PATH']}", **settings)
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, env=environment)
    return done.returncode, done.stdout, done.stderr


def script(shell):
    path = f"{FOLDER}/ykit.{shell}"
    with open(path, "w") as file:
        file.write(run(YKIT, "completion", shell)[1])
    return path


# What is typed before TAB, and the resulting line.
TABS = [
    ("ykit oath ca", "ykit oath calculate"),
    ("ykit --json --device 1 oath ca", "ykit --json --device 1 oath calculate"),
    ("ykit --virtual oath ca", "ykit --virtual oath calculate"),
    ("ykit oath code --clip", "ykit oath code --clipboard"),
    ("ykit oath cod", "ykit oath code"),
    ("ykit --link us", "ykit --link usb"),
    ("ykit --link=us", "ykit --link=usb"),
    ("ykit piv sign --hash sha5", "ykit piv sign --hash sha512"),
    ("ykit piv sign --slot f", "ykit piv sign --slot f9"),
    ("ykit virtual new --model neo --fing", "ykit virtual new --model neo --fingerprints"),
    ("ykit virtual new --model se", "ykit virtual new --model security-key"),
    ("ykit help ex", "ykit help exit-codes"),
    ("ykit fido2 verify regi", "ykit fido2 verify registration.json"),
    ("ykit --virtual my", "ykit --virtual my-key.json"),
    ("ykit oath calculate Acme:a", "ykit oath calculate Acme:alice@example.com"),
    ("ykit oath calculate Example\\ B", "ykit oath calculate Example Bank:4711"),
    ("ykit --device 1677", "ykit --device 16777217"),
    ("ykit --reader Yub", "ykit --reader Yubico YubiKey OTP+FIDO+CCID 00 00"),
]
SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}


def check_tabs(shell):
    """Types lines and TAB in a real shell, which prints the resulting line."""
    folder = f"{FOLDER}/typing"
    os.makedirs(folder, exist_ok=True)
    for name in ("registration.json", "my-key.json"):
        open(f"{folder}/{name}", "w").close()
    load = {"bash": ". ", "zsh": "autoload -Uz compinit; compinit -u -D; . ", "fish": "source "}[shell] + script(shell)
    environment = dict(os.environ, HOME=FOLDER, XDG_CACHE_HOME=f"{FOLDER}/cache", LC_ALL="C.UTF-8", TERM="xterm", PS1="$ ",
                       PATH=f"{FOLDER}/bin:{os.environ['PATH']}")
    with Terminal(SHELLS[shell], environment, folder) as terminal:
        terminal.type(load + "; echo rea''dy\r")
        place = terminal.expect(r"[\r\n]ready", 60)
        expect(f"{shell} takes the script at its prompt", place is not None)
        for typed, wanted in TABS:
            terminal.type(typed + "\t")
            terminal.type("\x01echo '<'\x05 '>'\r")
            found = terminal.expect(r"[\r\n]<[^<>]*>\r", 30, place or 0)
            line = terminal.seen[place or 0:found].decode(errors="replace").rsplit("<", 1)[1] if found else "nothing"
            expect(f"{shell}: {typed}<TAB>", " ".join(line.strip(" >\r").split()), wanted)
            place = found or place


def check_names():
    """Names come from lists of real keys, are readable by their owner only, and are not stored if disabled."""
    names, settings = f"{FOLDER}/cache/ykit/names.json", {"XDG_CACHE_HOME": f"{FOLDER}/cache"}
    run(YKIT, "--virtual", "oath", "list", **settings)
    expect("the demonstration key leaves no names", os.path.exists(names), False)
    port = reader_port()
    real = os.environ.get("YKIT_REAL", YKIT)
    server = subprocess.Popen([real, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 60
        while run(YKIT, "oath", "list", YKIT_NAMES="off", **settings)[0] != 0 and time.monotonic() < limit:
            time.sleep(0.05)
        expect("YKIT_NAMES=off keeps none", os.path.exists(names), False)
        expect("a list works", run(YKIT, "list", **settings)[0], 0)
        expect("... and one of accounts", run(YKIT, "oath", "list", **settings)[0], 0)
        with open(names) as file:
            kept = json.load(file)
        expect("their names are kept", (kept["serials"], "Acme:alice@example.com" in kept["accounts"], len(kept["readers"])),
               (["16777217"], True, 1))
        expect("... for their owner", os.stat(names).st_mode & 0o777, 0o600)
        expect("a password is set", run(YKIT, "oath", "access", "change", YKIT_OATH_NEW_PASSWORD="secret", **settings)[0], 0)
        os.remove(names)
        expect("accounts behind a password are listed", run(
            YKIT, "oath", "list", YKIT_OATH_PASSWORD="secret", **settings)[0], 0)
        expect("... and not kept", os.path.exists(names), False)
        expect("without one they are kept again", [run(YKIT, *words, YKIT_OATH_PASSWORD="secret", **settings)[0] for words in (
            ("oath", "access", "change", "--clear"), ("list",), ("oath", "list"))], [0, 0, 0])
    finally:
        server.terminate()
        server.wait()


def bash_offers(path, *words):
    return set(run("bash", "--norc", "-c", BASH, "bash", path, *words)[1].split())


def check_bash():
    path = script("bash")
    expect("bash reads the script", run("bash", "-n", path), (0, "", ""))
    expect("bash completes 'ykit oath '", OATH - bash_offers(path, "ykit", "oath", ""), set())
    expect("bash completes a part of a verb", bash_offers(path, "ykit", "oath", "ca"), {"calculate"})
    expect("bash completes a value", bash_offers(path, "ykit", "completion", ""), {"bash", "zsh", "fish"})
    expect("bash completes options", {"--clipboard", "--device", "--json"} - bash_offers(
        path, "ykit", "oath", "calculate", "--"), set())


def check_zsh():
    path = script("zsh")
    expect("zsh reads the script", run("zsh", "-f", "-n", path), (0, "", ""))
    os.makedirs(f"{FOLDER}/functions", exist_ok=True)
    shutil.copy(path, f"{FOLDER}/functions/_ykit")
    load = f'fpath=("{FOLDER}/functions" $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[ykit]'
    expect("zsh ties the script to ykit", run("zsh", "-f", "-c", load), (0, "_ykit\n", ""))


def check_fish():
    path = script("fish")
    expect("fish reads the script", run("fish", "--no-config", "--no-execute", path), (0, "", ""))
    complete = f"source '{path}'; complete -C 'ykit oath '"
    offers = {line.split("\t")[0] for line in run("fish", "--no-config", "-c", complete)[1].splitlines()}
    expect("fish completes 'ykit oath '", OATH - offers, set())


def check_manual():
    texts = {}
    os.mkdir(f"{FOLDER}/man")
    expect("the pages are written", run(YKIT, "generate", "man", f"{FOLDER}/man"), (0, "", ""))
    for page in sorted(glob.glob(f"{FOLDER}/man/ykit*.1")):
        status, shown, warnings = run("man", "--warnings", "-E", "UTF-8", "-l", page, MANWIDTH="80", MANPAGER="cat")
        texts[os.path.basename(page)] = shown
        expect(f"man renders {os.path.basename(page)} without a warning", (status, warnings), (0, ""))
    text = texts["ykit.1"]
    expect("the page has its name and the groups", [word in text for word in ("ykit - ", "ykit-oath(1)")], [True] * 2)
    expect("a group's page has its verbs", "ykit oath calculate" in texts["ykit-oath.1"], True)
    expect("the page has the usual sections",
           [line for line in text.splitlines() if line and line[0].isalpha() and "YKIT(1)" not in line],
           ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "GLOBAL OPTIONS", "GROUPS", "VERBS", "EXIT STATUS", "ENVIRONMENT", "FILES",
            "SEE ALSO"])
    sources = [os.path.join(folder, name) for folder, _, names in os.walk(f"{ROOT}/Sources/CommandLine") for name in names]
    variables = {word for path in sources if path.endswith(".swift")
                 for word in re.findall(r'"(YKIT_[A-Z0-9_]+)"', pathlib.Path(path).read_text(encoding="utf-8"))}
    expect("the page names every variable", sorted(name for name in variables if name not in text), [])


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def migration(*names):
    """What an export of another authenticator contains: SHA-1, six digits, time-based."""
    def account(issuer, name):
        return b"".join([
            field(1, SECRET), field(2, name.encode()), field(3, issuer.encode()), field(4, 1), field(5, 1), field(6, 2)])
    payload = b"".join(field(1, account(*name)) for name in names) + field(2, 1) + field(3, 1)
    return "otpauth-migration://offline?data=" + urllib.parse.quote(base64.b64encode(payload).decode(), safe="")


def picture(name, text):
    path = f"{FOLDER}/{name}.png"
    expect(f"qrencode draws {name}", run("qrencode", "-s", "4", "-m", "4", "-o", path, text), (0, "", ""))
    return path


def imported(name, *files):
    """The accounts that a new key has after an import."""
    key = f"--virtual={FOLDER}/{name}.json"
    status, _, errors = run(YKIT, key, "oath", "import", "--yes", *files)
    if status != 0:
        return status, errors
    listed = json.loads(run(YKIT, key, "oath", "list", "--json")[1])["accounts"]
    code = run(YKIT, key, "oath", "calculate", "--at", "59", "-s", listed[0]["id"])[1].strip()
    return {account["id"] for account in listed}, code


def check_pictures():
    one = picture("one", f"otpauth://totp/Acme:alice?secret={BASE32}&issuer=Acme")
    expect("a QR code in a PNG", imported("png", one), ({"Acme:alice"}, "287082"))
    jpeg = f"{FOLDER}/one.jpg"
    expect("convert makes a JPEG", run("convert", one, "-quality", "80", jpeg)[0], 0)
    expect("a QR code in a JPEG", imported("jpeg", jpeg), ({"Acme:alice"}, "287082"))
    several = picture("several", migration(("Acme", "bob"), ("Other", "carol"), ("Größe", "dörte")))
    expect("a migration QR code", imported("migration", several),
           ({"Acme:bob", "Other:carol", "Größe:dörte"}, "287082"))
    expect("two pictures at once", imported("both", one, several)[0],
           {"Acme:alice", "Acme:bob", "Other:carol", "Größe:dörte"})
    both = f"{FOLDER}/both.png"
    run("convert", one, several, "-background", "white", "+append", both)
    expect("two QR codes in one picture", imported("append", both)[0],
           {"Acme:alice", "Acme:bob", "Other:carol", "Größe:dörte"})
    blank = f"{FOLDER}/blank.png"
    run("convert", "-size", "200x200", "xc:white", blank)
    expect("a picture without a QR code is told of", imported("blank", blank)[0], 12)
    with open(one, "rb") as whole, open(f"{FOLDER}/cut.png", "wb") as cut:
        cut.write(whole.read()[:60])
    expect("a picture cut short too", imported("cut", f"{FOLDER}/cut.png")[0], 13)


def test_completion():
    os.makedirs(f"{FOLDER}/bin")
    os.symlink(YKIT, f"{FOLDER}/bin/ykit")
    check_bash()
    check_zsh()
    check_fish()
    check_names()
    for shell in SHELLS:
        expect(f"the script for {shell} is short", os.path.getsize(script(shell)) < 60_000)
        check_tabs(shell)
    check_manual()
    check_pictures()
