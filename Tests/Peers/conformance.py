# SPDX-License-Identifier: Apache-2.0
"""Where tools/lab/conformance names a test, and where not: only for successful runs of a verb that were followed in the test by
checks which all held.

YKIT_REAL is the ykit whose verbs are listed.
"""

import os
import pathlib
import re
import subprocess
import tempfile

from lib.peer import REAL, ROOT, expect

COLUMNS = ["no route", "replay", "virtual", "pcscd", "USB", "hidraw", "NFC", "real output", "hardware"]


def note(arguments, test="good", status="0", place="-", name="ykit"):
    return "\t".join([name, test, place, status, *arguments.split()])


def check(verdict="ok", test="good"):
    return f"check\t{test}\t{verdict}"


#: A check that held.
HELD = (check(),)


def named(*notes, checks=HELD):
    """The routes of `piv reset` in the article that would be generated, with the tests named for each."""
    with tempfile.NamedTemporaryFile("w", suffix=".notes") as file:
        file.write("\n".join([*notes, *checks]) + "\n")
        file.flush()
        done = subprocess.run(
            [f"{ROOT}/tools/lab/conformance", file.name, "--check"], capture_output=True, text=True, timeout=120,
            env={**os.environ, "YKIT_REAL": REAL})
    for line in done.stdout.splitlines():
        match = re.match(r"^[ +]\| `piv reset` \|([^|]*(?:\|[^|]*){8})\|$", line)
        if match:
            cells = zip(COLUMNS, match[1].split("|"), strict=True)
            return {column: cell.strip() for column, cell in cells if cell.strip()}
    return None


def through_noted(place, *arguments):
    """The fields that tools/lab/noted writes for a run, without the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k not in ("YKIT_NOTE_ROUTE", "YKIT_TEST_VPCD_PORTS")}
        environment |= {"YKIT_NOTES": f"{folder}/notes", "YKIT_REAL": "/bin/true", "YKIT_NOTE_TEST": "a-test", **place}
        subprocess.run([f"{ROOT}/tools/lab/noted/ykit", *arguments], env=environment, timeout=30, check=True)
        return pathlib.Path(f"{folder}/notes").read_text().rstrip("\n").split("\t")


def test_conformance():
    expect("a verb at work, virtual", named(note("--virtual k piv reset -f")), {"virtual": "good"})
    expect("replay", named(note("--replay=k piv reset -f")), {"replay": "good"})
    expect("pcscd, by the place", named(note("piv reset -f", place="pcscd")), {"pcscd": "good"})
    expect("NFC, by the place", named(note("piv reset -f", place="NFC")), {"NFC": "good"})
    expect("guest: the card over USB", named(note("piv reset -f", place="guest")), {"USB": "good"})
    expect("guest: another link", named(note("--link hid piv reset -f", place="guest")), {"hidraw": "good"})
    expect("no route", named(note("piv reset -f")), {"no route": "good"})
    two = named(note("piv reset -f", place="pcscd"), check(), note("piv reset -f", "a", place="pcscd"), check(test="a"))
    expect("two tests of a route", two, {"pcscd": "a, good"})
    good = note("--virtual k piv reset -f")
    scripts = named(note("--virtual k piv reset", "script piv"), check(test="script piv"), good)
    expect("scripts come last, by one name", scripts, {"virtual": "good, scripts"})
    expect("--help proves nothing", named(note("--virtual k piv reset --help"), note("piv reset -h", place="pcscd")), {})
    expect("help proves nothing", named(note("help piv reset", place="pcscd"), note("piv help reset", place="pcscd")), {})
    expect("--plan proves nothing", named(note("--virtual k piv reset --plan -f")), {})
    expect("a failed run proves nothing", named(note("--virtual k piv reset -f", status="8")), {})
    expect("a run without a check proves nothing", named(good, checks=[]), {})
    expect("nor one that a check refutes", named(good, checks=[check("FAIL")]), {})
    expect("nor one of two checks", named(good, checks=[check(), check("FAIL")]), {})
    expect("nor one whose checks are another test's", named(good, checks=[check(test="other")]), {})
    expect("a later failure is that of a later run", named(good, check(), note("--virtual k piv info"), checks=[check("FAIL")]), {"virtual": "good"})
    expect("... also if that run was to fail", named(good, check(), note("piv info", status="3"), checks=[check("FAIL")]), {"virtual": "good"})
    expect("tests side by side", named(good, note("piv info", test="other"), check("FAIL", "other")), {"virtual": "good"})
    expect("what noted writes outside", through_noted({}, "piv", "reset"), ["ykit", "a-test", "-", "0", "piv", "reset"])
    inside = through_noted({"YKIT_TEST_VPCD_PORTS": "1"}, "piv")
    expect("what noted writes beside pcscd", inside, ["ykit", "a-test", "pcscd", "0", "piv"])
    told = through_noted({"YKIT_TEST_VPCD_PORTS": "1", "YKIT_NOTE_ROUTE": "NFC"}, "piv")
    expect("what noted writes where the test tells", told, ["ykit", "a-test", "NFC", "0", "piv"])
