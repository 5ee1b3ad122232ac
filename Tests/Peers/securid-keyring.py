# SPDX-License-Identifier: Apache-2.0
"""The token store sealed by a real Secret Service (gnome-keyring), on a separate session bus.

YKIT is the ykit to test.
"""

import json
import os
import pathlib
import subprocess
import time

from lib import securid_tool as tool
from lib.peer import ROOT, expect, in_own_session
from lib.securid_tool import WORK, raw

in_own_session()

VECTOR = json.loads(pathlib.Path(f"{ROOT}/Tests/YKSecurIDTests/vectors/securid.json").read_text())["vectors"][0]
CODE = VECTOR["codes"][0]


def securid(*words, **environment):
    """The JSON answer without any security key, and the exit status."""
    done = raw("--json", "securid", *words, "--store", f"{WORK}/store.json", environment=environment)
    return json.loads(done.stdout), done.returncode


def items():
    done = subprocess.run(["secret-tool", "search", "--all", "application", "ykit-store"], capture_output=True, text=True)
    return [line.split(" = ", 1)[1] for line in done.stdout.splitlines() if line.startswith("secret = ")]


def test_keyring():
    token = tool.written("plain.token", VECTOR["input"])
    service = subprocess.Popen(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    service.stdin.write(b"login")
    service.stdin.close()
    probe = ["secret-tool", "store", "--label=probe", "probe", "1"]
    for _ in range(100):
        if subprocess.run(probe, input=b"x", capture_output=True).returncode == 0:
            break
        time.sleep(0.2)
    answer, status = securid("import", token, "--keyring")
    expect("the keyring is used with --software only", status, 2)
    answer, status = securid("import", token, "--software", "--keyring", "--slot", "9d")
    expect("and not with a slot", status, 2)
    answer, status = securid("import", token, "--software", "--keyring")
    expect("a token is sealed by the keyring", (status, answer["error"]), (0, None))
    expect("which is said", any(warning["code"] == "keyring-only" for warning in answer["warnings"]))
    secrets = items()
    text = pathlib.Path(f"{WORK}/store.json").read_text()
    expect("the keyring has one secret, the file has not", (len(secrets), secrets[0] in text, VECTOR["expect"]["seed_hex"] in text),
           (1, False, False))
    answer, status = securid("code", "--software", "--time", str(CODE["time"]))
    expect("it opens by itself", (status, answer.get("code")), (0, CODE["tokencode"]))
    answer, status = securid("store", "info")
    expect("it is named so", (answer["keys"][0]["kind"], answer["keys"][0]["software"]), ("secret-service", True))
    done = raw("--virtual", f"{WORK}/key.json", "--json", "securid", "code", "--store", f"{WORK}/store.json")
    expect("a security key does not open it", (done.returncode, json.loads(done.stdout)["error"]["code"]), (15, "software-store"))
    answer, status = securid("code", "--software", DBUS_SESSION_BUS_ADDRESS="unix:path=/nowhere")
    expect("another session does not", (status, answer["error"]["code"]), (8, "keyring"))
    answer, status = securid("store", "add-key", "--software", "--from-passphrase", YKIT_STORE_PASSPHRASE="spare")
    expect("a passphrase is added from the keyring", (status, answer.get("keyCount")), (0, 2))
    answer, status = securid("code", "--software", "--time", str(CODE["time"]), YKIT_STORE_PASSPHRASE="spare")
    expect("and opens the store", (status, answer.get("code")), (0, CODE["tokencode"]))
    answer, status = securid("code", "--software", YKIT_STORE_PASSPHRASE="other")
    expect("another does not", (status, answer["error"]["code"]), (8, "wrong-passphrase"))
    securid("store", "remove-key", "software", "--force")
    done = raw("--virtual", f"{WORK}/key.json", "--json", "securid", "store", "add-key", "--from-passphrase", "--store", f"{WORK}/store.json")
    expect("a security key is added from the keyring", (done.returncode, json.loads(done.stdout).get("keyCount")), (0, 2))
    done = raw("--virtual", f"{WORK}/key.json", "--json", "securid", "code", "--time", str(CODE["time"]), "--store", f"{WORK}/store.json")
    expect("and opens the store", json.loads(done.stdout).get("code"), CODE["tokencode"])
    copy = pathlib.Path(f"{WORK}/store.json").read_text()
    answer, status = securid("store", "remove-key", "keyring", "--force")
    expect("a removed key is gone from the keyring too", (status, items()), (0, []))
    pathlib.Path(f"{WORK}/store.json").write_text(copy)
    answer, status = securid("code", "--software")
    expect("so that a copy does not open", (status, answer["error"]["code"]), (8, "keyring"))
    os.unlink(f"{WORK}/store.json")
    securid("import", token, "--software", "--keyring")
    copy = pathlib.Path(f"{WORK}/store.json").read_text()
    answer, status = securid("reset", "--force")
    expect("reset deletes the secret", (status, answer["copiesReadable"], items()), (0, False, []))
    pathlib.Path(f"{WORK}/store.json").write_text(copy)
    answer, status = securid("code", "--software")
    expect("old copies do not open", (status, answer["error"]["code"]), (8, "keyring"))
    service.terminate()
    service.wait()
