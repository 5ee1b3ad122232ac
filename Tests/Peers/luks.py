# SPDX-License-Identifier: Apache-2.0
"""Volumes in files, which cryptsetup formats and opens: two virtual keys with FIDO2, RSA, P-256 and P-384 in PIV slots; what
openssl computes for their tokens; detached headers. (systemd's programs are in guests: Tests/Guest/luks.test, luks-piv.test.)

YKIT is the ykit to test.
"""

import base64
import json
import os
import subprocess
import sys

from lib.peer import YKIT, expect, skip
from lib.piv_bench import DEFAULT_KEY, path, read, run, works, write

PIN = "123456"
QUICK = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")
CRYPTSETUP = "/usr/sbin/cryptsetup"


def cryptsetup(*words, key=None):
    done = subprocess.run([CRYPTSETUP, "--batch-mode", *words], input=key, capture_output=True)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def metadata():
    return json.loads(cryptsetup("luksDump", "--dump-json-metadata", path("volume"))[1])


def opens(passphrase, slot=None):
    place = ("--key-slot", str(slot)) if slot is not None else ()
    return cryptsetup("open", "--test-passphrase", "--key-file", "-", *place, path("volume"), key=passphrase)[0] == 0


def luks(key, *words):
    done = subprocess.run([YKIT, "--virtual", path(key), "--json", "luks", words[0], path("volume"), *words[1:]], capture_output=True)
    answer = json.loads(done.stdout)
    return done.returncode, answer["error"], answer


def passphrase(key, *words):
    done = subprocess.run([YKIT, "--virtual", path(key), "luks", "key", path("volume"), *words], capture_output=True)
    return done.stdout if done.returncode == 0 else None


def fresh():
    with open(path("volume"), "wb") as file:
        file.truncate(32 << 20)
    expect("cryptsetup formats a volume",
           cryptsetup("luksFormat", "--type", "luks2", *QUICK, "--key-file", "-", path("volume"), key=b"rescue")[0], 0)


def fido():
    fresh()
    status, said, answer = luks("one.json", "add")
    expect("a FIDO2 key is enrolled", status == 0 or said)
    expect("in the next slot", (answer["keyslot"], answer["token"], answer["kind"]), (1, 0, "fido2"))
    token = metadata()["tokens"]["0"]
    expect("the token is systemd's", [token[name] for name in ("type", "keyslots", "fido2-rp", "fido2-clientPin-required",
                                                              "fido2-up-required", "fido2-uv-required")],
           ["systemd-fido2", ["1"], "io.systemd.cryptsetup", True, True, False])
    expect("and names the key", token["ykit-serial"], SERIALS["one.json"])
    expect("the slot is as quick as systemd's", metadata()["keyslots"]["1"]["kdf"]["iterations"], 1000)
    key = passphrase("one.json")
    expect("the passphrase is base64 of 32 bytes, without a line end", len(base64.b64decode(key, validate=True)), 32)
    expect("cryptsetup opens with it", opens(key, 1))
    expect("without the PIN the key derives another one", passphrase("one.json", "--uv", "discouraged") not in (None, key))
    expect("another key derives nothing", passphrase("two.json"), None)
    status, said, answer = luks("two.json", "add", "--unlock-with", path("one.json"), "--uv", "discouraged")
    expect("a second key, unlocked with the first", status == 0 or said)
    expect("opens its slot", opens(passphrase("two.json"), 2))
    listing = luks("two.json", "list")[2]
    expect("the list has both", [slot["serial"] for slot in listing["keyslots"]], [None, SERIALS["one.json"], SERIALS["two.json"]])
    expect("and knows which one is here", [(slot["attachedKey"] or {}).get("serial") for slot in listing["keyslots"]],
           [None, None, SERIALS["two.json"]])
    whole = read("volume")[:16 << 20]
    status, said, answer = luks("two.json", "replace", "--keyslot", "1", "--force", "--backup", path("saved"), "--uv", "discouraged")
    expect("a key is replaced", status == 0 or said)
    expect("by a new slot", (answer["keyslot"], answer["removedKeyslot"], sorted(metadata()["keyslots"])), (3, 1, ["0", "2", "3"]))
    expect("the old passphrase opens nothing", opens(key), False)
    expect("the backup is the header as it was", (read("saved") == whole, os.stat(path("saved")).st_mode & 0o777),
           (True, 0o600))
    expect("cryptsetup restores it", cryptsetup("luksHeaderRestore", "--header-backup-file", path("saved"), path("volume"))[0], 0)
    expect("and the old passphrase opens", opens(key, 1))
    warnings = luks("two.json", "list")[2]["warnings"]
    expect("one token for each key", warnings, [])
    luks("two.json", "add", "--force", "--uv", "discouraged")
    expect("the same key twice", [w["code"] for w in luks("two.json", "list")[2]["warnings"]], ["same-key"])
    os.environ["YKIT_VOLUME_PASSPHRASE"] = "wrong"
    expect("a wrong passphrase", luks("two.json", "remove", "--keyslot", "1", "--force", "--backup", path("other"))[0], 8)
    expect("leaves no backup", os.path.exists(path("other")), False)
    os.environ["YKIT_VOLUME_PASSPHRASE"] = "rescue"
    write("keyfile", b"a\nb")
    cryptsetup("luksAddKey", "--key-file", "-", *QUICK, path("volume"), path("keyfile"), key=b"rescue")
    status, said, _ = luks("two.json", "remove", "--keyslot", "0", "--force", "--backup", path("third"), "--volume-passphrase-file",
                           path("keyfile"))
    expect("a key file unlocks, all its bytes", status == 0 or said)
    expect("the slot is gone", opens(b"rescue"), False)


def without_pin():
    """A token that requires the PIN although the key was enrolled without it, as systemd 255 writes it (its issue 31443)."""
    fresh()
    luks("one.json", "add", "--uv", "discouraged")
    token = {**metadata()["tokens"]["0"], "fido2-clientPin-required": True}
    write("token.json", json.dumps(token).encode())
    cryptsetup("token", "remove", "--token-id", "0", path("volume"))
    expect("a token of systemd 255",
           cryptsetup("token", "import", "--token-id", "0", "--json-file", path("token.json"), path("volume"))[0], 0)
    status, said, _ = luks("two.json", "add", "--unlock-with", path("one.json"), "--uv", "discouraged")
    expect("what the key derives with the PIN opens nothing, and what does is told",
           (status, said["code"], "luks key --uv discouraged" in said["hint"]), (8, "wrong-passphrase", True))
    expect("it opens", opens(passphrase("one.json", "--uv", "discouraged"), 1))


def piv(algorithm, slot, identifier):
    fresh()
    key = f"{algorithm}.json"
    run(YKIT, "virtual", "new", path(key))
    works("a key in a slot", YKIT, "--virtual", path(key), "piv", "keys", "generate", slot, path(f"{algorithm}.pem"), "--algorithm",
          algorithm)
    status, said, answer = luks(key, "add", "--piv", slot)
    expect(f"{algorithm}: a key in a slot is enrolled", status == 0 or said)
    token = metadata()["tokens"]["0"]
    expect(f"{algorithm}: its URI is that of Yubico's module", token["pkcs11-uri"].endswith(f";id=%{identifier};type=private")
           or token["pkcs11-uri"])
    derived = passphrase(key)
    expect(f"{algorithm}: cryptsetup opens with what it derives", derived is not None and opens(derived, 1))
    data = base64.b64decode(token["pkcs11-key"])
    size = {"eccp256": 65, "eccp384": 97}.get(algorithm)
    expect(f"{algorithm}: the token's key", (len(data), data[:1]), (size, b"\4") if size else (256, data[:1]))
    write("message", data)
    if size:
        header = {65: "3059301306072a8648ce3d020106082a8648ce3d030107034200", 97: "3076301006072a8648ce3d020106052b81040022036200"}
        write("peer.der", bytes.fromhex(header[size]) + data)
        derive = [YKIT, "--virtual", path(key), "piv", "derive", "--slot", slot, path("peer.der")]
    else:
        derive = [YKIT, "--virtual", path(key), "piv", "decrypt", "--slot", slot, path("message")]
    secret = subprocess.run(derive, capture_output=True).stdout
    expect(f"{algorithm}: the passphrase is base64 of the secret, as systemd has it", base64.b64encode(secret), derived)
    found = luks(key, "list")[2]["keyslots"][1]
    expect(f"{algorithm}: the list", (found["kind"], found["attachedKey"]["serial"]), ("pkcs11", found["serial"]))


def detached():
    """A volume of nothing but encrypted data, whose header is in a file."""
    with open(path("data"), "wb") as file:
        file.truncate(1 << 20)
    data, header = path("data"), path("header")
    expect("cryptsetup detaches a header",
           cryptsetup("luksFormat", "--type", "luks2", *QUICK, "--key-file", "-", "--header", header, data, key=b"rescue")[0], 0)
    whole = read("data")

    def on_data(key, verb, *words):
        done = subprocess.run([YKIT, "--virtual", path(key), "--json", "luks", verb, data, "--header", header, *words],
                              capture_output=True)
        answer = json.loads(done.stdout)
        return (done.returncode, answer["error"]), answer

    done, answer = on_data("one.json", "add", "--uv", "discouraged")
    expect("a key is enrolled in a detached header", done, (0, None))
    expect("the list reads it", [slot["kind"] for slot in on_data("one.json", "list")[1]["keyslots"]], ["passphrase", "fido2"])
    derived = subprocess.run([YKIT, "--virtual", path("one.json"), "luks", "key", data, "--header", header], capture_output=True).stdout
    expect("cryptsetup opens the volume with what the key derives",
           cryptsetup("open", "--test-passphrase", "--key-file", "-", "--key-slot", "1", "--header", header, data, key=derived)[0], 0)
    os.environ["YKIT_VOLUME_PASSPHRASE"] = derived.decode()
    saved = read("header")
    done, answer = on_data("one.json", "remove", "--keyslot", "0", "--force", "--backup", path("saved-header"))
    os.environ["YKIT_VOLUME_PASSPHRASE"] = "rescue"
    expect("a slot is removed", (done, answer["removedKeyslot"]), ((0, None), 0))
    expect("after a backup of the header", read("saved-header"), saved)
    expect("the passphrase opens nothing more",
           cryptsetup("open", "--test-passphrase", "--key-file", "-", "--header", header, data, key=b"rescue")[0], 2)
    expect("the data are as they were", read("data") == whole)


#: A cryptsetup that interrupts ykit at one of its calls and takes its time, or fails although it has done its work.
WRAPPER = """#!{python}
import os, signal, subprocess, sys, time
with open("{plan}") as file:
    mode, at, number = file.read().split()
number = int(number) + 1
with open("{plan}", "w") as file:
    file.write(f"{{mode}} {{at}} {{number}}")
command = ["{real}", *sys.argv[1:]]
if mode == "int" and number == int(at):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(3)
if mode == "fail" and number == int(at):
    subprocess.run(command, pass_fds=[3] if any("fd/3" in word for word in command) else [])
    sys.exit(1)
os.execv(command[0], command)
"""


def interrupted():
    """^C while cryptsetup works, and a cryptsetup that reports a failure after its work: no slot stays without its token,
    and nothing changes after ykit has ended."""
    folder, plan = path("slow"), path("plan")
    os.mkdir(folder)
    write("slow/cryptsetup", WRAPPER.format(python=sys.executable, plan=plan, real=CRYPTSETUP).encode())
    os.chmod(os.path.join(folder, "cryptsetup"), 0o755)
    usual = os.environ["PATH"]
    fresh()
    status, said, _ = luks("one.json", "add")
    expect("a first key", status == 0 or said)
    saved = read("volume")
    os.environ["PATH"] = folder + ":" + usual
    words = {"add": [], "replace": ["--keyslot", "1", "--force"], "remove": ["--keyslot", "1", "--force"]}
    for verb, calls in (("add", 4), ("replace", 7), ("remove", 4)):
        for mode in ("int", "fail"):
            for at in range(1, calls + 1):
                write("volume", saved)
                write("plan", f"{mode} {at} 0".encode())
                if os.path.exists(path("backup")):
                    os.remove(path("backup"))
                options = words[verb] + (["--backup", path("backup")] if words[verb] else [])
                done = subprocess.run([YKIT, "--virtual", path("two.json"), "luks", verb, path("volume"), *options],
                                      capture_output=True)
                now = metadata()
                slots = set(now["keyslots"]) - {"0"}
                named = {slot for token in now["tokens"].values() for slot in token["keyslots"]}
                name = f"{verb}, {mode} at call {at}"
                expect(f"{name}: each slot has its token", slots <= named or (done, now["keyslots"].keys(), now["tokens"]))
                expect(f"{name}: the passphrase opens the volume", opens(b"rescue"))
                running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
                expect(f"{name}: cryptsetup has ended", not any(
                    "cryptsetup" in line and path("volume") in line for line in running.splitlines()))
                if done.returncode == 0:
                    expect(f"{name}: done is done", (len(slots), len(now["tokens"])),
                           {"add": (2, 2), "replace": (1, 1), "remove": (0, 0)}[verb])
    os.environ["PATH"] = usual


SERIALS = {}


def test_luks():
    if not os.path.exists(CRYPTSETUP):
        skip("volumes", "needs cryptsetup-bin")
        return
    os.environ.update(YKIT_PIN=PIN, YKIT_MANAGEMENT_KEY=DEFAULT_KEY, YKIT_VOLUME_PASSPHRASE="rescue")
    for name in ("one.json", "two.json"):
        SERIALS[name] = json.loads(run(YKIT, "--json", "virtual", "new", path(name))[1].splitlines()[0])["serial"]
        works("a PIN", YKIT, "--virtual", path(name), "fido2", "pin", "set", "--new-pin-stdin", text=PIN + "\n")
        os.environ[f"YKIT_FIDO_PIN_{SERIALS[name]}"] = PIN
    fido()
    without_pin()
    piv("rsa2048", "9d", "03")
    piv("eccp256", "9a", "01")
    piv("eccp384", "9c", "02")
    detached()
    interrupted()
