# SPDX-License-Identifier: Apache-2.0
"""ykman and ykit with one virtual key, each through a real pcscd: each reads what the other wrote, and codes agree.

YKIT is the ykit to test. YKIT_TEST_SERVE replaces `YKIT virtual serve`, to test a different server.
"""

import base64
import hashlib
import hmac
import json
import os
import shlex
import struct
import subprocess
import time

from lib.peer import YKIT, beside_pcscd, expect, own_folder, reader_port

beside_pcscd()
FOLDER = own_folder()
STATE = f"{FOLDER}/key.json"

SECRET = b"12345678901234567890"
BASE32 = base64.b32encode(SECRET).decode()
RFC_4226 = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
RFC_6238 = [
    (59, "94287082", "46119246", "90693936"), (1111111109, "07081804", "68084774", "25091201"),
    (1111111111, "14050471", "67062674", "99943326"), (1234567890, "89005924", "91819424", "93441116"),
    (2000000000, "69279037", "90698825", "38618901"), (20000000000, "65353130", "77737706", "47863826"),
]


YKIT_SERVE = shlex.split(os.environ.get("YKIT_TEST_SERVE", "")) or [YKIT, "virtual", "serve"]


def run(command, text=None, **settings):
    home = {"HOME": FOLDER, "XDG_STATE_HOME": f"{FOLDER}/state", "XDG_DATA_HOME": f"{FOLDER}/data"}
    environment = dict(os.environ, **home, **settings)
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, env=environment)


def ykman(*arguments):
    done = run(["ykman", *arguments])
    return done.stdout.strip() if done.returncode == 0 else f"status {done.returncode}: {done.stderr.strip()}"


def ykit(*arguments, text="", **settings):
    done = run([YKIT, *arguments], text, **settings)
    return done.stdout.strip() if done.returncode == 0 else f"status {done.returncode}: {done.stderr.strip()}"


def ykman_names(*arguments):
    """The names that ykman lists, without the period before some of them."""
    return {name.split("/")[-1] for name in ykman("oath", "accounts", "list", *arguments).splitlines()}


def ykit_accounts(*arguments, **settings):
    """By name: the JSON of ykit for each account."""
    answer = run([YKIT, "oath", *arguments, "--json"], "", **settings).stdout
    return {account["id"]: account for account in json.loads(answer).get("accounts", [])}


def hotp(secret, counter, digits=6, digest="sha1"):
    mac = hmac.new(secret, struct.pack(">Q", counter), digest).digest()
    number = struct.unpack(">I", mac[mac[-1] & 15:][:4])[0] & 0x7FFFFFFF
    return str(number % 10 ** digits).zfill(digits)


def steam(secret, counter):
    mac = hmac.new(secret, struct.pack(">Q", counter), "sha1").digest()
    number = struct.unpack(">I", mac[mac[-1] & 15:][:4])[0] & 0x7FFFFFFF
    return "".join("23456789BCDFGHJKMNPQRTVWXY"[number // 26 ** place % 26] for place in range(5))


def at_one_time(period, ask):
    """The result of `ask` and the time step, if no step ended meanwhile."""
    while True:
        step = int(time.time()) // period
        answer = ask()
        if int(time.time()) // period == step:
            return step, answer


class Key:
    """A virtual key in the reader during a block."""

    def __init__(self, state, *options):
        self.state, self.options = state, options

    def __enter__(self):
        port = reader_port()
        place = ["--vpcd", f"127.0.0.1:{port}", "--state", self.state]
        with open(f"{FOLDER}/serve.log", "ab") as log:
            self.process = subprocess.Popen(YKIT_SERVE + place + list(self.options), stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        wait_for_card(True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        wait_for_card(False)


def wait_for_card(is_there):
    from smartcard import scard
    result, context = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        _, readers = scard.SCardListReaders(context, [])
        states = [(reader, scard.SCARD_STATE_UNAWARE) for reader in readers]
        _, states = scard.SCardGetStatusChange(context, 0, states)
        if any(bool(state & scard.SCARD_STATE_PRESENT) == is_there for _, state, _ in states):
            return
        time.sleep(0.01)
    raise SystemExit("FAIL the virtual key and its reader do not find each other")


def check_device():
    expect("ykman lists the key", "YubiKey 5 NFC (5.7.1)" in ykman("list"))
    information = ykman("info")
    expect("ykman reads device information", "Firmware version: 5.7.1" in information and "OATH" in information)
    expect("ykit lists the key with the serial number that ykman gives",
           ykman("list", "--serials") in ykit("list"))
    expect("ykman reads the OATH application", "OATH version:        5.7.1" in ykman("oath", "info"))


ADDED = {
    "Plain:alice": (["-i", "Plain"], "alice", ["TOTP", "SHA1", 6, 30]),
    "Long:bob": (["-i", "Long", "-d", "8", "-P", "60", "-a", "sha256"], "bob", ["TOTP", "SHA256", 8, 60]),
    "Wide:carol": (["-i", "Wide", "-d", "7", "-a", "sha512"], "carol", ["TOTP", "SHA512", 7, 30]),
    "Count:dave": (["-i", "Count", "-o", "hotp", "-c", "5"], "dave", ["HOTP", "SHA1", 6, None]),
    "Touch:erin": (["-i", "Touch", "-t"], "erin", ["TOTP", "SHA1", 6, 30]),
    "Steam:frank": (["-i", "Steam"], "frank", ["TOTP", "SHA1", 6, 30]),
}


def check_ykman_writes():
    for name, (options, account, _) in ADDED.items():
        added = ykman("oath", "accounts", "add", "-f", *options, account, BASE32)
        expect(f"ykman adds {name}", added, "OATH account added.")
    expect("ykman lists what it added", ykman_names(), set(ADDED))
    ours = ykit_accounts("list")
    expect("ykit lists what ykman added", sorted(ours), sorted(ADDED))
    for name, (_, _, (kind, algorithm, _, period)) in ADDED.items():
        one = ours.get(name, {})
        expect(f"ykit knows kind, algorithm and period of {name}",
               (one.get("type", "").upper(), one.get("algorithm"), one.get("period")), (kind, algorithm, period))


def check_same_codes():
    for name, (_, _, (kind, algorithm, digits, period)) in ADDED.items():
        if kind == "HOTP":
            continue
        def both():
            return (ykman("oath", "accounts", "code", "-s", name), ykit("oath", "calculate", "-s", name))
        step, (theirs, ours) = at_one_time(period, both)
        right = steam(SECRET, step) if name.startswith("Steam") else hotp(SECRET, step, digits, algorithm.lower())
        expect(f"ykman and ykit give the right code of {name}", (theirs, ours), (right, right))
    codes = [ykman("oath", "accounts", "code", "-s", "Count:dave"), ykit("oath", "calculate", "-s", "Count:dave"),
             ykman("oath", "accounts", "code", "-s", "Count:dave")]
    expect("ykman and ykit share the counter", codes, RFC_4226[5:8])
    # 30 divides all periods: if no such step ended, none did.
    step, all_codes = at_one_time(30, lambda: (ykman("oath", "accounts", "code"), ykit_accounts("calculate")))
    theirs = {name: line.split()[-1] for line in all_codes[0].splitlines() for name in ADDED if name in line}
    ours = {name: one.get("code") for name, one in all_codes[1].items() if one.get("code")}
    marked = {"Touch:erin", "Count:dave"}
    expect("ykman and ykit give the same codes of all", ours, {k: v for k, v in theirs.items() if k not in marked})
    expect("all codes leave the counter as it is", ykman("oath", "accounts", "code", "-s", "Count:dave"), RFC_4226[8])


def check_vectors():
    """With yubikit, the library below ykman, since ykman does not accept a time."""
    from ykman.pcsc import list_devices
    from yubikit.core.smartcard import SmartCardConnection
    from yubikit.oath import HASH_ALGORITHM, OATH_TYPE, CredentialData, OathSession
    with list_devices()[0].open_connection(SmartCardConnection) as connection:
        session = OathSession(connection)
        counted = session.put_credential(CredentialData("rfc4226", OATH_TYPE.HOTP, HASH_ALGORITHM.SHA1, SECRET))
        expect("RFC 4226 appendix D", [session.calculate_code(counted).value for _ in RFC_4226], RFC_4226)
        for column, algorithm in enumerate([HASH_ALGORITHM.SHA1, HASH_ALGORITHM.SHA256, HASH_ALGORITHM.SHA512]):
            size = hashlib.new(algorithm.name).digest_size
            data = CredentialData("rfc6238", OATH_TYPE.TOTP, algorithm, (SECRET * 4)[:size], digits=8)
            timed = session.put_credential(data)
            got = [session.calculate_code(timed, row[0]).value for row in RFC_6238]
            expect(f"RFC 6238 appendix B, {algorithm.name}", got, [row[1 + column] for row in RFC_6238])
            same = [session.calculate_all(row[0])[timed].value for row in RFC_6238]
            expect(f"RFC 6238 by calculate all, {algorithm.name}", same, got)
        session.delete_credential(counted.id)
        session.delete_credential(timed.id)


def check_ykit_writes():
    secret = {"YKIT_OATH_SECRET": BASE32}
    def add(*arguments):
        return ykit("oath", "add", "-f", *arguments, **secret)[:6] != "status"
    expect("ykit adds a TOTP account", add("Ours:gina", "-d", "8"))
    expect("ykit adds an account with a period of its own", add("Ours:hugo", "-P", "45", "-a", "sha256"))
    expect("ykit adds an HOTP account", add("Ours:iris", "-o", "hotp", "-c", "3"))
    expect("ykit adds a touch account", add("Ours:jack", "-t"))
    listed = ykman("oath", "accounts", "list", "-P", "-o").splitlines()
    expect("ykman lists what ykit added", [line for line in listed if "Ours" in line], [
        "Ours:gina, TOTP, 30", "45/Ours:hugo, TOTP, 45", "Ours:iris, HOTP, 0", "Ours:jack, TOTP, 30"])
    step, code = at_one_time(30, lambda: ykman("oath", "accounts", "code", "-s", "Ours:gina"))
    expect("ykman gives the right code of ykit's account", code, hotp(SECRET, step, 8))
    step, code = at_one_time(45, lambda: ykman("oath", "accounts", "code", "-s", "Ours:hugo"))
    expect("... with a period of its own", code, hotp(SECRET, step, 6, "sha256"))
    expect("... by counter", ykman("oath", "accounts", "code", "-s", "Ours:iris"), RFC_4226[3])
    codes = ykman("oath", "accounts", "code").splitlines()
    expect("ykman sees that a touch is needed", [line.split()[1:] for line in codes if line.startswith("Ours:jack")],
           [["[Requires", "Touch]"]])


def check_rename_and_delete():
    expect("ykman renames", ykman("oath", "accounts", "rename", "-f", "Plain:alice", "New:alice")[:6] != "status")
    expect("ykit sees the new name", "New:alice" in ykit_accounts("list") and "Plain:alice" not in ykit_accounts("list"))
    expect("ykit renames", ykit("oath", "rename", "-f", "Ours:gina", "Theirs:gina")[:6] != "status")
    expect("ykman sees the new name", {"Theirs:gina", "Ours:gina"} & ykman_names(), {"Theirs:gina"})
    expect("ykman deletes", ykman("oath", "accounts", "delete", "-f", "Theirs:gina")[:6] != "status")
    expect("ykit deletes", ykit("oath", "delete", "-f", "New:alice")[:6] != "status")
    expect("both are gone", {"Theirs:gina", "New:alice"} & set(ykit_accounts("list")), set())


def check_password():
    expect("ykman sets a password", ykman("oath", "access", "change", "-n", "correct horse")[:6] != "status")
    expect("ykman sees the lock", "enabled" in ykman("oath", "info"))
    names = ykman_names("-p", "correct horse")
    expect("ykman lists with the password", "Steam:frank" in names)
    expect("ykman is refused with a wrong one", ykman("oath", "accounts", "list", "-p", "wrong")[:6], "status")
    expect("ykit is refused without the password", ykit("oath", "list")[:8], "status 8")
    expect("ykit is refused with a wrong one", ykit("oath", "list", "--password-stdin", text="wrong\n")[:8], "status 8")
    expect("ykit lists with ykman's password",
           set(ykit("oath", "list", "--password-stdin", text="correct horse\n").splitlines()), names)
    changed = ykit("oath", "access", "change", "--password-stdin", text="correct horse\n",
                   YKIT_OATH_NEW_PASSWORD="battery staple")
    expect("ykit changes the password", changed[:6] != "status")
    expect("ykman lists with ykit's password", ykman_names("-p", "battery staple"), names)
    expect("ykman removes the password", ykman("oath", "access", "change", "-p", "battery staple", "-c")[:6] != "status")
    expect("ykit needs none any more", set(ykit("oath", "list").splitlines()), names)


def check_reset():
    before = ykit("oath", "info")
    expect("ykman resets", ykman("oath", "reset", "-f")[:6] != "status")
    expect("nothing is left", (ykman("oath", "accounts", "list"), ykit_accounts("list")), ("", {}))
    expect("the device id is another one", ykit("oath", "info") != before)
    ykman("oath", "accounts", "add", "-f", "again", BASE32)
    expect("ykit resets", ykit("oath", "reset", "-f")[:6] != "status")
    expect("nothing is left for ykman", ykman("oath", "accounts", "list"), "")


def check_state_file():
    expect("the state file is private", oct(os.stat(STATE).st_mode & 0o777), "0o600")
    ykman("oath", "accounts", "add", "-f", "kept", BASE32)


def check_full_key():
    for number in range(64):
        run([YKIT, "oath", "add", "-f", f"account {number}"], "", YKIT_OATH_SECRET=BASE32)
    expect("ykman lists 64 accounts", len(ykman_names()), 64)
    expect("ykit lists 64 accounts", len(ykit_accounts("list")), 64)
    expect("ykman is told that the key is full", ykman("oath", "accounts", "add", "-f", "more", BASE32)[:6], "status")


def test_oath():
    with Key(STATE):
        check_device()
        check_ykman_writes()
        check_same_codes()
        check_vectors()
        check_ykit_writes()
        check_rename_and_delete()
        check_password()
        check_reset()
        check_state_file()
    with Key(STATE):
        expect("what was written is there the next time", ykman("oath", "accounts", "list"), "kept")
        check_full_key()
