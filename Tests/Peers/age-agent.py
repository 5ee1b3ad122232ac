# SPDX-License-Identifier: Apache-2.0
"""age (Debian's) with a key that only `ykit ssh agent` can reach: here, and at the far end of a real `ssh -A`.

YKIT is the ykit to test, with its own virtual key in the agent; its plugin has none.
"""

import hashlib
import os
import shutil
import struct
import sys

from cryptography.hazmat.primitives.asymmetric import ed25519

from lib.openssh import Agent, Client, Server, string
from lib.peer import REAL, YKIT, expect, skip
from lib.piv_bench import DEFAULT_KEY, path, read, run, script, works, write

PIN = "123456"
FILES = 20
EXTENSION = b"age-unwrap@ykit.dev"
FAILURE, EXTENSION_FAILURE, RESPONSE = 5, 28, 29


def make_keys():
    os.makedirs(path("bin"), exist_ok=True)
    for name in ("ykit", "yubikey"):
        script(f"bin/age-plugin-{name}", f'exec -a "$0" {REAL} "$@"', shell="bash")
    os.environ["PATH"] = f"{path('bin')}:{os.environ['PATH']}"
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    for name, *options in (("p256", "--slot", "82"), ("x25519", "--slot", "83", "--algorithm", "x25519"),
                           ("always", "--slot", "84", "--pin-policy", "always")):
        works(f"a key {name}", YKIT, "--virtual", "key.json", "age", "generate", *options, "--touch-policy", "never", "-o", f"{name}.txt")
    works("an identity of age-plugin-yubikey", YKIT, "--virtual", "key.json", "age", "identity", "82", "--form", "yubikey", "-o", "old.txt")
    works("a credential for log-ins", YKIT, "--virtual", "key.json", "ssh", "generate", "-o", "id_ed")
    for name in ("p256", "x25519", "always"):
        encrypt(name, name)
    for number in range(FILES):
        encrypt("p256", f"file{number}")


def encrypt(identity, name):
    write(f"{name}.plain", f"{name}\n".encode())
    # Debian's age needs the plugin for age1tag1….
    form = "age1ykit1" if identity != "x25519" else "age1"
    to = next(line.split()[-1] for line in read(f"{identity}.txt").decode().splitlines() if form in line)
    status, output = run("age", "-e", "-r", to, "-o", f"{name}.age", f"{name}.plain")
    if status:
        expect(f"age encrypts {name}", output)


def decrypts(identity, name):
    """Whether age decrypts a file where nobody can be asked."""
    status, output = run("setsid", "-w", "age", "-d", "-i", f"{identity}.txt", f"{name}.age")
    return status == 0 and output.endswith(f"{name}\n")


def prompts():
    return read("asked").decode().splitlines() if os.path.exists(path("asked")) else []


def once():
    """Twenty files, and one question, which the agent asks."""
    askpass = script("askpass", f'echo "$1" >> {path("asked")}; echo {PIN}')
    with Agent("once", "--no-upstream", SSH_ASKPASS=askpass, SSH_ASKPASS_REQUIRE="force", YKIT_PIN=None):
        expect(f"age decrypts {FILES} files", [n for n in range(FILES) if not decrypts("p256", f"file{n}")], [])
        expect("the PIN was asked for once, to decrypt", [("to decrypt a file with age" in line) for line in prompts()], [True])
        expect("the identity of age-plugin-yubikey", decrypts("old", "p256"))
        expect("a key of X25519", decrypts("x25519", "x25519"))
        expect("still once", len(prompts()), 1)
        expect("a key with the policy always", [decrypts("always", "always") for _ in range(2)], [True, True])
        expect("asks each time", len(prompts()), 3)
    expect("without the agent there is no key", decrypts("p256", "p256"), False)


def rules():
    """The rules of signatures: lock, confirmation, and what is no request."""
    with Agent("rules", "--no-upstream") as agent:
        client = Client(agent)
        expect("it decrypts", decrypts("p256", "p256"))
        expect("lock", client.ask(b"\x16" + string(b"secret")), b"\6")
        expect("a locked agent does not", decrypts("p256", "p256"), False)
        expect("unlock", client.ask(b"\x17" + string(b"secret")), b"\6")
        expect("and again", decrypts("p256", "p256"))
        extension = b"\x1b" + string(EXTENSION)
        for content in (b"", string(b""), string(b"x" * 33) + string(b""), string(b"x" * 4) + string(b"-> x\n\n"),
                        struct.pack(">I", 1 << 31) + b"x", string(b"x" * 200000) + string(b""), string(b"x" * 4) + string(b"y" * 200000)):
            expect(f"{len(content)} bytes are no request", client.ask(extension + content)[0], EXTENSION_FAILURE)
        expect("a key that is not here", client.ask(extension + string(bytes(32)) + string(b""))[0], EXTENSION_FAILURE)
        expect("another extension", client.ask(b"\x1b" + string(b"other@example.com"))[0], FAILURE)
    answer = script("answer", f'echo "$SSH_ASKPASS_PROMPT: $1" >> {path("confirmed")}; exec test -e {path("yes")}')
    with Agent("confirm", "--no-upstream", "--confirm", SSH_ASKPASS=answer, SSH_ASKPASS_REQUIRE="force"):
        expect("who says no decrypts nothing", decrypts("p256", "p256"), False)
        write("yes", b"")
        expect("who says yes decrypts", decrypts("p256", "p256"))
    asked = read("confirmed").decode().splitlines()
    expect("asked for what, and with which key", [
        line == "confirm: a program here asks to decrypt a file with age: use your key PIV 82?" for line in asked], [True, True])


def binding(session, forwards):
    host = ed25519.Ed25519PrivateKey.generate()
    key = string(b"ssh-ed25519") + string(host.public_key().public_bytes_raw())
    signature = string(b"ssh-ed25519") + string(host.sign(session))
    return b"\x1b" + string(b"session-bind@openssh.com") + string(key) + string(session) + string(signature) + bytes([forwards])


def forwarded():
    probe = b"\x1b" + string(EXTENSION) + string(tag()) + string(b"")
    for option, wanted in ((), RESPONSE), (("--no-forwarding",), EXTENSION_FAILURE):
        with Agent("bound", "--no-upstream", *option) as agent:
            client = Client(agent)
            expect("a forwarded connection", client.ask(binding(b"session", True)), b"\6")
            expect(f"is answered with {wanted} {' '.join(option)}", client.ask(probe)[0], wanted)
    if os.getuid() != 0 or not os.path.exists("/usr/sbin/sshd"):
        skip("age over ssh -A", "needs root and openssh-server")
        return
    write("authorized", read("id_ed.pub"))
    command = f"cd {path('')} && PATH={os.environ['PATH']} setsid -w age -d -i p256.txt p256.age"
    answer = script("forwarded", f'echo "$1" >> {path("far-asked")}; exec test -e {path("far-yes")}')
    with Agent("far", "--no-upstream", "--key", "id_ed", SSH_ASKPASS=answer, SSH_ASKPASS_REQUIRE="force") as agent, Server() as server:
        host = run("ssh-keygen", "-lf", "host.pub")[1].split()[1]
        output = server.login("id_ed.pub", "-A", command=command)[1]
        expect("who says no decrypts nothing at the far end", "p256\n" in output, False)
        write("far-yes", b"")
        output = server.login("id_ed.pub", "-A", command=command)[1]
        expect("who says yes does", "p256\n" in output or output)
        expect("asked in the words of the near end", read("far-asked").decode().splitlines(),
               [f"a program at the host {host} asks to decrypt a file with age: use your key PIV 82?"] * 2)
        expect("which the agent says", f"decrypt a file with age, requested from the host {host}" in agent.said or agent.said)
        output = server.login("id_ed.pub", command=command)[1]
        expect("without -A it does not", "p256\n" in output, False)
    with Agent("closed", "--no-upstream", "--no-forwarding", "--key", "id_ed"), Server() as server:
        output = server.login("id_ed.pub", "-A", command=command)[1]
        expect("--no-forwarding refuses", "p256\n" in output, False)


def tag():
    """The tag in the stanza of an identity of age-plugin-yubikey."""
    listed = run(YKIT, "--virtual", "key.json", "age", "list", "--form", "yubikey")[1]
    text = next(line for line in listed.splitlines() if line.startswith("age1yubikey1"))
    signs = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    bits = "".join(f"{signs.index(sign):05b}" for sign in text[len("age1yubikey1"):-6])
    point = bytes(int(bits[start:start + 8], 2) for start in range(0, 33 * 8, 8))
    return hashlib.sha256(point).digest()[:4]


def test_age_agent():
    if not shutil.which("age"):
        sys.exit("FAIL age is not installed; tools/build/packages.txt has it")
    for name in ("SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY", "YKIT_DEVICE", "YKIT_VIRTUAL"):
        os.environ.pop(name, None)
    os.environ.update(YKIT_PIN=PIN, YKIT_MANAGEMENT_KEY=DEFAULT_KEY)
    make_keys()
    once()
    rules()
    forwarded()
