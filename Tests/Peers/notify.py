# SPDX-License-Identifier: Apache-2.0
"""Notifications that the key waits for a touch: through a command, and on the desktop; and a menu with fzf.

YKIT is the ykit to test. The script runs itself again in a separate D-Bus session, where it plays the desktop.
"""

import json
import os
import re
import subprocess
import threading
import time

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return
from jeepney.io.blocking import open_dbus_connection

from lib import terminal
from lib.peer import ROOT, YKIT, expect, in_own_session
from lib.piv_bench import FOLDER, path, read, works

in_own_session()

# A code with a touch takes a second, since the command that calculates it is delayed.
SLOW = "on 00a2: delay 1500ms"
NAME = "org.freedesktop.Notifications"


class Desktop:
    """The notification service: all notifications, and those still visible."""

    def __init__(self):
        self.shown, self.closed = [], []
        connection = open_dbus_connection("SESSION")
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        connection.send_and_get_reply(new_method_call(bus, "RequestName", "su", (NAME, 4)))

        def loop():
            while True:
                message = connection.receive()
                if message.header.message_type != MessageType.method_call:
                    continue
                member = message.header.fields[HeaderFields.member]
                if member == "Notify":
                    self.shown.append(message.body)
                    connection.send(new_method_return(message, "u", (len(self.shown),)))
                elif member == "CloseNotification":
                    self.closed.append(message.body[0])
                    connection.send(new_method_return(message))
                else:
                    connection.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
        threading.Thread(target=loop, daemon=True).start()


def ykit(*arguments, **variables):
    environment = dict(os.environ, HOME=FOLDER, XDG_STATE_HOME=FOLDER, **variables)
    done = subprocess.run([YKIT, "--virtual", "key.json", *arguments], cwd=FOLDER, env=environment, capture_output=True,
                          text=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def events():
    return [json.loads(line) for line in read("events").decode().splitlines()]


def command():
    print("-- a command")
    hook = f"cat >> {path('events')}"
    status, code, said = ykit("oath", "calculate", "touchy", YKIT_NOTIFY=hook, YKIT_FAULT=SLOW)
    expect("the code comes", (status, len(code.strip())), (0, 6))
    begin, end = events()
    expect("the command is told of the touch, and of its end", (begin["event"], end["event"]), ("touch", "done"))
    expect("and what for", (begin["reason"], end["reason"], begin["message"]),
           ("calculate a code for touchy",) * 2 + ("touch the key",))
    expect("by one process", begin["pid"], end["pid"])
    open(path("events"), "w").close()
    ykit("oath", "calculate", "touchy", YKIT_NOTIFY=hook)
    expect("a touch that is given at once is not told of", events(), [])
    ykit("fido2", "register", "--rp", "example.com", "--user", "alice", "--link", "pcsc", YKIT_NOTIFY=hook, YKIT_FAULT="on 8010: delay 700ms")
    found = [(each["event"], each["reason"]) for each in events()]
    expect("FIDO2 is told of too", [event for event, _ in found], ["touch", "done"])
    expect("with the relying party", "example.com" in (found or [("", "")])[0][1])
    status, code, said = ykit("oath", "calculate", "touchy", YKIT_NOTIFY="exit 3", YKIT_FAULT=SLOW)
    expect("a command that fails is a warning once", (status, said.count("YKIT_NOTIFY failed with status 3")), (0, 1))


def desktop(screen):
    print("-- the desktop")
    for words, variables in ((["--notify"], {}), ([], {"YKIT_NOTIFY": "desktop"})):
        count = len(screen.shown)
        status, code, said = ykit(*words, "oath", "calculate", "touchy", YKIT_FAULT=SLOW, **variables)
        body = (screen.shown[count:] or [[""] * 8])[0]
        expect("a notification says what to do and what for", (status, body[3], body[4]), (0, "Touch the key", "calculate a code for touchy"))
        expect("and is taken away at the end", screen.closed, list(range(1, len(screen.shown) + 1)))
    status, code, said = ykit("--notify", "oath", "calculate", "<b>&", YKIT_FAULT=SLOW)
    expect("a name is shown without markup", screen.shown[-1][4], "calculate a code for &lt;b&gt;&amp;")
    status, code, said = ykit("--notify", "oath", "list", DBUS_SESSION_BUS_ADDRESS="")
    expect("without a session there is nobody to notify", (status, "no desktop session" in said), (1, True))


def menu():
    """The menu of the article, with fzf on a terminal and with rofi on an X server; the answers are typed."""
    print("-- a menu")
    with open(f"{ROOT}/Sources/ykit/ykit.docc/Desktop.md") as file:
        text = file.read()
    script = next(block for block in text.split("```") if "fzf" in block)
    rofi = re.search(r"With rofi, use `(rofi [^`]*)`", text)[1]
    fzf = re.search(r"fzf [^)]*", script)[0]
    os.makedirs(path("bin"), exist_ok=True)
    for name, text in (("ykit", f'#!/bin/sh\nexec {YKIT} --virtual {path("key.json")} "$@"\n'), ("menu", script.strip() + "\n"),
                       ("window", script.strip().replace(fzf, rofi) + "\n")):
        with open(path(f"bin/{name}"), "w") as file:
            file.write(text)
        os.chmod(path(f"bin/{name}"), 0o755)
    environment = dict(os.environ, PATH=f"{path('bin')}:{os.environ['PATH']}", HOME=FOLDER, TERM="xterm")
    with terminal.Terminal([path("bin/menu")], environment, FOLDER) as typed:
        typed.expect("alice")
        time.sleep(0.5)
        typed.type("alice\r")
        typed.expect(r"\d{6}\r")
        expect("the account that is chosen gets a code", typed.wait(), 0)
    window(environment)


def window(environment):
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24"], pass_fds=[writing],
                              stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as number:
        environment = dict(environment, DISPLAY=f":{number.readline().strip()}")
    menu = subprocess.Popen([path("bin/window")], cwd=FOLDER, env=environment, stdout=subprocess.PIPE, text=True)
    for _ in range(100):
        shown = subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "rofi"], env=environment, capture_output=True)
        if shown.returncode == 0:
            break
        time.sleep(0.1)
    # The window is there before it has the keyboard: what is typed too early is typed again.
    code = ""
    for _ in range(10):
        subprocess.run(["xdotool", "key", "ctrl+u", "type", "alice"], env=environment)
        time.sleep(0.5)
        subprocess.run(["xdotool", "key", "Return"], env=environment)
        try:
            code, _ = menu.communicate(timeout=3)
            break
        except subprocess.TimeoutExpired:
            pass
    else:
        menu.kill()
        code, _ = menu.communicate()
    server.terminate()
    server.wait()
    expect("and with rofi", re.fullmatch(r"\d{6}\n", code) is not None or code)


def test_notify():
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    for name, *options in (("touchy", "--touch"), ("Acme:alice",), ("<b>&", "--touch")):
        works(f"an account {name}", YKIT, "--virtual", "key.json", "oath", "add", name, "--secret-stdin", *options, text="GEZDGNBVGY3TQOJQ\n")
    screen = Desktop()
    command()
    desktop(screen)
    menu()
