# SPDX-License-Identifier: Apache-2.0
"""Shared code of the SSH peer tests: ykit's agent, a client of agents, and a real sshd."""

import os
import pwd
import signal
import socket
import struct
import subprocess
import time

from lib.peer import REAL, free_port, received
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
