# SPDX-License-Identifier: Apache-2.0
"""A PIN belongs to one application of one key: what verbs with two PINs or two keys send where, with a running privacyIDEA.

YKIT is the ykit to test.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "privacyidea"))

from server import WORK, Server, code, raw, ykit

from lib.peer import expect

PIV, FIDO = "123456", "654321"
server = Server("--tls")


def answer(key, *words):
    return json.loads(raw("--virtual", f"{WORK}/{key}", "--json", *words).stdout)


def tries(key):
    """The tries left of the PIV PIN and of the FIDO2 PIN."""
    fido = answer(key, "fido2", "pin", "retries").get("pinRetries")
    return answer(key, "piv", "info")["pin"]["retries"], fido


def test_one_variable():
    """YKIT_PIN is the PIV PIN of an account that requires FIDO2 user verification as well: it never goes to FIDO2."""
    text = server.admin("POST", "/token/init", type="push", user="alice", realm="test", genkey=1, pin="2222")["detail"]["pushurl"]["value"]
    raw("virtual", "new", f"{WORK}/one.json")
    raw("--virtual", f"{WORK}/one.json", "fido2", "pin", "set", env={"YKIT_NEW_PIN": FIDO})
    store = ("--store", f"{WORK}/one-accounts.json")
    words = ("approve", "enroll", text, "--force", "--ca", server.ca, "--touch", "never", "--require", "uv", *store)
    made, status = ykit(*words, key="one.json", env={"YKIT_PIN": PIV})
    expect("to enrol, the FIDO2 PIN is asked for, not guessed", (status, code(made), tries("one.json")), (17, "no-terminal", (3, 8)))
    made, status = ykit(*words, key="one.json", env={"YKIT_PIN": PIV, "YKIT_FIDO_PIN": FIDO})
    expect("with a variable for each", (status, made.get("require")), (0, "uv"))
    asked = server.call("POST", "/validate/check", user="alice", **{"pass": "2222"})
    def state():
        return server.call("GET", "/validate/polltransaction", transaction_id=asked["detail"]["transaction_id"])["detail"]["challenge_status"]
    request = ykit("approve", "list", *store, key="one.json", env={"YKIT_PIN": PIV})[0]["requests"][0]["id"]
    for _ in range(2):
        refused, status = ykit("approve", "yes", request, *store, key="one.json", env={"YKIT_PIN": PIV})
        expect("YKIT_PIN is not for FIDO2", (status, code(refused), tries("one.json"), state()), (17, "no-terminal", (3, 8), "pending"))
    refused, status = ykit("approve", "yes", request, *store, key="one.json", env={"YKIT_FIDO_PIN": FIDO})
    expect("YKIT_FIDO_PIN is not for PIV", (status, code(refused), tries("one.json")), (17, "no-terminal", (3, 8)))
    refused, status = ykit("approve", "yes", request, *store, key="one.json", env={"YKIT_PIN": PIV, "YKIT_FIDO_PIN": "999999"})
    expect("an error names the application", (status, refused["error"]["message"], tries("one.json")),
           (8, "wrong FIDO2 PIN, 7 tries are left", (3, 7)))
    approved, status = ykit("approve", "yes", request, *store, key="one.json", env={"YKIT_PIV_PIN": PIV, "YKIT_FIDO_PIN": FIDO})
    expect("a variable for each approves", (status, approved.get("accepted"), state()), (0, True, "accept"))
    approved, status = ykit("approve", "list", *store, key="one.json", env={"YKIT_PIN": "999999", "YKIT_PIV_PIN": PIV})
    expect("the variable of the application counts", (status, tries("one.json")), (0, (3, 8)))


def test_two_keys():
    """'migrate run --to OTHER': none of the present key's secrets is sent to the other."""
    serial = server.admin("POST", "/container/init", type="smartphone", user="alice", realm="test").value["container_serial"]
    token = server.admin("POST", "/token/init", user="alice", realm="test", genkey=1, type="totp")["detail"]["serial"]
    server.admin("POST", f"/container/{serial}/add", serial=token)
    url = server.admin("POST", "/container/register/initialize", container_serial=serial).value["container_url"]["value"]
    store, old, new = ("--store", f"{WORK}/moved.json"), {"key": "old.json"}, f"{WORK}/new.json"
    expect("registered", ykit("approve", "open", url, "--ca", server.ca, "--force", *store, env={"YKIT_PIN": PIV}, **old)[1], 0)
    expect("synchronized", ykit("approve", "sync", *store, env={"YKIT_PIN": PIV}, **old)[1], 0)
    raw("virtual", "new", new)
    state = json.loads(pathlib.Path(new).read_text())
    state["device"]["serial"] = 30000002
    pathlib.Path(new).write_text(json.dumps(state))
    raw("--virtual", new, "piv", "access", "change-pin", env={"YKIT_PIN": PIV, "YKIT_NEW_PIN": "99998888"})
    raw("--virtual", new, "fido2", "pin", "set", env={"YKIT_NEW_PIN": FIDO})
    move = ("approve", "migrate", "run", "--to", new, "--force", *store)
    for env in ({"YKIT_PIN": PIV}, {"YKIT_PIV_PIN": PIV, "YKIT_FIDO_PIN": "111111"}):
        refused, status = ykit(*move, env=env, **old)
        expect("the other key's PIN is not given", (status, code(refused), tries("new.json")), (17, "no-terminal", (3, 8)))
        expect("and how it is given is said", "30000002" in (refused["error"]["hint"] or ""), True)
    refused, status = ykit(*move, env={"YKIT_PIN": PIV, "YKIT_FIDO_PIN_30000002": FIDO, "YKIT_PIV_PIN_30000002": "000000"}, **old)
    expect("an error names the key", (status, refused["error"]["message"], tries("new.json")),
           (8, "wrong PIV PIN, 2 tries are left (key 30000002)", (2, 8)))
    refused, status = ykit(
        *move, env={"YKIT_PIN": PIV, "YKIT_MANAGEMENT_KEY": "01" * 24}, secrets=[("--to-pin-fd", "99998888"), ("--to-fido-pin-fd", FIDO)], **old
    )
    expect("nor is its management key that of the present one", status, 0)
    expect("all tries are left", tries("new.json"), (3, 8))
    moved, status = ykit("approve", "sync", *store, key="new.json", env={"YKIT_PIN": "99998888", "YKIT_FIDO_PIN": FIDO})
    expect("the other key has the container", status, 0)
