# SPDX-License-Identifier: Apache-2.0
"""Every verb of OpenPGP, YubiHSM Auth and the Security Domain meets corrupted answers: each answer of each exchange in turn
is cut off, lengthened, emptied, changed in one bit, or replaced by a status word.

A verb then either fails with one of the documented exit codes and says so in its JSON, or its result is the correct one:
what is written to the key is what a run without faults writes, and what the key proves verifies. It never crashes.
Through a secure channel no corrupted answer is accepted at all. YKIT is the ykit to test.

Each exchange gets a third of the faults, the next exchange the next third; all of them with YKIT_TEST_ALL=1.
"""

import base64
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from lib.peer import REAL, YKIT, expect, own_folder

WORK = pathlib.Path(own_folder())
EXITS = set(range(18))
#: How many exchanges share the faults.
SHARES = 1 if os.environ.get("YKIT_TEST_ALL") == "1" else 3
CONTEXT = "67fcf1feb5f1d883ed763dbf493090bb"
SECRETS = {
    "YKIT_PIN": "123456", "YKIT_NEW_PIN": "654321", "YKIT_ADMIN_PIN": "12345678", "YKIT_NEW_ADMIN_PIN": "87654321",
    "YKIT_RESET_CODE": "11223344", "YKIT_HSMAUTH_MANAGEMENT_PASSWORD": "00" * 16, "YKIT_HSMAUTH_PASSWORD": "pw",
    "YKIT_HSMAUTH_NEW_PASSWORD": "new", "YKIT_HSMAUTH_DERIVATION_PASSWORD": "pwd",
}


def run(folder, line, fault=None):
    environment = {**os.environ, **SECRETS, "HOME": str(folder), "XDG_STATE_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    environment.pop("YKIT_FAULT", None)
    if fault:
        environment["YKIT_FAULT"] = fault
    # A run that should fail is nothing to record, and recording takes as long as the run.
    return subprocess.run(
        [REAL if fault else YKIT, "--virtual", "key.json", "--link", "pcsc", "--timeout", "5", *shlex.split(line)], capture_output=True,
        timeout=120, cwd=folder, env=environment, stdin=subprocess.DEVNULL)


def works(folder, line):
    result = run(folder, line)
    if result.returncode != 0:
        raise SystemExit(f"FAIL {line}: {result.stderr.decode()}")
    return result


def base(name, *lines):
    """A folder with a key, and files for verbs that read some."""
    folder = WORK / name
    folder.mkdir()
    environment = {**os.environ, "HOME": str(folder)}
    subprocess.run([YKIT, "virtual", "new", "key.json", "--firmware", "5.8.0"], check=True, cwd=folder, env=environment,
                   stdout=subprocess.DEVNULL)
    for file in ("private", "peer"):
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                        f"{file}.key"], check=True, cwd=folder)
        subprocess.run(["openssl", "pkey", "-in", f"{file}.key", "-pubout", "-out", f"{file}.pem"], check=True, cwd=folder)
        subprocess.run(["openssl", "req", "-x509", "-new", "-key", f"{file}.key", "-subj", f"/CN={file}", "-out",
                        f"{file}-cert.pem"], check=True, cwd=folder, stderr=subprocess.DEVNULL)
    (folder / "both.pem").write_bytes((folder / "private.key").read_bytes() + (folder / "private-cert.pem").read_bytes())
    (folder / "message").write_bytes(b"a message")
    (folder / "own.keys").write_text(":".join(["000102030405060708090a0b0c0d0e0f"] * 3))
    for line in lines:
        works(folder, line)
    return folder


def copied(folder, name):
    target = WORK / name
    shutil.copytree(folder, target)
    return target


def exchanges(folder, line):
    """The commands with their replies of a run without faults, and its result."""
    result = run(folder, f"--record session.jsonl --keep-secrets --json {line}")
    if result.returncode != 0:
        raise SystemExit(f"FAIL {line}: {result.stdout.decode()} {result.stderr.decode()}")
    lines = [json.loads(text) for text in (folder / "session.jsonl").read_text().splitlines()[1:]]
    pairs = [(bytes.fromhex(event["c"]), bytes.fromhex(event["r"])) for event in lines if "c" in event]
    return pairs, json.loads(result.stdout)


def chosen(pairs):
    """The numbers and replies of the exchanges to corrupt: all of them, but of more than forty, as where a reset uses up
    tries, one of each kind."""
    kinds = {}
    for number, (command, reply) in enumerate(pairs, 1):
        kind = (command[:4], reply[-2:], len(reply)) if len(pairs) > 40 else number
        kinds.setdefault(kind, (number, reply))
    return list(kinds.values())


def corruptions(reply):
    """Faults in the place of a reply, each with a name."""
    data, status = reply[:-2], reply[-2:]
    faults = [("nothing", "truncate 0"), ("one byte", "truncate 1"), ("6f00", "status 6f00"), ("6a80", "status 6a80"),
              ("more without end", "more"), ("no data", f"garbage {status.hex()}"),
              ("longer", f"garbage {(data + b'%' + status).hex()}")]
    if data:
        faults.append(("without status", f"truncate {len(data)}"))
        faults.append(("half", f"garbage {(data[:len(data) // 2] + status).hex()}"))
        for place in sorted({0, len(data) // 3, len(data) // 2, len(data) - 1}):
            flipped = bytearray(data)
            flipped[place] ^= 0x04
            faults.append((f"bit of byte {place}", f"garbage {(bytes(flipped) + status).hex()}"))
    return faults


def state(folder, reader):
    """What the key has afterwards, without what is random."""
    result = run(folder, f"--json {reader}")
    if result.returncode != 0:
        return f"{result.returncode} {result.stdout.decode()}"
    return re.sub(r'"(fingerprint|created|createdUTC|signatures?|publicKey|caKeyIdentifier)":("[^"]*"|\d+)', r'"\1":…', result.stdout.decode())


def attempt(prepared, line, reader, number, name, fault, verified, isProtected, expected, wanted):
    folder = copied(prepared, f"{prepared.name}-{abs(hash(line))}-{number}-{name.replace(' ', '-')}")
    try:
        result = run(folder, f"--json {line}", f"at {number}: {fault}")
        text = f"{line}, exchange {number}, {name}: {result.returncode} {result.stdout.decode()[:300]} {result.stderr.decode()[-300:]}"
        if result.returncode not in EXITS or b"Fatal error" in result.stderr:
            return f"crash: {text}"
        try:
            answer = json.loads(result.stdout)
        except ValueError:
            return f"no JSON: {text}"
        if answer["ok"] != (result.returncode == 0):
            return f"two results: {text}"
        if result.returncode != 0:
            return None
        if isProtected:
            return f"accepted through the channel: {text}"
        if reader and state(folder, reader) != expected:
            return f"the key has something else: {text}"
        if verified and not verified(folder, answer, wanted):
            return f"a wrong result: {text}"
        return None
    finally:
        shutil.rmtree(folder)


def verb(pool, prepared, line, reader=None, verified=None, channel=0):
    """Corrupts the answers of a verb. `reader` reads what it writes, `verified` looks at its result; `channel` is the number
    of exchanges until the secure channel is open."""
    first = copied(prepared, f"{prepared.name}-{abs(hash(line))}")
    pairs, wanted = exchanges(first, line)
    expected = state(first, reader) if reader else None
    jobs = []
    for number, reply in chosen(pairs):
        for name, fault in corruptions(reply)[number % SHARES::SHARES]:
            if fault == f"garbage {reply.hex()}":
                continue
            # A status word other than 9000 comes without a MAC.
            protected = channel and number > channel and reply[-2:] == b"\x90\x00"
            jobs.append(pool.submit(attempt, prepared, line, reader, number, name, fault, verified, protected, expected,
                                    wanted))
    problems = [problem for problem in (job.result() for job in jobs) if problem]
    expect(f"{line}: {len(jobs)} corrupted answers in {len(chosen(pairs))} exchanges", problems, [])
    shutil.rmtree(first)
    return len(jobs)


def signed(slot):
    """Whether the signature in the answer is one of the message by the key of a slot."""
    def check(folder, answer, _):
        (folder / "made.sig").write_bytes(bytes_of(answer["signature"]))
        works(folder, f"openpgp keys export {slot} made.pem --force")
        return subprocess.run(["openssl", "dgst", "-sha256", "-verify", "made.pem", "-signature", "made.sig", "message"],
                              cwd=folder, capture_output=True).returncode == 0
    return check


def bytes_of(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def same(*members):
    """Whether members of the answer are those of a run without faults."""
    return lambda _, answer, wanted: all(answer[member] == wanted[member] for member in members)


def openpgp(pool):
    info = "openpgp info"
    new = base("openpgp")
    used = base("openpgp-used", "openpgp keys generate sig --type nistp256", "openpgp keys import dec private.key",
                "openpgp keys generate aut --type nistp256", "openpgp access set-reset-code",
                "openpgp certificates import dec private-cert.pem", "openpgp certificates export att att.pem")
    total = 0
    for line in ("keys generate sig --type nistp256", "keys import dec private.key", "keys set-touch sig on",
                 "keys set-ca-fingerprint 1 000102030405060708090a0b0c0d0e0f10111213", "access set-reset-code",
                 "access set-retries 5 5 5", "access set-signature-policy always", "access change-pin",
                 "access change-admin-pin", "certificates import aut private-cert.pem",
                 "access set-kdf on --force --same-admin-pin"):
        total += verb(pool, new, f"openpgp {line}", info)
    for line in ("keys delete dec --force", "certificates delete dec --force", "reset --force"):
        total += verb(pool, used, f"openpgp {line}", info)
    for line in ("info", "random 8", "keys export aut", "certificates export dec", "attest sig statement.pem --root att.pem",
                 "decrypt peer.pem --output secret", "access unblock-pin --reset-code", "access unblock-pin"):
        total += verb(pool, used, f"openpgp {line}")
    total += verb(pool, used, "openpgp sign message --output out.sig", verified=signed("sig"))
    total += verb(pool, used, "openpgp authenticate message --output out.sig", verified=signed("aut"))
    total += verb(pool, used, "openpgp sign message --format openpgp --output out.sig")
    return total


def hsmauth(pool):
    listed = "hsmauth list"
    new = base("hsmauth")
    used = base("hsmauth-used", "hsmauth add one --derive", "hsmauth add two --algorithm p256 --generate")
    total = 0
    for line in ("add one --derive", "add two --algorithm p256 --generate", "add three --algorithm p256 --import private.key",
                 "change-management-password"):
        total += verb(pool, new, f"hsmauth {line}", listed)
    for line in ("delete two --force", "change-password one", "change-password one --admin", "reset --force"):
        total += verb(pool, used, f"hsmauth {line}", listed)
    for line in ("info", "list", "export-public-key two", "challenge one", "challenge two"):
        total += verb(pool, used, f"hsmauth {line}")
    # The cryptogram that the HSM sends proves S-MAC; nothing that this host has proves the two others.
    total += verb(pool, used, f"hsmauth calculate one --context {CONTEXT} --cryptogram 3317be36d3cc9e41 --show-keys",
                  verified=same("sMac"))
    total += verb(pool, used, f"hsmauth calculate one --context {CONTEXT} --show-keys")
    return total


def security_domain(pool):
    keys = "sd keys list"
    new = base("sd")
    used = base("sd-used", "--scp 03 sd keys generate 11a,3", "--scp 03 sd keys import ca,3 private-cert.pem")
    total = 0
    for line in ("info", "keys list", "data 0066", "keys export 11b,1"):
        total += verb(pool, new, f"sd {line}")
        total += verb(pool, new, f"--scp 03 sd {line}", channel=3)
    for line in ("keys generate 11a,1", "keys import 11b,2 both.pem", "keys import ca,1 private-cert.pem",
                 "keys import 03,1 own.keys --force"):
        total += verb(pool, new, f"--scp 03 sd {line}", keys, channel=3)
    for line in ("keys delete 11a,3 --force", "keys set-allowlist ca,3 0x1002"):
        total += verb(pool, used, f"--scp 03 sd {line}", keys, channel=3)
    total += verb(pool, used, "sd reset --force", keys)
    # The other applications through a channel.
    for line in ("openpgp info", "hsmauth list", "openpgp keys generate sig --type nistp256", "hsmauth add one --derive"):
        total += verb(pool, new, f"--scp 03 {line}", channel=3)
    return total


def test_corrupted_answers():
    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        print(f"{openpgp(pool) + hsmauth(pool) + security_domain(pool)} corrupted answers")
