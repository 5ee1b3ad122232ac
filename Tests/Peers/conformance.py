# SPDX-License-Identifier: Apache-2.0
"""What tools/conformance ticks, and what it does not: only successful runs of a verb, over a known route, that were followed
in their test by checks which all held.

YKIT_REAL is the ykit whose verbs are listed.
"""

import os
import re
import subprocess
import tempfile

from lib.peer import REAL, ROOT, expect

COLUMNS = ["replay", "virtual", "pcscd", "USB", "hidraw", "NFC"]


def note(arguments, test="good", status="0", place="-", name="ykit"):
    return "\t".join([name, test, place, status, *arguments.split()])


def check(verdict="ok", test="good"):
    return f"check\t{test}\t{verdict}"


def ticked(*notes, checks=(check(),)):
    """The routes of `piv reset` in the article that would be generated."""
    with tempfile.NamedTemporaryFile("w", suffix=".notes") as file:
        file.write("\n".join([*notes, *checks]) + "\n")
        file.flush()
        done = subprocess.run(
            [f"{ROOT}/tools/conformance", file.name, "--check"], capture_output=True, text=True, timeout=120,
            env={**os.environ, "YKIT_REAL": REAL})
    for line in done.stdout.splitlines():
        match = re.match(r"^[ +]\| `piv reset` \|([^|]*(?:\|[^|]*){5})\|[^|]*\|$", line)
        if match:
            return [column for column, cell in zip(COLUMNS, match[1].split("|")) if "✓" in cell]
    return None


def through_noted(place, *arguments):
    """The fields that tools/noted writes for a run, without the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k not in ("YKIT_NOTE_ROUTE", "YKIT_TEST_VPCD_PORTS")}
        environment |= {"YKIT_NOTES": f"{folder}/notes", "YKIT_REAL": "/bin/true", "YKIT_NOTE_TEST": "a-test", **place}
        subprocess.run([f"{ROOT}/tools/noted/ykit", *arguments], env=environment, timeout=30, check=True)
        return open(f"{folder}/notes").read().rstrip("\n").split("\t")


def test_conformance():
    expect("a verb at work, virtual", ticked(note("--virtual k piv reset -f")), ["virtual"])
    expect("replay", ticked(note("--replay=k piv reset -f")), ["replay"])
    expect("pcscd, by the place", ticked(note("piv reset -f", place="pcscd")), ["pcscd"])
    expect("NFC, by the place", ticked(note("piv reset -f", place="NFC")), ["NFC"])
    expect("guest: the card over USB", ticked(note("piv reset -f", place="guest")), ["USB"])
    expect("guest: another link", ticked(note("--link hid piv reset -f", place="guest")), ["hidraw"])
    expect("no known route", ticked(note("piv reset -f")), [])
    expect("--help proves nothing", ticked(note("--virtual k piv reset --help"), note("piv reset -h", place="pcscd")), [])
    expect("help proves nothing", ticked(note("help piv reset", place="pcscd"), note("piv help reset", place="pcscd")), [])
    expect("--plan proves nothing", ticked(note("--virtual k piv reset --plan -f")), [])
    expect("a failed run proves nothing", ticked(note("--virtual k piv reset -f", status="8")), [])
    good = note("--virtual k piv reset -f")
    expect("a run without a check proves nothing", ticked(good, checks=[]), [])
    expect("nor one that a check refutes", ticked(good, checks=[check("FAIL")]), [])
    expect("nor one of two checks", ticked(good, checks=[check(), check("FAIL")]), [])
    expect("nor one whose checks are another test's", ticked(good, checks=[check(test="other")]), [])
    expect("a later failure is that of a later run", ticked(good, check(), note("--virtual k piv info"), checks=[check("FAIL")]), ["virtual"])
    expect("... also if that run was to fail", ticked(good, check(), note("piv info", status="3"), checks=[check("FAIL")]), ["virtual"])
    expect("tests side by side", ticked(good, note("piv info", test="other"), check("FAIL", "other")), ["virtual"])
    expect("what noted writes outside", through_noted({}, "piv", "reset"), ["ykit", "a-test", "-", "0", "piv", "reset"])
    inside = through_noted({"YKIT_TEST_VPCD_PORTS": "1"}, "piv")
    expect("what noted writes beside pcscd", inside, ["ykit", "a-test", "pcscd", "0", "piv"])
    told = through_noted({"YKIT_TEST_VPCD_PORTS": "1", "YKIT_NOTE_ROUTE": "NFC"}, "piv")
    expect("what noted writes where the test tells", told, ["ykit", "a-test", "NFC", "0", "piv"])
