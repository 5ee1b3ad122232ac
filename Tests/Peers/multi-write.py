# SPDX-License-Identifier: Apache-2.0
"""Finds the verbs that change a key in more than one step, and checks that each is among the operations that
Tests/MultiWriteTests cuts at every exchange.

Each line of Tests/CLITests/fixtures/verbs.txt runs once on the virtual key, and then once for each of its exchanges with
the key removed before that exchange. The state files that result tell how many steps the change has. No run may crash or
claim success for a change that was not made.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

from lib.peer import REAL, ROOT, expect, own_folder

WORK = pathlib.Path(own_folder())
FIXTURES = ROOT / "Tests/CLITests"
#: What changes with every use of a key.
PASSING = re.compile(r"tries|counter|timestamp|sessionUse|random", re.I)
#: Lines that verbs.txt cannot have, as they need another key or more than one account; those that do not start with y prepare the
#: next.
MORE = [
    "rm key.json; ykit virtual new key.json --firmware 5.7.4",
    "cat uri uri2 > both",
    "y oath import both --yes",
    "openssl req -x509 -key key.pem -subj /CN=alice -out cert.pem; "
    "openssl pkcs12 -export -inkey key.pem -in cert.pem -passout pass:123456 -out both.p12",
    "y piv keys import 9d both.p12 --file-password-fd 3 3< pin",
    "y piv access change-management-key --generate --protect",
    "y piv access change-management-key --generate --key-file given",
    "printf 000102030405060708090a0b0c0d0e0f:101112131415161718191a1b1c1d1e1f:202122232425262728292a2b2c2d2e2f > own",
    "y --scp 03 sd keys generate 11a,1",
    "y --scp 03 sd keys import ca,1 cert.pem",
    "y --scp 03 sd keys set-allowlist ca,1 0x1002",
    "y --scp 03 sd keys import 03,1 own --force",
    "y --scp 03,1 --scp-keys own sd keys delete 11b,1 --force",
    "y sd reset --force",
    "rm key.json; ykit virtual new key.json --fingerprints; y fido2 pin set --new-pin-stdin < pin",
    "y fido2 fingerprints add --name thumb",
    "y fido2 fingerprints rename thumb index",
    "y fido2 fingerprints delete index --force",
    "head -c 1800 /dev/urandom > big",
    "y fido2 register --rp example.com --user alice --resident --large-blob",
    "y fido2 large-blob set alice big",
    "rm key.json; ykit virtual new key.json --fido 2.3; y fido2 pin set --new-pin-stdin < pin",
    "y fido2 config complex-pin",
]
#: Verbs of more than one step: the tests that cut each of their exchanges, and what they are called there.
TESTS = {
    "age generate": ("MultiWriteTests", "first certificate"),
    "piv access change-management-key": ("MultiWriteTests", "default to protected"),
    "piv keys import": ("MultiWriteTests", "import a key and its certificate"),
    "piv reset": ("MultiWriteTests", "reset"),
    "oath import": ("MultiWriteTests", "import two accounts"),
    "openpgp keys generate": ("MultiWriteTests", "generate a key (\\(model))"),
    "openpgp keys import": ("MultiWriteTests", "import a key (\\(model))"),
    "openpgp keys delete": ("MultiWriteTests", "delete a key (\\(model))"),
    "openpgp reset": ("MultiWriteTests", "reset (\\(model))"),
    "arculus reset": ("YKArculusTests", "reset(to: secret"),
    "sd keys generate": ("MultiWriteTests", "generate a key"),
    "sd keys import": ("MultiWriteTests", "import an authority"),
    "sd reset": ("MultiWriteTests", "reset"),
    "fido2 config complex-pin": ("MultiWriteTests", "require longer PINs"),
}


def preparation():
    """The shell functions and files of VerbTests, with a recording if RECORD is set."""
    text = (FIXTURES / "VerbTests.swift").read_text()
    body = "".join(re.search(rf'{part} = #"""\n(.*?)"""#', text, re.S).group(1) for part in ("functions", "files"))
    return body.replace('ykit "$@"', f'"{REAL}" ' + '${RECORD:+--record "$RECORD"} "$@"')


def shell(folder, line, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("YKIT")}
    environment |= {
        "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "CAPTURES": str(ROOT / "captures"), "YKIT_PIN": "123456",
        "PATH": f"{folder}:{os.environ['PATH']}", **variables}
    return subprocess.run(
        ["bash", "-c", f". ./functions; {line}"], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=120)


def leaves(value, path=""):
    """The values of a JSON text by their paths."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{path}/{name}")
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from leaves(member, f"{path}/{number}")
    else:
        yield path, value


def changed(folder, before):
    """The paths of a key's state that differ from those before."""
    after = state(folder)
    return frozenset(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path) and not PASSING.search(path))


def state(folder):
    file = folder / "key.json"
    return dict(leaves(json.loads(file.read_text()))) if file.exists() else {}


def exchanges(recording):
    """How many commands a recording has."""
    if not recording.exists():
        return 0
    count = 0
    for line in recording.read_text().splitlines()[1:]:
        event = json.loads(line)
        count += "c" in event or "sf" in event or ("w" in event and int(event["w"][8:10], 16) & 0x80 != 0)
    return count


def steps(folder, line):
    """Runs a line, and again with each exchange cut, each time from the same state; leaves the state of the whole run.

    Returns the number of steps of the change, and what the verb told."""
    start = WORK / "start"
    shutil.copytree(folder, start, symlinks=True)
    before = state(start)
    recording = folder / "recording.jsonl"
    whole = shell(folder, line, RECORD=str(recording))
    count = exchanges(recording)
    recording.unlink(missing_ok=True)
    end = changed(folder, before)
    states = []
    if end:
        for number in range(1, count + 1):
            copy = WORK / "copy"
            shutil.copytree(start, copy, symlinks=True)
            cut = shell(copy, line, YKIT_FAULT=f"at {number}: remove")
            if cut.returncode < 0 or cut.returncode > 130:
                expect(f"{line}, cut at exchange {number}: no crash", cut.stderr.decode()[-400:])
            states.append(changed(copy, before))
            if cut.returncode == 0 and whole.returncode == 0 and states[-1] != end:
                expect(f"{line}, cut at exchange {number}: no success", f"{sorted(states[-1])} {sorted(end)}")
            shutil.rmtree(copy)
    shutil.rmtree(start)
    told = (whole.stdout + whole.stderr).decode(errors="replace")
    return sum(one != other for one, other in zip([frozenset()] + states, states + [end], strict=True)), told


def verb(line):
    """The verb that a line calls: as many words as TESTS or a name of three words has."""
    line = re.sub(r"--scp\S* \S+ ", "", re.sub(r".*?\by ", "", line, count=1))
    names = [name for name in TESTS if line.startswith(name + " ")]
    return max(names, key=len, default=" ".join(line.split()[:3]))


def test_multi_write():
    folder = WORK / "key"
    folder.mkdir()
    (folder / "ykit").symlink_to(REAL)
    prepared, functions = [], []
    for row in preparation().splitlines():
        (prepared if re.match(r"\s*(printf|echo|openssl)", row) else functions).append(row)
    (folder / "functions").write_text("\n".join(functions) + "\n")
    # The first use of an application gives it its contents.
    shell(folder, "\n".join(prepared + ["y info", "y piv info", "y openpgp info", "y hsmauth info"]))
    rows = (FIXTURES / "fixtures/verbs.txt").read_text().splitlines()
    lines = [re.sub(r"^\[\d+\] ", "", row) for row in rows if not row.startswith("#")]
    found, changes = {}, 0
    for number, line in enumerate(lines + MORE):
        is_more = number >= len(lines)
        if is_more and not line.startswith("y "):
            done = shell(folder, line)
            if done.returncode:
                expect(f"prepared: {line}", done.stderr.decode())
            continue
        count, told = steps(folder, line)
        changes += count > 0
        if is_more:
            expect(f"changes the key: {line}", count > 0 or told)
        if count > 1:
            found[verb(line)] = max(count, found.get(verb(line), 0))
    expect(f"{changes} verbs changed the key", changes > 60)
    for name, count in sorted(found.items()):
        folder_name, title = TESTS.get(name, ("", ""))
        sources = "".join(file.read_text() for file in (ROOT / "Tests" / folder_name).glob("*.swift")) if folder_name else ""
        expect(f"{name} changes the key in {count} steps, each of which is cut by a test", bool(title) and title in sources)
    for name in TESTS.keys() - found.keys():
        expect(f"{name} has more than one step", False)
