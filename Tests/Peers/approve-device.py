# SPDX-License-Identifier: Apache-2.0
"""Two keys behind one real pcscd, and an account of one of them that requires FIDO2 user verification: the key that was
chosen stays chosen, for PIV, for the proof, and for PIV again. A running privacyIDEA tells what it got.

YKIT is the ykit to test.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "privacyidea"))

from lib.peer import YKIT, beside_pcscd, expect, pipe, reader_port, within

READERS = ["Yubico YubiKey OTP+FIDO+CCID", "Yubico YubiKey CCID"]
beside_pcscd("--readers", "2", *(word for name in READERS for word in ("--name", name)))
from server import WORK, Server, environment  # noqa: E402

SERIALS = ["30000001", "30000002"]
STORE = ("--store", f"{WORK}/accounts.json")
server = Server("--tls")
processes = []


def ykit(*words, fido=False, env=None):
    descriptors = [pipe("654321")] if fido else []
    if fido:
        words += ("--fido-pin-fd", str(descriptors[0]))
    try:
        return subprocess.run([YKIT, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, pass_fds=descriptors,
                              env=environment({"YKIT_PIN": "123456", **(env or {})}), timeout=120, start_new_session=True)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def new_key(place):
    path = f"{WORK}/key-{place}.json"
    ykit("virtual", "new", path)
    state = json.loads(pathlib.Path(path).read_text())
    state["device"]["serial"] = int(SERIALS[place])
    pathlib.Path(path).write_text(json.dumps(state))
    ykit(f"--virtual={path}", "fido2", "pin", "set", env={"YKIT_NEW_PIN": "654321"})
    return path


def approve(choice, env):
    """Logs in, and approves with a choice of the key; returns the exit status and what the server says."""
    asked = server.call("POST", "/validate/check", user="alice", **{"pass": "2222"})["detail"]["transaction_id"]
    listed = json.loads(ykit(*choice, "--json", "approve", "list", *STORE, env=env).stdout)
    done = ykit("--link", "pcsc", *choice, "approve", "yes", listed["requests"][-1]["id"], *STORE, fido=True, env=env)
    return (
        done.returncode,
        server.call("GET", "/validate/polltransaction", transaction_id=asked)["detail"]["challenge_status"],
        done.stderr if done.returncode else "",
    )


def test_chosen_key():
    keys = [new_key(place) for place in range(2)]
    link = server.admin("POST", "/token/init", type="push", user="alice", realm="test", genkey=1, pin="2222")["detail"]["pushurl"]["value"]
    made = ykit(f"--virtual={keys[0]}", "approve", "enroll", link, "--force", "--ca", server.ca, "--touch", "never", "--require", "uv", *STORE, fido=True)
    expect("enrolled", (made.returncode, made.stderr if made.returncode else ""), (0, ""))
    try:
        for place, key in enumerate(keys):
            processes.append(subprocess.Popen([YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{reader_port(place)}", "--state", key],
                                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        within(30, lambda: ykit("list", "--serials").stdout.split() == SERIALS)
        for words, choice, env in (("no choice: the account's key", (), {}), ("--device", ("--device", SERIALS[0]), {}),
                                   ("YKIT_DEVICE", (), {"YKIT_DEVICE": SERIALS[0]}), ("--reader", ("--reader", "OTP+FIDO"), {})):
            expect(words, approve(choice, env), (0, "accept", ""))
        other = ykit("--link", "pcsc", "--device", SERIALS[1], "approve", "list", *STORE)
        expect("another key has no such account", (other.returncode, SERIALS[0] in other.stderr), (3, True))
    finally:
        for process in processes:
            process.terminate()
