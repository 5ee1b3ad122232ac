# SPDX-License-Identifier: Apache-2.0
"""Shared code of the SSH peer tests: ykit's agent, a client of agents, and a real sshd."""

import base64
import os
import pwd
import signal
import socket
import struct
import subprocess
import time

from cryptography.hazmat.primitives.asymmetric import ed25519

from lib.peer import REAL, free_port, received, within
from lib.piv_bench import FOLDER, path, read, run, write


class Agent:
    """ykit's agent during the block, for a virtual key of its own or for the one in the reader."""

    def __init__(self, name, *arguments, virtual="key.json", **variables):
        self.socket = path(f"{name}.sock")
        key = ["--virtual", virtual] if virtual else []
        self.command = [REAL, *key, "ssh", "agent", "--socket", self.socket, *arguments]
        self.environment = dict(os.environ, HOME=FOLDER, XDG_STATE_HOME=FOLDER, **variables)
        for variable in [name for name, value in variables.items() if value is None]:
            del self.environment[variable]
        self.log = path(f"{name}.log")

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.command, cwd=FOLDER, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=log, start_new_session=True)
        self.line = self.process.stdout.readline().decode()
        os.environ["SSH_AUTH_SOCK"] = self.socket
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            self.status = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.status = None
        self.process.stdout.close()
        os.environ.pop("SSH_AUTH_SOCK", None)

    @property
    def said(self):
        with open(self.log, errors="replace") as file:
            return file.read()


def string(data):
    return struct.pack(">I", len(data)) + data


def strings(data):
    found = []
    while data:
        size = struct.unpack(">I", data[:4])[0]
        found.append(data[4:4 + size])
        data = data[4 + size:]
    return found


class Client:
    """A client that implements the agent protocol itself."""

    def __init__(self, agent):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(agent.socket)  # waits while the queue is full, as no socket with a timeout does
        self.socket.settimeout(60)

    def ask(self, message):
        self.socket.sendall(string(message))
        return self.read()

    def read(self):
        return received(self.socket, struct.unpack(">I", received(self.socket, 4))[0])

    def identities(self):
        answer = self.ask(b"\x0b")
        assert answer[0] == 12, answer[:1]
        parts = strings(answer[5:])
        return list(zip(parts[::2], parts[1::2], strict=False))

    def sign(self, blob, data, flags=0):
        return self.ask(b"\x0d" + string(blob) + string(data) + struct.pack(">I", flags))


#: The keys of hosts that tests make up.
HOSTS = [ed25519.Ed25519PrivateKey.generate() for _ in range(3)]


def host_key(host):
    return string(b"ssh-ed25519") + string(host.public_key().public_bytes_raw())


def binding(session, forwards, host=HOSTS[0]):
    return b"\x1b" + string(b"session-bind@openssh.com") + string(host_key(host)) + string(session) \
        + string(string(b"ssh-ed25519") + string(host.sign(session))) + bytes([forwards])


def login(session, blob, user=b"root", host=None):
    """What a client signs to log in; it names the host's key if `host` is given."""
    method = b"publickey-hostbound-v00@openssh.com" if host else b"publickey"
    return string(session) + b"\x32" + string(user) + string(b"ssh-connection") + string(method) + b"\1" \
        + string(strings(blob)[0]) + string(blob) + (string(host_key(host)) if host else b"")


def file_data(namespace=b"file"):
    return b"SSHSIG" + string(namespace) + string(b"") + string(b"sha512") + string(b"h" * 64)


def public(name):
    return base64.b64decode(read(f"{name}.pub").split()[1])


def addition(name, constraints=b""):
    """The message that adds a credential by its key file, as ssh-add sends it."""
    text = read(name).decode().split("\n")
    raw = base64.b64decode("".join(text[1:-2]))
    blob = public(name)
    private = raw[raw.index(blob) + len(blob) + 4:][8 + len(blob):]
    handle = private[5:5 + struct.unpack(">I", private[1:5])[0]]
    provider = b"\xff" + string(b"sk-provider@openssh.com") + string(b"internal")
    return b"\x19" + blob + private[:1] + string(handle) + string(b"") + string(b"added") + provider + constraints


def hop(host=None, user=b"", name=b"host", is_authority=False):
    """One end of a step of restrict-destination-v00@openssh.com."""
    key = string(host_key(host)) + bytes([is_authority]) if host else b""
    return string(string(user) + string(name if host else b"") + string(b"") + key)


def restricted(*steps):
    """The constraint that a key is for these steps, each from one end to another."""
    return b"\xff" + string(b"restrict-destination-v00@openssh.com") + string(
        b"".join(string(begin + end + string(b"")) for begin, end in steps))


def restricted_to(host):
    return restricted((hop(), hop(host)))


class OpenSSHAgent:
    """OpenSSH's ssh-agent during the block."""

    def __init__(self, name, **variables):
        self.socket = path(name)
        self.variables = variables

    def __enter__(self):
        self.process = subprocess.Popen(["ssh-agent", "-D", "-a", self.socket], stdout=subprocess.DEVNULL, env={**os.environ, **self.variables})
        within(10, self.listens)
        return self

    def listens(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Server:
    """A real sshd on loopback during the block."""

    def __init__(self, certified=False):
        self.certified = certified
        self.port = free_port()

    def __enter__(self):
        os.makedirs("/run/sshd", exist_ok=True)
        run("ssh-keygen", "-t", "ed25519", "-N", "", "-f", "host")
        if self.certified:
            run("ssh-keygen", "-q", "-s", "ca", "-I", "host", "-h", "host.pub")
        write("sshd_config", f"""Port {self.port}
ListenAddress 127.0.0.1
HostKey {path('host')}
{f"HostCertificate {path('host-cert.pub')}" if self.certified else ""}
AuthorizedKeysFile {path('authorized')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
AllowAgentForwarding yes
""".encode())
        self.process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", path("sshd_config")],
                                        stderr=open(path("sshd.log"), "wb"))
        write("known", f"[127.0.0.1]:{self.port} ".encode() + read("host.pub"))
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    break
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def login(self, public, *options, command="echo in"):
        return run("ssh", "-F", "none", "-p", str(self.port), "-i", public, "-o", "IdentitiesOnly=yes", "-o",
                   f"UserKnownHostsFile={path('known')}", "-o", "BatchMode=yes", *options,
                   f"{pwd.getpwuid(os.getuid()).pw_name}@127.0.0.1", command)
