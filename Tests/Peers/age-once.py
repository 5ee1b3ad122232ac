# SPDX-License-Identifier: Apache-2.0
"""age (Debian's) and ykit's plugin with a virtual key in a real pcscd: a key with the PIN policy "once" asks once.

YKIT is the ykit to test.
"""

import os
import shutil
import socket
import subprocess
import sys
import time

from lib.openssh import Agent
from lib.peer import REAL, YKIT, beside_pcscd, expect, within
from lib.piv_bench import DEFAULT_KEY, Key, fails, path, read, run, works, write
from lib.terminal import Terminal

beside_pcscd()

PIN = "123456"
CARD = ["--link", "pcsc"]
FILES = 20
#: pcscd takes the power, and so the PIN, from a card that nobody has used for five seconds: what comes later on a busy machine
#: has to ask again.
POWERED = 4


def plugin():
    os.makedirs(path("bin"), exist_ok=True)
    write("bin/age-plugin-ykit", f'#!/bin/bash\nexec -a "$0" {REAL} "$@"\n'.encode())
    os.chmod(path("bin/age-plugin-ykit"), 0o755)
    os.environ["PATH"] = f"{path('bin')}:{os.environ['PATH']}"


def ykit(name, *arguments, **more):
    return works(f"ykit: {name}", YKIT, *CARD, *arguments, **more)


def encrypted(identity, *numbers):
    recipient = next(line.split()[-1] for line in read(identity).decode().splitlines() if "age1ykit1" in line)
    for number in numbers:
        write(f"{number}.txt", f"file {number}\n".encode())
        status, output = run("age", "-e", "-r", recipient, "-o", f"{number}.age", f"{number}.txt")
        if status:
            expect(f"age encrypts {number}", output)


def decrypted(identity, number):
    """Whether a file is decrypted where nobody can be asked."""
    status, output = run("setsid", "-w", "age", "-d", "-i", identity, f"{number}.age")
    return status == 0 and output.startswith(f"file {number}\n")


def questioned(identity, numbers):
    """The files of these that are not decrypted where nobody can be asked, although the PIN was verified just before."""
    refused, used = [], time.monotonic()
    for number in numbers:
        if not decrypted(identity, number):
            if time.monotonic() - used > POWERED:
                asked(identity, number)
            else:
                refused.append(number)
        used = time.monotonic()
    return refused


def asked(identity, number):
    """How often age asks for a PIN on its terminal, where it gets the right one."""
    command = ["age", "-d", "-i", identity, "-o", "opened", f"{number}.age"]
    place = count = 0
    with Terminal(command, dict(os.environ, HOME=path("")), path("")) as terminal:
        while place := terminal.expect(r"PIN of key [0-9]+'s PIV, to decrypt a file with age, ([0-9]+ tries left|the last try)", after=place):
            count += 1
            terminal.type(f"{PIN}\n")
        status = terminal.wait(30)
    expect(f"age decrypts file {number}", (status, read("opened")), (0, f"file {number}\n".encode()))
    return count


def once():
    ykit("a key for signatures", "piv", "keys", "generate", "9a", "9a.pem", "--algorithm", "eccp256")
    ykit("a key with the policy once", "age", "generate", "--touch-policy", "never", "-o", "once.txt")
    encrypted("once.txt", *range(FILES))
    os.environ.pop("YKIT_PIN")
    ykit("another application forgets the PIN", "info")
    expect("without a PIN no file is decrypted", decrypted("once.txt", 0), False)
    expect("age asks for the PIN once", asked("once.txt", 0), 1)
    expect(f"and not for {FILES - 1} other files", questioned("once.txt", range(1, FILES)), [])
    ykit("another program that uses PIV changes nothing", "piv", "info")
    expect("the PIN is still verified", questioned("once.txt", [1]), [])
    ykit("another application ends that", "oath", "list")
    expect("the PIN is asked for again", decrypted("once.txt", 1), False)
    os.environ["YKIT_PIN"] = PIN
    expect("a given PIN is shared as well", decrypted("once.txt", 1), True)
    os.environ.pop("YKIT_PIN")
    expect("with the next program", decrypted("once.txt", 2), True)
    ykit("a signature with the PIN ends that", "piv", "sign", "--slot", "9a", "--hash", "sha256", "1.txt", "--output", "signature",
         "--pin-stdin", text=f"{PIN}\n")
    expect("since other verbs leave nothing unlocked", decrypted("once.txt", 2), False)


def always():
    os.environ["YKIT_PIN"] = PIN
    ykit("a key with the policy always", "age", "generate", "--pin-policy", "always", "--touch-policy", "never", "-o", "always.txt")
    encrypted("always.txt", "a", "b")
    expect("decrypts with a given PIN", decrypted("always.txt", "a"), True)
    os.environ.pop("YKIT_PIN")
    expect("leaves nothing behind for itself", decrypted("always.txt", "b"), False)
    expect("nor for a key with the policy once", decrypted("once.txt", 3), False)
    expect("and asks each time", [asked("always.txt", number) for number in ("a", "b")], [1, 1])


def beside_agents():
    """Agents that hold no such key, or do not answer: the plugin uses the card by itself."""
    os.environ["YKIT_PIN"] = PIN
    encrypted("once.txt", "c")
    for command in (["ssh-agent", "-D", "-a", path("other.sock")], None):
        if command:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            within(10, lambda: os.path.exists(path("other.sock")))
            os.environ["SSH_AUTH_SOCK"] = path("other.sock")
        else:
            silent = socket.socket(socket.AF_UNIX)
            silent.bind(path("silent.sock"))
            silent.listen()
            os.environ["SSH_AUTH_SOCK"] = path("silent.sock")
        expect(f"beside {command[0] if command else 'an agent that says nothing'}", decrypted("once.txt", "c"), True)
        if command:
            process.terminate()
            process.wait()
    with Agent("same", *CARD, "--no-upstream", virtual=None) as agent:
        expect("an agent of ykit decrypts with the same card", decrypted("once.txt", "c"), True)
        expect("which it says", "decrypt a file with age" in agent.said)
    os.environ["SSH_AUTH_SOCK"] = path("nowhere.sock")
    expect("an agent that is not there", decrypted("once.txt", "c"), True)
    os.environ.pop("SSH_AUTH_SOCK")
    os.environ.pop("YKIT_PIN")


def test_age_once():
    if not shutil.which("age"):
        sys.exit("FAIL age is not installed; tools/build/packages.txt has it")
    os.environ.update(YKIT_PIN=PIN, YKIT_MANAGEMENT_KEY=DEFAULT_KEY)
    os.environ.pop("SSH_AUTH_SOCK", None)
    plugin()
    with Key("5.7.1"):
        once()
        always()
        beside_agents()
    with Key("5.2.7", "old"):
        os.environ["YKIT_PIN"] = PIN
        ykit("a key of older firmware, whose certificate says its policy", "age", "generate", "--touch-policy", "never", "-o", "old.txt")
        encrypted("old.txt", 1, 2)
        expect("decrypts with a given PIN", decrypted("old.txt", 1), True)
        os.environ.pop("YKIT_PIN")
        expect("and the next file without", decrypted("old.txt", 2), True)
        fails("another file is for another key", "age", "-d", "-i", "old.txt", "3.age", says="no identity matched")
