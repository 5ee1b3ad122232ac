# SPDX-License-Identifier: Apache-2.0
"""Keys that a browser reaches through ykit: a card in a reader by `ykit bridge`, a key at another machine by `ykit remote`, the key of
this machine by `ykit guard`."""

import functools
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time

from bench import PIN, Key, read

from lib.peer import ROOT, YKIT, within

PORT = 2222


class RelayedKey(Key):
    """A key with a server whose node is there during the block."""

    def serve(self, command, **variables):
        """Starts what makes the node."""
        with open(self.said, "w") as said:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                            env={**os.environ, **variables})

    def find_node(self):
        node = within(240, lambda: re.search(r"the device is (/dev/hidraw\d+)", read(self.said)))
        assert node, f"no node: {read(self.said)}"
        self.node = node[1]

    def says(self, words):
        """How often the server has said this so far; lines of a terminal may be broken anywhere."""
        return re.sub(r"\s+", " ", read(self.said)).count(words)


class BridgedCard(RelayedKey):
    """A contactless card on a reader of pcscd, shown by `ykit bridge`. A person lifts it and lays it down again when told to."""

    def __enter__(self):
        smart_card_service()
        self.serve([YKIT, "--log-level", "traffic", "--log-file", self.log, "bridge"])
        self.stopped = False
        self.lay()
        self.find_node()
        self.person = threading.Thread(target=self.obey)
        self.person.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.person.join()
        super().__exit__()
        self.card.terminate()
        self.card.wait()

    def obey(self):
        done = 0
        while not self.stopped:
            if self.says("lift the card from") > done:
                done += 1
                self.lift()
                self.lay()
            time.sleep(0.2)

    def lay(self):
        before = self.says("a contactless card in")
        with open(f"{self.said}.card", "w") as said:
            self.card = subprocess.Popen([YKIT, "virtual", "serve", "--vpcd", "--nfc", "--state", self.state],
                                         stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        assert within(120, lambda: self.says("a contactless card in") > before), f"no card: {read(self.said)}"

    def lift(self):
        before = self.says("the card was removed from '")
        self.card.terminate()
        self.card.wait()
        assert within(120, lambda: self.says("the card was removed from '") > before), f"the card stays: {read(self.said)}"


class RemoteKey(RelayedKey):
    """A key for which `ykit remote` has a connection to this machine's sshd. Each question is answered with yes on a terminal.

    The site is named for browsers that search for credentials, which is refused otherwise."""

    def __init__(self, *options, pin=False, named=False):
        super().__init__(*options, pin=pin)
        self.pin = {"YKIT_FIDO_PIN": PIN} if pin else {}
        self.sites = ["--allow", "localhost"] if named else []

    def __enter__(self):
        self.serve([f"{ROOT}/Tests/Guest/confirm.py", "y", YKIT, "--log-level", "traffic", "--log-file", self.log, "--virtual",
                    self.state, "remote", "lab", *self.sites, "--command", f"{YKIT} bridge --stdio", "--", "-F", ssh_server()], **self.pin)
        self.find_node()
        return self


class GuardedKey(Key):
    """A key that `ykit guard` takes from programs. On a terminal each question is answered with yes, and the PIN is entered."""

    def __enter__(self):
        super().__enter__()
        self.own, self.parts = self.node, []
        folder = tempfile.mkdtemp()
        self.system, self.terminal, answers = (f"{folder}/{name}" for name in ("system", "terminal", "answers"))
        pathlib.Path(answers).write_text(f"yes y\npin {PIN}\n")
        self.start(self.system, YKIT, "guard", "--system", "--owner", "root")
        assert within(120, lambda: "waiting for 'ykit guard'" in read(self.system)), read(self.system)
        self.start(self.terminal, f"{ROOT}/Tests/Guest/guard-person.py", answers, YKIT, "guard")
        node = within(240, lambda: re.search(r"programs find the guard at (/dev/hidraw\d+)", read(self.system)))
        assert node, read(self.system) + read(self.terminal)
        self.node = node[1]
        return self

    def start(self, said, *command):
        with open(said, "w") as output:
            self.parts.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output))

    def __exit__(self, *_):
        for part in reversed(self.parts):
            part.terminate()
            part.wait()
        assert within(60, lambda: not os.path.exists(self.node)), f"{self.node} stays"
        self.node = self.own
        super().__exit__()

    def asked(self, words):
        """How often this was asked so far."""
        return re.sub(r"\s+", " ", read(self.terminal)).count(f"use the key to {words}")


@functools.cache
def smart_card_service():
    os.makedirs("/run/pcscd", exist_ok=True)
    subprocess.Popen(["pcscd", "--foreground", "--error"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
    assert within(120, lambda: os.path.exists("/run/pcscd/pcscd.comm")), "no pcscd"


@functools.cache
def ssh_server():
    """Starts sshd on loopback; the configuration of ssh that reaches it as 'lab'."""
    folder = pathlib.Path(tempfile.mkdtemp())
    os.makedirs("/run/sshd", exist_ok=True)
    for name in ("host", "id"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True, timeout=300)
    (folder / "sshd").write_text(f"Port {PORT}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/id.pub\n"
                                 "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
                                 "LoginGraceTime 0\n")
    (folder / "known").write_text(f"[127.0.0.1]:{PORT} {read(folder / 'host.pub')}")
    (folder / "config").write_text(f"Host lab\nHostName 127.0.0.1\nPort {PORT}\nUser root\nIdentityFile {folder}/id\n"
                                   f"IdentitiesOnly yes\nUserKnownHostsFile {folder}/known\n")
    subprocess.Popen(["/usr/sbin/sshd", "-D", "-E", folder / "log", "-f", folder / "sshd"], stdin=subprocess.DEVNULL)
    assert within(120, listens), read(folder / "log")
    return str(folder / "config")


def listens():
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0
