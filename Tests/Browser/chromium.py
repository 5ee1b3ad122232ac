#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chromium, in a guest, uses virtual keys on /dev/hidraw with its own FIDO stack: chromium.py [CASE…], all by default.

It is driven by its DevTools protocol, and its native dialogs, on an X server, by xdotool.
"""

import base64
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
import bench  # noqa: E402
import ceremonies  # noqa: E402,F401

from lib.peer import received, within  # noqa: E402

DISPLAY, PORT = ":9", 9222
#: From what the key sees to the dialog that takes input, in seconds.
DIALOG = 2.5
#: After that time, input that had no effect is repeated, in seconds.
AGAIN = 15


class WebSocket:
    """A client's end of RFC 6455, for text."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), 900)
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += received(self.socket, 1)
        assert b" 101 " in answer, answer

    def send(self, text, opcode=1):
        data, mask = text.encode(), os.urandom(4)
        length = bytes([0x80 | len(data)]) if len(data) < 126 else struct.pack(">BH", 0x80 | 126, len(data)) \
            if len(data) < 65536 else struct.pack(">BQ", 0x80 | 127, len(data))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        whole = b""
        while True:
            first, length = received(self.socket, 2)
            if length == 126:
                length, = struct.unpack(">H", received(self.socket, 2))
            elif length == 127:
                length, = struct.unpack(">Q", received(self.socket, 8))
            data = received(self.socket, length)
            if first & 0x0F < 8:
                whole += data
                if first & 0x80:
                    return whole.decode()
            elif first & 0x0F == 8:
                raise EOFError("the browser closed the connection")


class Chromium(bench.Browser):
    name, agent, has_large_blob = "chromium", "Chrome/", True

    def start(self, url):
        os.environ["DISPLAY"] = DISPLAY
        self.folder, self.number = tempfile.mkdtemp(), 0
        self.processes = [self.spawn("Xvfb", DISPLAY, "-screen", "0", "1000x1400x24", "-nolisten", "tcp")]
        within(120, lambda: os.path.exists(f"/tmp/.X11-unix/X{DISPLAY[1:]}"))
        self.processes.append(self.spawn("openbox"))
        self.processes.append(self.spawn(
            "chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--password-store=basic", "--disable-extensions",
            "--disable-sync", "--disable-background-networking", "--disable-component-update",
            f"--user-data-dir={self.folder}/profile", "--enable-logging", f"--log-file={self.folder}/log",
            f"--remote-debugging-port={PORT}", "--remote-allow-origins=*", "--window-size=1000,1400", "--window-position=0,0",
            url))
        page = within(300, lambda: self.page(url), 1)
        assert page, bench.read(f"{self.folder}/chromium")
        self.socket = WebSocket(PORT, page["webSocketDebuggerUrl"].split(str(PORT), 1)[1])
        self.shows(url)

    def spawn(self, program, *arguments):
        with open(f"{self.folder}/{program}", "w") as said:
            return subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()

    @staticmethod
    def page(url):
        """The target that shows this page; parts of Chromium's own window are targets, too."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/json", timeout=300) as answer:
                return next((target for target in json.load(answer) if target["url"] == url), None)
        except OSError:
            return None

    def command(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.receive())).get("id") != self.number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def evaluate(self, script):
        result = self.command("Runtime.evaluate", expression=script, userGesture=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def go(self, url):
        self.command("Page.navigate", url=url)
        self.shows(url)

    def shows(self, url):
        there = f"location.href === {json.dumps(url)} && document.readyState === 'complete'"
        assert within(300, lambda: self.evaluate(there), 0.3), f"{url} is not shown"

    def press(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.evaluate(f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
                            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def begin(self, pins):
        self.pins, self.before, self.dialog, self.next = pins, self.signs(), None, 0

    def pins_left(self):
        return len(self.pins) - (self.signs()[1] - self.before[1])

    #: What a key's traffic has when a dialog is about to ask for the PIN, when it was entered, when a dialog says that the
    #: key is registered (for U2F, after a signature of a challenge that is not the site's), and when one asks whether the
    #: account that the key named is the right one.
    SIGNS = ("getPINRetries", "getPinUvAuthTokenUsingPin", "status 19|challenge 42424242", "  user (4):")

    def signs(self):
        return [sum(key.count(words) for key in bench.Key.made for words in sign.split("|")) for sign in self.SIGNS]

    def attend(self):
        """Types the PIN, or closes a dialog that waits, once more if that came too early for it."""
        asked, entered, excluded, named = (now - then for now, then in zip(self.signs(), self.before, strict=True))
        if asked > entered < len(self.pins):
            if self.due(asked, AGAIN):
                self.xdotool("key", *["BackSpace"] * len(self.pins[entered]))
                self.xdotool("type", "--delay", "80", self.pins[entered])
                self.xdotool("key", "Return")
        elif excluded and self.due("excluded", DIALOG):
            self.xdotool("key", "Escape")
        elif named and self.due("named", DIALOG):
            self.xdotool("key", "Return")

    def due(self, dialog, pause):
        """Whether this dialog has been there for long enough, and not been answered for so long."""
        if dialog != self.dialog or not self.next:
            self.dialog = dialog
            time.sleep(DIALOG)
        elif time.monotonic() < self.next:
            return False
        self.next = time.monotonic() + pause
        return True

    @staticmethod
    def xdotool(*arguments):
        subprocess.run(["xdotool", *arguments], check=True, timeout=120)

    def picture(self, path):
        """The whole screen, dialogs included."""
        subprocess.run(["import", "-window", "root", str(path)], check=False, timeout=300)

    def page_picture(self, path):
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        picture = self.command("Page.captureScreenshot", captureBeyondViewport=True, clip={**size, "scale": 1})
        path.write_bytes(base64.b64decode(picture["data"]))

    def log(self):
        return [line for line in bench.read(f"{self.folder}/log").splitlines() if "FIDO" in line][-20:]


if __name__ == "__main__":
    bench.run(Chromium, __file__)
