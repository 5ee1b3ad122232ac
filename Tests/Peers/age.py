# SPDX-License-Identifier: Apache-2.0
"""Tests ykit's plugin with the real age (Debian's, 1.1), with rage's library (pyrage) and with virtual keys.

YKIT is the ykit to test. The plugin is a script of that name that starts ykit under the plugin's name with a virtual key.
PINs and choices come from the variable YKIT_PIN, from pyrage, or from the terminal that age runs on.
"""

import base64
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time

import pyrage
from cryptography.hazmat.primitives import hpke, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from lib.peer import REAL, ROOT, YKIT, expect
from lib.piv_bench import DEFAULT_KEY, FOLDER, fails, path, read, run, works, write

PIN = "123456"
BIN = path("bin")
TEXT = b"what is in the file\n"
os.environ["YKIT_MANAGEMENT_KEY"] = DEFAULT_KEY
os.environ["YKIT_PIN"] = PIN


def install(name, key="key.json", **variables):
    """A plugin of age by this name: ykit, started under that name with a virtual key."""
    os.makedirs(BIN, exist_ok=True)
    settings = "".join(f"export {key}={value!r}\n" for key, value in variables.items())
    with open(f"{BIN}/age-plugin-{name}", "w") as file:
        file.write(f'#!/bin/bash\n{settings}exec -a "$0" {REAL} --virtual {path(key)} "$@"\n')
    os.chmod(f"{BIN}/age-plugin-{name}", 0o755)


def remove(*names):
    for name in names:
        os.remove(f"{BIN}/age-plugin-{name}")


def ykit(*arguments, key="key.json"):
    return works(f"ykit {' '.join(arguments)}", YKIT, "--virtual", key, *arguments)


def answer(*arguments, key="key.json"):
    status, output = run(YKIT, "--virtual", key, *arguments, "--json")
    return json.loads(output.splitlines()[-1])


def recipients(identity_file):
    """The recipients named in an identity file."""
    lines = [line.split() for line in read(identity_file).decode().splitlines() if line.startswith("#")]
    return [words[-1] for words in lines if words[-1].startswith("age1")]


def encrypts(name, *options):
    write("plain", TEXT)
    works(f"age encrypts {name}", "age", "-e", *options, "-o", path("sealed"), "plain")


def decrypts(name, *options, file="sealed"):
    opened = path("opened")
    if os.path.exists(opened):
        os.remove(opened)
    status, said = run("age", "-d", *options, "-o", opened, file)
    expect(f"age decrypts {name}", (status, said) if status else read("opened"), TEXT)


def on_terminal(command, answers, environment=None):
    """Runs a program on its own terminal and types an answer to each of its questions."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(FOLDER)
        os.execvpe(command[0], command, environment or dict(os.environ))
    said = b""
    answers = list(answers)
    deadline = time.time() + 60
    while time.time() < deadline:
        try:
            block = os.read(terminal, 4096)
        except OSError:
            break
        if not block:
            break
        said += block
        if answers and said.count(answers[0][0]) > 0:
            time.sleep(0.3)
            os.write(terminal, answers.pop(0)[1])
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said.decode(errors="replace"), answers


def p256():
    print("-- a key on P-256")
    ykit("age", "generate", "--name", "laptop, old", "--touch-policy", "never", "-o", "p256.txt")
    expect("the identity is the owner's alone", oct(os.stat(path("p256.txt")).st_mode & 0o777), "0o600")
    tag, yubikey, own = recipients("p256.txt")
    for recipient in (own, tag, yubikey):
        encrypts(f"to {recipient[:14]}…", "-r", recipient)
        decrypts(f"what is for {recipient[:14]}…", "-i", "p256.txt")
    encrypts("to the identity", "-i", "p256.txt")
    decrypts("what is for the identity", "-i", "p256.txt")
    listed = works("ykit age list makes a file of recipients", YKIT, "--virtual", "key.json", "age", "list", "--form", "ykit")
    write("recipients.txt", listed.encode())
    encrypts("to a file of recipients", "-R", "recipients.txt")
    decrypts("what is for a file of recipients", "-i", "p256.txt")

    print("-- identities of age-plugin-yubikey")
    status, old = run(f"{BIN}/age-plugin-yubikey", "--identity", "--slot", "1")
    write("old.txt", old.encode())
    expect("its identity begins with its prefix", old.splitlines()[-1].startswith("AGE-PLUGIN-YUBIKEY-1"), True)
    encrypts("to age1yubikey1…", "-r", yubikey)
    decrypts("with an identity of age-plugin-yubikey", "-i", "old.txt")
    encrypts("to the identity of age-plugin-yubikey", "-i", "old.txt")
    decrypts("what is for the identity of age-plugin-yubikey", "-i", "old.txt")
    decrypts("with whatever is plugged in", "-j", "ykit")
    status, names = run(f"{BIN}/age-plugin-yubikey", "--list")
    expect("its list has name and recipient", "laptop, old" in names and yubikey in names, True)


def rage():
    print("-- rage's library")
    tag, yubikey, own = recipients("p256.txt")
    sealed = pyrage.encrypt(TEXT, [pyrage.tag.Recipient.from_str(tag)])
    write("sealed", sealed)
    decrypts("what rage wrapped for age1tag1…", "-i", "p256.txt")
    x25519 = recipients("x25519.txt")[0]
    write("sealed", pyrage.encrypt(TEXT, [pyrage.x25519.Recipient.from_str(x25519)]))
    decrypts("what rage wrapped for age1…", "-i", "x25519.txt")
    stranger = pyrage.x25519.Identity.generate()
    write("sealed", pyrage.encrypt(TEXT, [stranger.to_public(), pyrage.tag.Recipient.from_str(tag)]))
    decrypts("what is for somebody else too", "-i", "p256.txt")
    encrypts("for rage and the key", "-r", str(stranger.to_public()), "-r", own)
    expect("rage decrypts what is for it too", pyrage.decrypt(read("sealed"), [stranger]), TEXT)
    write("sealed", pyrage.encrypt(TEXT, [stranger.to_public()]))
    fails("what is for somebody else is not decrypted", "age", "-d", "-i", "p256.txt", "sealed", says="no identity matched")


def hpke_vectors():
    """ykit opens a stanza that cryptography's HPKE made, and cryptography opens one that ykit made."""
    print("-- cryptography's HPKE")
    own = ec.derive_private_key(0x1234567890ABCDEF, ec.SECP256R1())
    point = own.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint)
    recipient = works("a recipient for a known key", sys.executable, "-c", f"print({bech32('age1ykit', point)!r})").strip()
    encrypts("to a known key", "-r", recipient)
    header = read("sealed").split(b"---")[0].decode().splitlines()
    first = next(index for index, line in enumerate(header) if line.startswith("-> p256tag"))
    share = base64.b64decode(header[first].split()[3] + "==")
    body = base64.b64decode(header[first + 1] + "==")
    suite = hpke.Suite(hpke.KEM.P256, hpke.KDF.HKDF_SHA256, hpke.AEAD.CHACHA20_POLY1305)
    key = suite.decrypt(share + body, own, info=b"age-encryption.org/p256tag")
    expect("cryptography opens ykit's stanza", len(key), 16)


def bech32(prefix, data):
    signs = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    number = "".join(f"{byte:08b}" for byte in data)
    number += "0" * (-len(number) % 5)
    groups = [int(number[start:start + 5], 2) for start in range(0, len(number), 5)]

    def polymod(values):
        check = 1
        for value in values:
            top, check = check >> 25, (check & 0x1FFFFFF) << 5 ^ value
            for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
                check ^= generator if top >> bit & 1 else 0
        return check

    name = [ord(sign) >> 5 for sign in prefix] + [0] + [ord(sign) & 31 for sign in prefix]
    check = polymod(name + groups + [0] * 6) ^ 1
    return prefix + "1" + "".join(signs[value] for value in groups + [check >> 5 * (5 - index) & 31 for index in range(6)])


def x25519():
    print("-- a key of X25519 in a slot")
    ykit("age", "generate", "--algorithm", "x25519", "--touch-policy", "never", "-o", "x25519.txt")
    encrypts("to a native recipient, without a plugin", "-r", recipients("x25519.txt")[0])
    decrypts("what is for a native recipient", "-i", "x25519.txt")


def fido2():
    print("-- a FIDO2 credential")
    os.environ["YKIT_PIN"] = "fido-1234"
    works("a PIN", YKIT, "--virtual", "key.json", "fido2", "pin", "set", "--new-pin-fd", "0", text="fido-1234\n")
    for uv in ("required", "discouraged"):
        file = f"fido-{uv}.txt"
        ykit("age", "generate", "--fido2", "--uv", uv, "-o", file)
        native, hmac, own = recipients(file)
        encrypts("to the credential's native recipient", "-r", native)
        decrypts(f"with a credential, verification {uv}", "-i", file)
        encrypts("to age1ykit1…", "-r", own)
        decrypts("without an identity, by the stanza", "-j", "ykit")
        encrypts("to age1fido2-hmac1…", "-r", hmac)
        decrypts("under the name of age-plugin-fido2-hmac", "-j", "fido2-hmac")
        encrypts("to the credential's identity", "-i", file)
        decrypts("what is for the credential's identity", "-i", file)
    os.environ["YKIT_PIN"] = PIN


def questions():
    print("-- PIN, touch and another key, through age")
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    del environment["YKIT_PIN"]
    encrypts("to the key", "-r", recipients("p256.txt")[2])
    command = ["age", "-d", "-i", "p256.txt", "-o", path("opened"), "sealed"]
    status, said, left = on_terminal(command, [(b"PIN", b"123456\n")], environment)
    expect("the PIN is asked for, with the tries that are left", (status, "3 tries left" in said), (0, True))
    expect("and the file is decrypted", read("opened"), TEXT)
    status, said, left = on_terminal(
        command, [(b"3 tries left", b"999999\n"), (b"2 tries left", b"123456\n")], environment)
    expect("a wrong PIN is asked for again", status, 0)
    works("another key", YKIT, "virtual", "new", "other.json")
    install("ykit", "other.json")
    status, said, left = on_terminal(command, [(b"Skip", b"2\n")], environment)
    expect("a key that is not there is asked for and can be skipped", (status != 0, "serial number" in said), (True, True))
    status, said = run(*command)
    expect("without a terminal it is skipped", (status != 0, "no identity matched" in said), (True, True))
    install("ykit")


def wrong_pin():
    """The files of one run of the plugin, in age's protocol: a PIN in the environment that the key refuses is sent once."""
    print("-- a wrong PIN in the environment")
    ykit("age", "generate", "--touch-policy", "never", "-o", "wrong.txt", key="wrong.json")
    recipient = recipients("wrong.txt")[0]
    identity = next(line for line in read("wrong.txt").decode().splitlines() if line.startswith("AGE-PLUGIN"))
    ended = "-> done\n\n" + "-> ok\n\n" * 6
    plugin = [YKIT, "--virtual", "wrong.json", "age", "plugin", "--state"]
    file_key = base64.b64encode(b"k" * 16).decode().rstrip("=")
    _, said = run(*plugin, "recipient-v1", text=f"-> add-recipient {recipient}\n\n-> wrap-file-key\n{file_key}\n{ended}")
    stanza = re.search(r"-> recipient-stanza 0 (.*\n[^-]*\n)", said)[1]
    os.environ["YKIT_PIN"] = "999999"
    files = "".join(f"-> recipient-stanza {number} {stanza}" for number in range(3))
    _, said = run(*plugin, "identity-v1", text=f"-> add-identity {identity}\n\n{files}{ended}")
    os.environ["YKIT_PIN"] = PIN
    expect("three files fail", len(re.findall("^-> error identity 0", said, re.M)), 3)
    expect("and cost one try", answer("piv", "info", key="wrong.json")["pin"]["retries"], 2)


def touch():
    print("-- touch")
    ykit("age", "generate", "--slot", "95", "--touch-policy", "always", "-o", "touch.txt")
    encrypts("to a key that wants a touch", "-r", recipients("touch.txt")[2])
    decrypts("with a touch", "-i", "touch.txt")
    install("ykit", YKIT_FAULT="on 0087: delay 1500ms")
    status, said = run("age", "-d", "-i", "touch.txt", "sealed")
    expect("the touch is asked for through age", (status, "touch the key" in said, TEXT.decode() in said), (0, True, True))
    install("ykit")


def article():
    """The commands at the beginning of the article, in a shell and unchanged; ykit uses a virtual key."""
    print("-- the article")
    with open(f"{ROOT}/Sources/ykit/ykit.docc/Age.md") as file:
        commands = file.read().split("```")[1]
    home = path("home")
    os.makedirs(home)
    os.makedirs(path("own"))
    install("ykit")
    shutil.move(f"{BIN}/age-plugin-ykit", path("own/ykit"))
    works("a key of its own", YKIT, "virtual", "new", "article.json")
    with open(path("own/ykit")) as file:
        script = file.read().replace(path("key.json"), path("article.json"))
    with open(path("own/ykit"), "w") as file:
        file.write(script)
    with open(f"{home}/notes.txt", "wb") as file:
        file.write(TEXT)
    environment = dict(os.environ, HOME=home, PATH=f"{home}/.local/bin:{path('own')}:/usr/bin:/bin")
    result = subprocess.run(["bash", "-e"], input=commands, cwd=home, env=environment, capture_output=True, text=True, timeout=60)
    expect("what the article types works", (result.returncode, TEXT.decode() in result.stdout), (0, True))
    if result.returncode:
        print(result.stderr)
    install("ykit")


def test_age():
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    if not shutil.which("age"):
        sys.exit("FAIL age is not installed; tools/build/packages.txt has it")
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    for name in ("ykit", "yubikey", "tag", "fido2-hmac"):
        install(name)
    p256()
    x25519()
    rage()
    hpke_vectors()
    fido2()
    touch()
    questions()
    wrong_pin()
    article()
