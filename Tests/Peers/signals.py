# SPDX-License-Identifier: Apache-2.0
"""^C, and the signals of timeout(1): a computation ends at once, two signals that arrive together are one, and a key that
waits for a touch is told to cancel.

YKIT is the ykit to test.
"""

import base64
import json
import os
import resource
import select
import signal
import subprocess

from lib.peer import REAL, expect, own_folder, within
from lib.terminal import Terminal

FOLDER = own_folder()
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("YKIT_")}, "HOME": FOLDER, "NO_COLOR": "1",
               "PCSCLITE_CSOCK_NAME": FOLDER + "/none"}
TICKS = os.sysconf("SC_CLK_TCK")


def used(pid):
    """The processor time of a process in seconds."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def start(*words, stdin=subprocess.DEVNULL, fault=None, blocked=()):
    """Starts ykit, with signals blocked as by a program that waits for them in a thread of its own."""
    return subprocess.Popen([REAL, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FOLDER,
                            env={**ENVIRONMENT, **({"YKIT_FAULT": fault} if fault else {})}, start_new_session=True,
                            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked))


def interrupted(name, process, *numbers):
    """Sends signals to a process that computes; checks that it computes hardly any more, and returns its status and output."""
    expect(f"{name}: it computes", within(60, lambda: used(process.pid) > 0.4))
    most = children() + used(process.pid) + 1
    for number in numbers:
        os.kill(process.pid, number)
    output, errors = process.communicate(timeout=60)
    expect(f"{name}: it computes no more", children() < most)
    return process.returncode, output.decode(), errors.decode()


def children():
    """The processor time of all processes that ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def export():
    """An encrypted Aegis export whose key takes seconds to derive."""
    slot = {"type": 1, "uuid": "6f1b3a4e-0000-4000-8000-000000000001", "key": "00" * 32,
            "key_params": {"nonce": "00" * 12, "tag": "00" * 16}, "n": 1 << 17, "r": 8, "p": 16, "salt": "00" * 32,
            "repaired": True, "is_backup": False}
    vault = {"version": 1, "header": {"slots": [slot], "params": {"nonce": "00" * 12, "tag": "00" * 16}},
             "db": base64.b64encode(bytes(64)).decode()}
    with open(f"{FOLDER}/aegis.json", "w", encoding="utf-8") as file:
        json.dump(vault, file)
    with open(f"{FOLDER}/password", "w", encoding="ascii") as file:
        file.write("pw\n")


def computations():
    export()
    words = ["--virtual", "oath", "import", "aegis.json", "--yes", "--file-password-stdin"]
    for name, numbers, more in (("^C", [signal.SIGINT], []), ("SIGTERM twice", [signal.SIGTERM, signal.SIGTERM], []),
                                ("^C with --json", [signal.SIGINT], ["--json"])):
        with open(f"{FOLDER}/password", "rb") as password:
            process = start(*words, *more, stdin=password)
        status, output, errors = interrupted(f"a key derivation, {name}", process, *numbers)
        if more:
            answer = json.loads(output)
            expect(f"{name} ends it with a whole answer",
                   (status, errors, answer["ok"], answer["error"]["code"], "accounts" in answer),
                   (130, "", False, "interrupted", True))
        else:
            expect(f"{name} ends it", (status, output, errors), (130, "", "ykit: interrupted\n"))
    with open(f"{FOLDER}/long.log", "w", encoding="ascii") as file:
        for _ in range(300_000):
            file.write("00000000 APDU: 00 A4 04 00 05 A0 00 00 03 08\n00000001 SW: 90 00\n")
    process = start("capture", "import", "--from", "pcscd", "long.log", "-o", "long.jsonl")
    status, output, errors = interrupted("the import of a log", process, signal.SIGINT)
    expect("^C ends it", (status, output, errors), (130, "", "reading a log of 18 MiB\nykit: interrupted\n"))
    expect("and leaves no file", [name for name in os.listdir(FOLDER) if name.startswith("long.jsonl")], [])
    with Terminal([REAL, "capture", "import", "--from", "pcscd", "long.log", "-o", "long.jsonl"], ENVIRONMENT, FOLDER) as terminal:
        expect("a terminal shows that it is running", terminal.expect("reading a log of 18 MiB … [0-9]+ s") is not None or terminal.seen)
        terminal.type("\x03")
        expect("^C ends it there", (terminal.wait(), terminal.seen.endswith(b"\r\x1b[Kykit: interrupted\r\n") or terminal.seen), (130, True))


def touches():
    """A key that waits for a touch is told to cancel, however many signals come at once."""
    for name, numbers, group, blocked in (
            ("SIGINT", [signal.SIGINT], False, []), ("the signals of timeout(1)", [signal.SIGTERM], True, []),
            ("a SIGTERM that was blocked", [signal.SIGTERM], False, [signal.SIGTERM]),
            ("SIGINT, SIGTERM and SIGHUP", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], False, [])):
        record = f"{FOLDER}/touch-{len(numbers)}{group}{len(blocked)}.jsonl"
        process = start("--virtual", "--timeout", "600", "--record", record, "fido2", "select",
                        fault="on 900b: keepalives", blocked=blocked)
        expect(f"{name}: the key waits for a touch", within(60, lambda: keepalives(record) > 1))
        for number in numbers:
            os.kill(process.pid, number)
        if group:
            os.killpg(process.pid, numbers[0])
        errors = process.communicate(timeout=60)[1].decode()
        expect(f"{name}: ends with 130", (process.returncode, errors.endswith("ykit: interrupted\n")), (130, True))
        expect(f"{name}: the key is told to cancel", written(record, 0x91))


def reports(record, member):
    if not os.path.exists(record):
        return []
    with open(record, encoding="utf-8") as file:
        events = [json.loads(line) for line in file if line.endswith("\n")]
    return [bytes.fromhex(event[member]) for event in events if member in event]


def keepalives(record):
    """The number of KEEPALIVE reports (CTAPHID 0x3B) of the key."""
    return sum(report[4] == 0xBB for report in reports(record, "d"))


def written(record, command):
    return any(report[4] == command for report in reports(record, "w"))


def kills():
    """A recording that is killed at any time is valid or is not there."""
    invalid = []
    for number in range(40):
        record = f"{FOLDER}/killed-{number}.jsonl"
        process = start("--virtual", "--record", record, "oath", "list")
        select.select([], [], [], number * 0.001)
        process.kill()
        process.communicate()
        if os.path.exists(record):
            checked = subprocess.run([REAL, "capture", "check", record], capture_output=True, cwd=FOLDER, env=ENVIRONMENT)
            if checked.returncode:
                invalid.append(number)
    expect("40 killed recordings are valid or not there", invalid, [])


def test_signals():
    computations()
    touches()
    kills()
