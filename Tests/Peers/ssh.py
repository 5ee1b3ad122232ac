# SPDX-License-Identifier: Apache-2.0
"""OpenSSH's programs with ykit's agent, key files and signatures: ssh-keygen, ssh-add, ssh, sshd, git.

YKIT is the ykit to test, with its own virtual key. cryptography verifies a thousand signatures.
"""

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils

from lib import terminal
from lib.openssh import Agent, Client, Server, string, strings
from lib.peer import REAL, YKIT, expect, skip, within
from lib.piv_bench import DEFAULT_KEY, FOLDER, fails, path, read, run, script, works, write

PIN = "123456"
os.environ["YKIT_PIN"] = os.environ["YKIT_FIDO_PIN"] = PIN
os.environ["YKIT_MANAGEMENT_KEY"] = DEFAULT_KEY
os.environ.pop("SSH_AUTH_SOCK", None)
os.environ.pop("SSH_ASKPASS", None)


def ykit(name, *arguments, **more):
    return works(f"ykit: {name}", YKIT, "--virtual", "key.json", *arguments, **more)


def refuses(name, *arguments, **more):
    fails(f"ykit: {name}", YKIT, "--virtual", "key.json", *arguments, **more)


def make_keys():
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    for slot, kind in (("9a", "eccp256"), ("9c", "rsa2048"), ("82", "ed25519"), ("83", "eccp384")):
        ykit(f"{kind} in {slot}", "piv", "keys", "generate", slot, f"{slot}.pem", "--algorithm", kind)
    ykit("a PIN for FIDO2", "fido2", "pin", "set", "--new-pin-stdin", text=f"{PIN}\n")
    ykit("an Ed25519 credential", "ssh", "generate", "-o", "id_ed", "-c", "my laptop")
    ykit("an ECDSA credential", "ssh", "generate", "-a", "ecdsa", "-o", "id_ec", "--application", "ssh:lab")
    ykit("a credential with verification", "ssh", "generate", "-o", "id_uv", "--verify-required")
    ykit("a credential without touch", "ssh", "generate", "-o", "id_nt", "--no-touch-required")
    ykit("a credential that the key remembers", "ssh", "generate", "-o", "id_rk", "--resident", "--user", "bob",
         "--application", "ssh:rk", "--attestation", "attestation", "--challenge", "id_ed.pub")
    modes = [oct(os.stat(path(name)).st_mode & 0o777) for name in ("id_ed", "id_ed.pub")]
    expect("the key file is the owner's alone, the public key everybody's", modes, ["0o600", "0o644"])
    refuses("a key file is not overwritten", "ssh", "generate", "-o", "id_ed", says="already exists")
    refuses("another application than ssh:", "ssh", "generate", "-o", "x", "--application", "example.com",
            says="begin with ssh:")


def replaced():
    """A credential that the key stores is replaced by a typed yes only."""
    generate = [REAL, "--virtual", "key.json", "ssh", "generate", "--resident", "--application", "ssh:typed", "-o"]
    ykit("a credential", *generate[3:], "typed1")
    for answer, wanted in (("n", False), ("", False), ("y", True)):
        name = f"typed-{answer}"
        status, said = terminal.run([*generate, name], folder=FOLDER, answers=[("replace it", f"{answer}\n")])
        expect(f"'{answer}' is asked for", (status == 0, os.path.exists(path(name))), (wanted, wanted))
        works("one is there", "sh", "-c", f"{YKIT} --virtual key.json ssh keys --resident-only | grep -c ssh:typed", says="1")
        signs = run(YKIT, "--virtual", "key.json", "ssh", "sign", "-k", "typed1", "id_ed.pub", "-o", "-")[0] == 0
        expect("the first one signs unless it was replaced", signs, not wanted)
    ykit("no more of it", "ssh", "delete", "ssh:typed", "--force")


def key_files():
    for name in ("id_ed", "id_ec", "id_uv", "id_nt", "id_rk"):
        public = read(f"{name}.pub").decode()
        works(f"ssh-keygen reads the key file {name}", "ssh-keygen", "-y", "-f", name, says=public.split()[1])
        works(f"ssh-keygen reads the public half of {name}", "ssh-keygen", "-l", "-f", f"{name}.pub", says="-SK)")
    attestation = strings(read("attestation")[:-8])
    expect("the attestation is in OpenSSH's form", attestation[0], b"ssh-sk-attest-v01")
    challenge = hashlib.sha256(read("id_ed.pub")).digest()
    from cryptography import x509
    certificate = x509.load_der_x509_certificate(attestation[1])
    data = attestation[3]
    body = data[3:] if data[0] == 0x59 else data[2:]
    certificate.public_key().verify(attestation[2], body + challenge, ec.ECDSA(hashes.SHA256()))
    expect("and its signature is over the challenge", True)
    os.mkdir(path("down"))
    ykit("download", "ssh", "download", "-o", "down", says="id_ed25519_sk_rk_rk_bob")
    works("ssh-keygen reads a downloaded key", "ssh-keygen", "-y", "-f", "down/id_ed25519_sk_rk_rk_bob",
          says=read("id_rk.pub").decode().split()[1])
    run("ssh-keygen", "-t", "ed25519", "-N", "", "-f", "usual")
    run("ssh-keygen", "-t", "ed25519", "-N", "secret", "-f", "locked")
    refuses("a private key that is in no security key", "ssh", "sign", "-k", "usual", "id_ed.pub",
            says="does not belong to a security key")
    refuses("an encrypted private key that is in no security key", "ssh", "sign", "-k", "locked", "id_ed.pub", "--file-password-stdin",
            text="secret\n", says="does not belong to a security key")
    passphrase()


def passphrase():
    """A passphrase on a key file, put there by ssh-keygen and by ykit."""
    shutil.copy(path("id_ed"), path("id_pass"))
    works("ssh-keygen puts a passphrase on a key file", "ssh-keygen", "-p", "-q", "-P", "", "-N", "secret", "-f", "id_pass")
    sign = ["ssh", "sign", "-k", "id_pass", "id_ed.pub", "-n", "lab", "-o", "pass.sig", "--force", "--file-password-stdin"]
    ykit("sign with a file that has one", *sign, text="secret\n")
    works("ssh-keygen accepts the signature", "sh", "-c", "ssh-keygen -Y check-novalidate -n lab -s pass.sig < id_ed.pub")
    refuses("a wrong passphrase", *sign, text="Secret\n", says="wrong passphrase for the key file")
    works("another cipher", "ssh-keygen", "-p", "-q", "-P", "secret", "-N", "secret", "-Z", "aes256-gcm@openssh.com", "-f", "id_pass")
    refuses("is refused by name", *sign, text="secret\n", says="is encrypted (aes256-gcm@openssh.com)")
    refuses("with what to do about it", *sign, text="secret\n", says="'ssh-keygen -p -f FILE'")
    ykit("a key file with a passphrase", "ssh", "generate", "-o", "id_own", "--passphrase", "--file-password-stdin", text="own one\n")
    works("ssh-keygen reads it", "ssh-keygen", "-y", "-P", "own one", "-f", "id_own", says=read("id_own.pub").decode().split()[1])
    fails("but not with another", "ssh-keygen", "-y", "-P", "own", "-f", "id_own", says="incorrect passphrase")
    write("phrase", b"#!/bin/sh\necho own one\n")
    os.chmod(path("phrase"), 0o700)
    with Agent("phrase", "--no-piv"):
        works("ssh-add asks for it and gives the agent the key", "env", f"SSH_ASKPASS={path('phrase')}",
              "SSH_ASKPASS_REQUIRE=force", "ssh-add", "id_own")
        works("which signs", "ssh-add", "-T", "id_own.pub")
    with Agent("phrase2", "--no-piv", "--key", "id_own", YKIT_FILE_PASSWORD="own one"):
        works("the agent reads such a file itself", "ssh-add", "-T", "id_own.pub")
    works("ssh-keygen takes it off", "ssh-keygen", "-p", "-q", "-P", "own one", "-N", "", "-f", "id_own")
    ykit("and ykit signs with it", "ssh", "sign", "-k", "id_own", "id_ed.pub", "-n", "lab", "-o", "own.sig")


def signatures():
    write("file", b"what is signed\n")
    write("other", b"what is not\n")
    keys = [("--slot", "9a"), ("--slot", "9c"), ("--slot", "82"), ("--slot", "83"), ("-k", "id_ed"), ("-k", "id_ec"),
            ("-k", "id_uv"), ("-k", "id_nt"), ("-k", "down/id_ed25519_sk_rk_rk_bob")]
    for option, name in keys:
        ykit(f"sign with {name}", "ssh", "sign", option, name, "-n", "lab", "file", "-o", "file.sig", "--force")
        with open(path("file"), "rb") as signed:
            result = subprocess.run(["ssh-keygen", "-Y", "check-novalidate", "-n", "lab", "-s", path("file.sig")],
                                    stdin=signed, capture_output=True, text=True)
        expect(f"ssh-keygen accepts the signature of {name}", result.returncode == 0 or result.stderr)
    write("allowed", b"me@lab,*@home namespaces=\"lab,git\" " + read("id_rk.pub"))
    verify = ["ssh", "verify", "file", "--allowed-signers", "allowed", "-n", "lab", "--identity"]
    ykit("verify by allowed signers", *verify, "me@lab", says="good signature by 'me@lab'")
    ykit("and by pattern", *verify, "you@home")
    refuses("somebody who may not", *verify, "you@lab", says="is not allowed to sign")
    refuses("another namespace", "ssh", "verify", "file", "-k", "id_rk.pub", "-n", "file", says="not for 'file'")
    refuses("another file", "ssh", "verify", "other", "-s", "file.sig", "-k", "id_rk.pub", "-n", "lab",
            says="not a signature of this file")
    with Agent("signer") as _:
        works("ssh-add takes a credential", "ssh-add", "id_ed")
        run("ssh-keygen", "-Y", "sign", "-n", "lab", "-f", "id_ed.pub", "other")
        ykit("verify what ssh-keygen signed", "ssh", "verify", "other", "-k", "id_ed.pub", "-n", "lab")


def agent():
    with Agent("agent", "--resident") as agent:
        expect("it prints how SSH finds it", f"SSH_AUTH_SOCK='{agent.socket}'" in agent.line)
        expect("the socket is the owner's", oct(os.stat(agent.socket).st_mode & 0o777), "0o600")
        listed = works("ssh-add -L", "ssh-add", "-L")
        slots = run(YKIT, "--virtual", "key.json", "ssh", "keys")[1].split("\n")
        for line in [line for line in slots if line.startswith(("ssh-", "ecdsa-"))]:
            expect(f"the agent offers {line.split()[0]} as 'ykit ssh keys' prints it", line in listed)
        expect("and the credential that the key remembers", read("id_rk.pub").decode().split()[1] in listed)
        for name in ("id_ed", "id_ec", "id_nt"):
            works(f"ssh-add {name}", "ssh-add", name)
        for line in run("ssh-add", "-L")[1].strip().split("\n"):
            write("one.pub", line.encode() + b"\n")
            works(f"ssh-add -T {line.split()[0]}", "ssh-add", "-T", "one.pub")
        fails("a usual private key is not taken", "ssh-add", "usual", says="agent refused operation")
        works("ssh-add -x", "sh", "-c", "echo 'echo lock' > ask; chmod +x ask; SSH_ASKPASS=./ask SSH_ASKPASS_REQUIRE=force ssh-add -x")
        fails("a locked agent offers nothing", "ssh-add", "-L", says="no identities")
        fails("nor signs", "ssh-add", "-T", "id_ec.pub", says="agent")
        works("ssh-add -X", "sh", "-c", "SSH_ASKPASS=./ask SSH_ASKPASS_REQUIRE=force ssh-add -X")
        works("ssh-add -d", "ssh-add", "-d", "id_ed.pub")
        expect("a removed credential is gone", read("id_ed.pub").decode().split()[1] not in run("ssh-add", "-L")[1])
        works("with a lifetime", "ssh-add", "-t", "1", "id_ed")
        expect("whose time is over", within(60, lambda: read("id_ed.pub").decode().split()[1] not in run("ssh-add", "-L")[1]))
        works("ssh-add -D", "ssh-add", "-D")
        hostile(agent)
        many(agent)
    expect("^C ends it with 130 and the socket is gone", (agent.status in (0, 130), os.path.exists(agent.socket)),
           (True, False))


def hostile(agent):
    for name, data in (("a length of nothing", b"\0\0\0\0"), ("a length of 4 GiB", b"\xff" * 4 + b"x"),
                       ("half a message", b"\0\0\1\0\x0d"), ("a message of another type", string(b"\xfe")),
                       ("an empty key", string(b"\x0d" + string(b"") * 2 + b"\0" * 4)),
                       ("a key that is cut off", string(b"\x0d\0\0\0\xff")),
                       ("a session that is not signed", string(b"\x1b" + string(b"session-bind@openssh.com") + string(b"x") * 3 + b"\0"))):
        client = Client(agent)
        client.socket.sendall(data)
        client.socket.shutdown(socket.SHUT_WR)
        try:
            answer = client.read()
        except (EOFError, ConnectionError):
            answer = b""
        expect(f"{name}: refused, or the connection ends", answer in (b"", b"\x05", b"\x1c"))
    expect("and the agent serves on", len(Client(agent).identities()) >= 4)


def check(blob, data, answer):
    assert answer[0] == 14, answer
    kind, signature = strings(strings(answer[1:])[0])[:2]
    parts = strings(blob)
    if parts[0] == b"ssh-ed25519":
        ed25519.Ed25519PublicKey.from_public_bytes(parts[1]).verify(signature, data)
    else:
        numbers = [int.from_bytes(part, "big") for part in strings(signature)]
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), parts[2])
        key.verify(utils.encode_dss_signature(*numbers), data, ec.ECDSA(hashes.SHA256()))


def many(agent):
    client = Client(agent)
    blobs = {strings(blob)[0]: blob for blob, _ in client.identities()}
    blob = blobs[b"ecdsa-sha2-nistp256"]
    start = time.monotonic()
    for number in range(1000):
        data = b"data %d" % number
        check(blob, data, client.sign(blob, data))
    print(f"     1,000 signatures one after the other: {time.monotonic() - start:.1f} s", flush=True)
    expect("1,000 signatures one after the other", True)
    bad = []

    def one(number):
        try:
            data = b"parallel %d" % number
            check(blob, data, Client(agent).sign(blob, data))
        except Exception as error:
            bad.append(f"{number}: {error!r}")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect("50 signatures at once", bad, [])


def pins():
    shutil.copy(path("key.json"), path("pins.json"))
    with Agent("wrong", virtual="pins.json", YKIT_PIN="654321") as agent:
        client = Client(agent)
        blob = [blob for blob, _ in client.identities() if b"nistp256" in blob][0]
        answers = [client.sign(blob, b"x")[0] for _ in range(4)]
        expect("a wrong PIN signs nothing", answers, [5] * 4)
    tries = run(YKIT, "--virtual", "pins.json", "--json", "piv", "info")[1]
    expect("and is sent once", '"pin":{"retries":2' in tries or tries)
    write("askpass", f"#!/bin/sh\necho \"$1\" >> {path('asked')}\necho {PIN}\n".encode())
    os.chmod(path("askpass"), 0o700)
    with Agent("asks", virtual="pins.json", YKIT_PIN=None, SSH_ASKPASS=path("askpass"), SSH_ASKPASS_REQUIRE="force") as agent:
        client = Client(agent)
        blobs = [blob for blob, _ in client.identities()]
        for blob in blobs:
            for _ in range(2):
                expect("signs with a PIN by SSH_ASKPASS", client.sign(blob, b"data", 4)[0], 14)
    questions = read("asked").decode().strip().split("\n")
    expect("asked once for the keys that take it once, and each time for 9c", len(questions), 3)
    expect("which says what for", all("PIN of the key's PIV, to sign 4 bytes" in question for question in questions))
    with Agent("nobody", virtual="pins.json", YKIT_PIN=None) as agent:
        client = Client(agent)
        blob = [blob for blob, _ in client.identities() if b"nistp256" in blob][0]
        expect("without anybody to ask nothing is signed", client.sign(blob, b"x")[0], 5)


def hop_command(server):
    """A log-in from the far end to itself with the forwarded agent."""
    return (f"ssh -F none -p {server.port} -i {path('id_ed.pub')} -o IdentitiesOnly=yes -o BatchMode=yes"
            f" -o UserKnownHostsFile={path('known')} 127.0.0.1 echo in")


def logins():
    if os.getuid() != 0 or not os.path.exists("/usr/sbin/sshd"):
        skip("log-ins at a real sshd", "needs root and openssh-server")
        return
    answer = script("far-askpass", f'echo "$1" >> {path("far-asked")}; exec test -e {path("far-yes")}')
    asks = {"SSH_ASKPASS": answer, "SSH_ASKPASS_REQUIRE": "force"}
    with Agent("login", "--resident", "--key", "id_ed", "--key", "id_ec", "--key", "id_uv", "--key", "id_nt", **asks) as agent:
        lines = [line for line in run("ssh-add", "-L")[1].strip().split("\n")]
        no_touch = read("id_nt.pub").decode().split()[1]
        with Server() as server:
            write("authorized", "".join(
                ("no-touch-required " if no_touch in line else "") + line + "\n" for line in lines).encode())
            for line in lines:
                write("login.pub", line.encode() + b"\n")
                status, output = server.login("login.pub")
                expect(f"logs in with {line.split()[0]} {' '.join(line.split()[2:])}", "in\n" in output or output)
            write("authorized", b"verify-required " + read("id_uv.pub") + b"verify-required " + read("id_ed.pub")
                  + read("id_nt.pub"))
            expect("verify-required is met by the one with verification", "in\n" in server.login("id_uv.pub")[1])
            expect("and not by the one without", "in\n" not in server.login("id_ed.pub")[1])
            expect("nor is a missing touch accepted", "in\n" not in server.login("id_nt.pub")[1])
            write("authorized", read("id_ed.pub"))
            status, output = server.login("id_ed.pub", "-A", command="ssh-add -L | wc -l")
            expect("a forwarded agent is seen", output.strip().endswith(str(len(lines))) or output)
            host = run("ssh-keygen", "-lf", "host.pub")[1].split()[1]
            command = f"cd {FOLDER} && rm -f far.sig && echo x > far && ssh-keygen -Y sign -n far -f id_ed.pub far"
            status, output = server.login("id_ed.pub", "-A", command=command)
            expect("a no at the near end signs nothing", status != 0 or output)
            write("far-yes", b"")
            status, output = server.login("id_ed.pub", "-A", command=command)
            expect("a yes signs", status == 0 or output)
            expect("asked by the host's fingerprint", read("far-asked").decode().splitlines(), [
                f"a program at the host {host} asks to sign a file for 'far': use your key my laptop?"] * 2)
            expect("saying so", f"requested from the host {host}" in agent.said)
            status, output = server.login("id_ed.pub", "-A", command=hop_command(server))
            expect("a log-in from there is asked about with both hosts", (
                "in\n" in output or output, f"a program at the host {host} asks to log in at the host {host} as 'root':"
                " use your key my laptop?" in read("far-asked").decode() or read("far-asked")), (True, True))
            expect("and for whom a log-in is", "log in at the host" in agent.said and "SHA256:" in agent.said)
    with Agent("known", "--key", "id_ed", "--no-piv", "--allow-host", "SHA256:*") as agent, Server() as server:
        status, output = server.login("id_ed.pub", "-A", command=command)
        expect("a host that is named signs without a question", status == 0 or output)
    with Agent("closed", "--no-forwarding", "--key", "id_ed", "--no-piv") as agent, Server() as server:
        write("authorized", read("id_ed.pub"))
        status, output = server.login(
            "id_ed.pub", "-A", command=f"cd {FOLDER} && rm -f far.sig && ssh-keygen -Y sign -n far -f id_ed.pub far")
        expect("with --no-forwarding it does not", status != 0)


def upstream():
    other = path("other.sock")
    process = subprocess.Popen(["ssh-agent", "-D", "-a", other], stdout=subprocess.DEVNULL)
    within(60, lambda: os.path.exists(other))
    os.environ["SSH_AUTH_SOCK"] = other
    works("another agent holds a usual key", "ssh-add", "usual")
    with Agent("front", "--upstream", other, "--no-piv", "--key", "id_ed"):
        listed = run("ssh-add", "-L")[1]
        expect("its keys are offered as well", read("usual.pub").decode().split()[1] in listed
               and read("id_ed.pub").decode().split()[1] in listed)
        works("and sign", "ssh-add", "-T", "usual.pub")
        run("ssh-keygen", "-t", "ecdsa", "-N", "", "-f", "usual2")
        works("a usual key that is added goes there", "ssh-add", "usual2")
        expect("and is offered", read("usual2.pub").decode().split()[1] in run("ssh-add", "-L")[1])
    process.terminate()
    process.wait()


def activation():
    """The socket that systemd passes as descriptor 3 (sd_listen_fds(3))."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path("activated.sock"))
    listener.listen()
    script = f"LISTEN_PID=$$ LISTEN_FDS=1 exec {REAL} --virtual key.json ssh agent --no-upstream 3<&{listener.fileno()}"
    process = subprocess.Popen(
        ["bash", "-c", script], cwd=FOLDER, env=dict(os.environ, HOME=FOLDER, XDG_RUNTIME_DIR=FOLDER),
        pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    os.environ["SSH_AUTH_SOCK"] = path("activated.sock")
    works("an agent serves the socket that systemd made", "ssh-add", "-L", says="ecdsa-sha2-nistp256")
    os.environ.pop("SSH_AUTH_SOCK")
    process.send_signal(signal.SIGINT)
    process.wait(10)
    process.stdout.close()
    listener.close()
    expect("and leaves it there", os.path.exists(path("activated.sock")))


def git():
    with Agent("git", "--no-piv", "--key", "id_ed"):
        write("signers", b"me@lab " + read("id_ed.pub"))
        run("git", "init", "-q", "repository")
        settings = ["-C", "repository", "-c", "user.name=me", "-c", "user.email=me@lab", "-c", "gpg.format=ssh", "-c",
                    f"user.signingkey={path('id_ed.pub')}", "-c", f"gpg.ssh.allowedSignersFile={path('signers')}"]
        works("git commit -S", "git", *settings, "commit", "-q", "-S", "--allow-empty", "-m", "signed")
        works("git verify-commit", "git", *settings, "verify-commit", "HEAD", says='Good "git" signature for me@lab')


def test_openssh():
    make_keys()
    replaced()
    key_files()
    signatures()
    agent()
    pins()
    logins()
    upstream()
    activation()
    git()
    ykit("delete the credential", "ssh", "delete", "ssh:rk", "--force")
    ykit("it is gone", "ssh", "keys", "--resident-only")
