# SPDX-License-Identifier: Apache-2.0
"""ykit in a desktop session: the clipboard of a real X server, passwords in a real Secret Service, and neither of them.

YKIT is the ykit to test. The script runs itself again in a separate D-Bus session.
"""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from lib.peer import YKIT, expect, in_own_session, own_folder, within

in_own_session()
FOLDER = own_folder()

BASE32 = base64.b32encode(b"12345678901234567890").decode()
PASSWORD = "correct horse battery"


def environment(**settings):
    """The environment with a test home; a setting of None is removed."""
    home = {"HOME": FOLDER, "XDG_STATE_HOME": f"{FOLDER}/state", "XDG_DATA_HOME": f"{FOLDER}/data",
            "XDG_RUNTIME_DIR": f"{FOLDER}/run", "WAYLAND_DISPLAY": None}
    return {name: value for name, value in {**os.environ, **home, **settings}.items() if value is not None}


def run(*command, text="", **settings):
    """Status, output and errors. Neither is a pipe, so that background processes do not block the test."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        done = subprocess.run(command, input=text, stdout=output, stderr=errors, text=True, timeout=120,
                              env=environment(**settings))
        output.seek(0)
        errors.seek(0)
        return done.returncode, output.read().strip(), errors.read().strip()


class Key:
    """A virtual key in a file."""

    def __init__(self, name):
        self.path = f"{FOLDER}/{name}.json"

    def oath(self, *arguments, **settings):
        return run(YKIT, f"--virtual={self.path}", "oath", *arguments, **settings)

    def add(self, name, *options):
        expect(f"ykit adds {name}", self.oath("add", "-f", *options, name, YKIT_OATH_SECRET=BASE32)[0], 0)

    def device(self):
        return json.loads(self.oath("info", "--json")[1])["deviceId"]

    def access_key(self, password):
        """PBKDF2 with HMAC-SHA-1, 1000 rounds, 16 bytes, under the salt of the application."""
        with open(self.path) as file:
            salt = bytes.fromhex(json.load(file)["oath"]["salt"])
        return hashlib.pbkdf2_hmac("sha1", password.encode(), salt, 1000, 16)


@contextlib.contextmanager
def started(*command, text=b"", **options):
    """A program of the session, during a block."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment(), **options)
    try:
        process.stdin.write(text)
        process.stdin.close()
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def x_server():
    """The name of the display of an X server that chose a free one."""
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "320x200x8", "-nolisten", "tcp"]
    with (open(f"{FOLDER}/x.log", "ab") as log, open(reader) as display,
          started(*command, pass_fds=[writer], stdout=log, stderr=log)):
        os.close(writer)
        yield f":{display.readline().strip()}"


def clearers(display):
    """The command lines of programs that wait on this display to clear the clipboard."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/cmdline", "rb") as line, open(f"/proc/{entry}/environ", "rb") as variables:
            words = line.read().split(b"\0")
            if b"clear-clipboard" in words and f"DISPLAY={display}".encode() in variables.read().split(b"\0"):
                found.append(b" ".join(words).decode())
    return found


def check_clipboard():
    key = Key("clipboard")
    key.add("Acme:alice", "-P", "1")
    with x_server() as display:
        def show():
            return run("xclip", "-selection", "clipboard", "-o", DISPLAY=display)[1]
        for seconds in 2, 6, 20, 60:  # until it was all looked at before the code expired
            then = int(time.time()) + seconds
            code = key.oath("calculate", "-s", "--at", str(then), "Acme")[1]
            status, output, errors = key.oath("calculate", "-c", "--at", str(then), "Acme", DISPLAY=display)
            seen, waiting = show(), clearers(display)
            if time.time() < then:
                break
            within(60, lambda: not clearers(display))
        expect("a code goes on the clipboard", (status, len(seen), seen), (0, 6, code))
        expect("and not on the terminal", (output, code in errors), ("", False))
        expect("what clears it waits, and does not show the code",
               (len(waiting), code in " ".join(waiting)), (1, False))
        expect("the code is gone when it has expired", within(120, lambda: show() == "" and not clearers(display)))

        status, _, _ = key.oath("calculate", "-c", "--at", str(int(time.time()) + 2), "Acme", DISPLAY=display)
        run("xclip", "-selection", "clipboard", text="of another program", DISPLAY=display)
        expect("what clears it ends", (status, within(120, lambda: not clearers(display))), (0, True))
        expect("what another program put there stays", show(), "of another program")
    status, _, errors = key.oath("calculate", "-c", "Acme", DISPLAY=display)
    expect("an X server that is gone is told of", (status, "could not reach the clipboard" in errors), (1, True))
    status, _, errors = key.oath("calculate", "-c", "Acme", DISPLAY=None)
    expect("so is that there is no desktop session", (status, "no clipboard" in errors), (1, True))


def check_securid_clipboard():
    """The code of a SecurID token on the clipboard, until it expires."""
    state, store = f"{FOLDER}/securid-key.json", f"{FOLDER}/securid.json"
    # A token of 30 s with 6 digits, made by stoken.
    token = "205135154223900130612145651701006217724554233566001562264150064624371666671641317"
    securid = [YKIT, "--virtual", state, "securid"]
    run(YKIT, "virtual", "new", state)
    status, _, errors = run(*securid, "import", "-", "--store", store, "--allow-expired", text=token)
    expect("a SecurID token is imported", (status, errors if status else ""), (0, ""))
    with x_server() as display:
        def show():
            return run("xclip", "-selection", "clipboard", "-o", DISPLAY=display)[1]
        status, output, errors = run(*securid, "code", "-c", "--store", store, DISPLAY=display)
        seen, waiting = show(), clearers(display)
        expect("a tokencode goes on the clipboard", (status, len(seen), seen.isdigit()), (0, 6, True))
        expect("and not on the terminal", (output, seen in errors), ("", False))
        expect("what clears it does not show the code", (len(waiting), seen in " ".join(waiting)), (1, False))
        expect("the tokencode is gone when it has expired", within(120, lambda: show() == "" and not clearers(display)))


def locked_key(name):
    key = Key(name)
    key.add("Acme:alice")
    expect(f"{name} gets a password", key.oath("access", "change", YKIT_OATH_NEW_PASSWORD=PASSWORD)[0], 0)
    return key


def service_has(key):
    """What the Secret Service stores for a key."""
    return run("secret-tool", "lookup", "application", "ykit", "device", key.device())[1]


def check_secret_service():
    one, other = locked_key("service-1"), locked_key("service-2")
    def ready():
        return run("secret-tool", "store", "--label=probe", "probe", "1", text="x")[0] == 0
    with open(f"{FOLDER}/keyring.log", "ab") as log, started(
            "gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets", text=b"login", stdout=log,
            stderr=log):
        expect("the Secret Service is there", within(60, ready))
        expect("nothing is remembered at first", (one.oath("list")[0], service_has(one)), (8, ""))
        expect("a wrong password is not remembered", (one.oath(
            "access", "remember", "--password-stdin", text="wrong\n")[0], service_has(one)), (8, ""))
        for key in (one, other):
            status, output, _ = key.oath("access", "remember", "--password-stdin", text=PASSWORD + "\n")
            expect("a password is remembered", (status, "the Secret Service" in output), (0, True))
            expect("what is remembered is its access key, not it", service_has(key), key.access_key(PASSWORD).hex())
            expect("no password is asked for then", key.oath("list"), (0, "Acme:alice", ""))
        expect("no file was written", os.path.exists(f"{FOLDER}/state/ykit"), False)
        expect("one is forgotten", one.oath("access", "forget")[0], 0)
        expect("and that one only", [(key.oath("list")[0], service_has(key) != "") for key in (one, other)],
               [(8, False), (0, True)])
        expect("another password is set and remembered", other.oath(
            "access", "change", "-r", YKIT_OATH_NEW_PASSWORD="another")[0], 0)
        expect("it is used", (other.oath("list")[0], service_has(other)), (0, other.access_key("another").hex()))
        other.oath("access", "change", YKIT_KEYRING="file", YKIT_OATH_PASSWORD="another", YKIT_OATH_NEW_PASSWORD="third")
        status, _, errors = other.oath("list")
        expect("one that is no longer correct is told of", (status, "no longer correct" in errors), (8, True))
        expect("all are forgotten", (other.oath("access", "forget", "--all")[0], service_has(other)), (0, ""))
    shutil.rmtree(f"{FOLDER}/state", ignore_errors=True)


def check_no_secret_service():
    key = locked_key("no-service")
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={FOLDER}/no-bus"}
    status, _, errors = key.oath("access", "remember", "--password-stdin", text=PASSWORD + "\n", **nowhere)
    expect("a session without a Secret Service is told of", (status, "YKIT_KEYRING=file" in errors), (1, True))
    expect("and holds nothing up", key.oath("list", **nowhere)[0], 8)


def check_file():
    for name, settings in [("when told so", {"YKIT_KEYRING": "file"}),
                           ("without a session", {"DBUS_SESSION_BUS_ADDRESS": None})]:
        key = locked_key(name.replace(" ", "-"))
        status, output, _ = key.oath("access", "remember", "--password-stdin", text=PASSWORD + "\n", **settings)
        expect(f"a file keeps the password {name}", (status, f"{FOLDER}/state/ykit/" in output), (0, True))
        expect("no password is asked for then", key.oath("list", **settings), (0, "Acme:alice", ""))
        folder = f"{FOLDER}/state/ykit"
        paths = [f"{folder}/{file}" for file in sorted(os.listdir(folder))]
        expect("the files are private", [oct(os.stat(path).st_mode & 0o777) for path in [folder, *paths]],
               ["0o700"] + ["0o600"] * 2)
        raw = key.access_key(PASSWORD)
        forms = [PASSWORD.encode(), raw, raw.hex().encode(), base64.b64encode(raw).rstrip(b"="),
                 base64.urlsafe_b64encode(raw).rstrip(b"=")]
        written = b"".join(pathlib.Path(path).read_bytes() for path in paths).replace(b"\\/", b"/")
        expect("neither the password nor its key is in them", [form for form in forms if form in written], [])
        expect("it is forgotten", (key.oath("access", "forget", **settings)[0], key.oath("list", **settings)[0]), (0, 8))
        shutil.rmtree(f"{FOLDER}/state")


def test_desktop():
    os.makedirs(f"{FOLDER}/run", mode=0o700)
    check_clipboard()
    check_securid_clipboard()
    check_secret_service()
    check_no_secret_service()
    check_file()
