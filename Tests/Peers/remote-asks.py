# SPDX-License-Identifier: Apache-2.0
"""What a far end that lies gets out of the person at `ykit remote`: the test is the far end, a program in place of ssh the
connection, and a terminal of its own the near end."""

import json
import os
import pty
import select
import signal
import socket
import stat
import struct
import sys
import time

from fido2 import cbor

from lib.peer import YKIT, expect, holds, own_folder
from lib.piv_bench import run

FOLDER = own_folder()
ENVIRONMENT = {**os.environ, "PATH": f"{FOLDER}/bin:{os.environ['PATH']}", "TERM": "dumb", "FAR": f"{FOLDER}/far"}
RELAY = f"""#!{sys.executable}
import os, socket, threading
far = socket.socket(socket.AF_UNIX)
far.connect(os.environ["FAR"])
def up():
    while data := os.read(0, 65536):
        far.sendall(data)
    far.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while data := far.recv(65536):
    os.write(1, data)
"""
OK, DENIED, CANCELLED = b"\x00", b"\x27", b"\x2d"


class Near:
    """`ykit remote` on a terminal, and its far end."""

    def __init__(self, *options):
        self.key = f"{FOLDER}/key.json"
        run(YKIT, "virtual", "new", self.key, "--force")
        run(YKIT, "--virtual", self.key, "fido2", "pin", "set", "--new-pin-stdin", text="123456\n")
        if os.path.exists(ENVIRONMENT["FAR"]):
            os.unlink(ENVIRONMENT["FAR"])
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(ENVIRONMENT["FAR"])
        listener.listen()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(YKIT, [YKIT, "--virtual", self.key, "remote", "lab", *options], ENVIRONMENT)
        listener.settimeout(60)
        self.wire = listener.accept()[0]
        listener.close()
        self.bytes, self.said, self.number = b"", "", 0
        self.wire.sendall(b"ykit-remote\n" + self.framed(1, b"\x01\x02far"))
        self.until(lambda: b"ykit-remote\n" in self.bytes)
        self.bytes = self.bytes.partition(b"ykit-remote\n")[2]
        self.frame(1), self.frame(2)

    @staticmethod
    def framed(kind, content):
        return struct.pack(">IB", len(content) + 1, kind) + content

    def until(self, truth, seconds=30):
        """Reads what comes from the program and on its terminal until something is true."""
        end = time.monotonic() + seconds
        while not truth():
            left = end - time.monotonic()
            if left <= 0:
                return False
            for source in select.select([self.wire, self.terminal], [], [], min(left, 0.05))[0]:
                try:
                    data = os.read(source if isinstance(source, int) else source.fileno(), 65536)
                except OSError:
                    return truth()
                if source is self.wire:
                    self.bytes += data
                else:
                    self.said += data.decode(errors="replace").replace("\r\n", "\n")
        return True

    def frame(self, *kinds, seconds=30):
        """The content of the next frame of these kinds; `None` if none comes in time."""
        def is_whole():
            return len(self.bytes) >= 5 and len(self.bytes) >= 4 + struct.unpack(">I", self.bytes[:4])[0]
        while self.until(is_whole, seconds):
            length = struct.unpack(">I", self.bytes[:4])[0]
            frame, self.bytes = self.bytes[4:4 + length], self.bytes[4 + length:]
            if frame[0] in kinds:
                return frame[1:]
        return None

    def request(self, message):
        self.number += 1
        self.wire.sendall(self.framed(3, struct.pack(">I", self.number) + message))

    def cancel(self):
        self.wire.sendall(self.framed(6, struct.pack(">I", self.number)))

    def status(self, seconds=30):
        reply = self.frame(5, seconds=seconds)
        return reply and reply[4:5]

    def shows(self, text, seconds=30):
        """Waits for a text on the terminal, and forgets what was before its end."""
        if not self.until(lambda: text in " ".join(self.said.split()), seconds):
            return False
        self.said = ""
        return True

    def type(self, text):
        os.write(self.terminal, text.encode())

    def asks(self, message, site):
        """Sends a request, and waits until its question is shown, which cannot be answered for a second."""
        self.request(message)
        expect(f"the question names {site}", self.until(lambda: f"{site}: use your key?" in self.said))

    def credentials(self):
        with open(self.key, encoding="utf-8") as file:
            return json.load(file)["fido"]["counter"]

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        self.until(lambda: os.waitpid(self.pid, os.WNOHANG) != (0, 0))
        self.wire.close()
        os.close(self.terminal)


def register(site, name="alice", **options):
    return b"\x01" + cbor.encode({1: bytes(32), 2: {"id": site, "name": "n"}, 3: {"id": b"1", "name": name},
                                  4: [{"alg": -7, "type": "public-key"}], **({7: options} if options else {})})


def sign_in(site, **options):
    return b"\x02" + cbor.encode({1: site, 2: bytes([1] * 32), **({5: options} if options else {})})


def test_start():
    os.mkdir(f"{FOLDER}/bin")
    with open(f"{FOLDER}/bin/ssh", "w", encoding="utf-8") as file:
        file.write(RELAY)
    os.chmod(f"{FOLDER}/bin/ssh", stat.S_IRWXU)


def test_swapped_question():
    for delay in (0, 0.1, 0.4, 0.7):
        near = Near("--wait", "20")
        near.asks(sign_in("github.com"), "github.com")
        near.cancel()
        expect("a withdrawn question is answered as cancelled", near.status(), CANCELLED)
        near.shows("the question is withdrawn")
        near.asks(register("bank.example"), "bank.example, for 'alice'")
        time.sleep(delay)
        near.type("y\r")
        expect(f"a yes {delay} s after another question does not count for it", near.shows("answer again"))
        expect("... and the question stays", near.status(2), None)
        near.type("n\r")
        expect("... a no does", near.status(), DENIED)
        near.end()
    near = Near("--wait", "20")
    near.asks(sign_in("github.com"), "github.com")
    time.sleep(1.2)
    near.type("y")
    near.cancel()
    near.status()
    near.asks(register("bank.example"), "bank.example, for 'alice'")
    near.type("y")
    time.sleep(1.2)
    near.type("es\r")
    expect("nor does a line that was begun before it could be answered", near.shows("answer again"))
    near.type("y\r")
    expect("... the next line does", near.status(), OK)
    near.end()


def test_names():
    near = Near()
    near.request(register("evil.example", "alice' at github.com: use your key? [y/N]" + " " * 900 + "' at evil.example"))
    near.until(lambda: near.said.endswith("[y/N] "))
    time.sleep(1.2)
    holds("the site stands before a name, which stays in its quotes",
          "create a credential at evil.example, for 'alice\\' at github.com: use your key? [y/N] \\' at",
          " ".join(near.said.split()))
    expect("... and is short", len(near.said) < 300)
    near.type("\r")
    expect("an empty answer is a no", near.status(), DENIED)
    near.said = ""
    near.request(register("x" * 7000))
    near.status()
    expect("the name of a refused site is short", near.until(lambda: "refused lab" in near.said) and len(near.said) < 500)
    near.end()


def test_prompt_for_the_pin():
    near = Near("--allow-always", "site.example", "--wait", "4")
    before = near.credentials()
    near.request(register("site.example", uv=True))
    near.shows("PIN:")
    near.cancel()
    expect("a prompt for the PIN is withdrawn with the request", near.status(3), CANCELLED)
    expect("... which is said", near.shows("the question is withdrawn"))
    near.request(register("site.example", uv=True))
    near.shows("PIN:")
    expect("it ends with the time of --wait", near.status(10), DENIED)
    near.request(register("site.example", uv=True))
    near.until(lambda: "requires its PIN" in near.said)
    near.type("1234")
    near.shows("PIN:")
    near.type("56\r")
    expect("a PIN of which a part was typed too early is not sent", near.shows("answer again"))
    near.type("123456\r")
    expect("... a whole one is", near.status(), OK)
    expect("no try was lost", '"pinRetries":8' in run(YKIT, "--virtual", near.key, "fido2", "pin", "retries", "--json")[1])
    expect("one credential was made", near.credentials() > before)
    near.request(register("site.example", uv=True))
    near.shows("PIN:")
    near.wire.close()
    end = time.monotonic() + 10
    while os.waitpid(near.pid, os.WNOHANG) == (0, 0) and time.monotonic() < end:
        select.select([near.terminal], [], [], 0.05)
    expect("the program ends when the connection is cut at a prompt", time.monotonic() < end)


def test_search():
    near = Near("--allow", "ssh:")
    near.request(sign_in("ssh:", up=False))
    near.status()
    expect("a search without the user is shown", near.shows("search for credentials at ssh:, for lab"))
    for _ in range(2):
        near.request(b"\x06" + cbor.encode({2: 1}))
        expect("the tries of the PIN are always those of a new key", near.frame(5)[4:], b"\x00" + cbor.encode({3: 8}))
    near.end()
