# SPDX-License-Identifier: Apache-2.0
"""Which of its source files `ykit oath calculate` runs: few, and none of another group of verbs.

callgrind lists the instructions that ran; the debug information of the release program has the function of each, and those
that were inlined there, with their files. The key is a virtual one; its files do not count.
"""

import json
import pathlib
import re
import shutil
import subprocess

from lib.peer import REAL, expect, own_folder

MOST = 90
# The files of the virtual key, and those that only it needs here: it names its applications and calculates the codes.
VIRTUAL = ("VirtualKey", "YKProtocols/ManagementProtocol", "YKCrypto/HashAlgorithm", "YKCrypto/Secret.")
# The files of the groups; those of `oath`, and the list of the commands that are in no group.
GROUPS = re.compile(r"CommandLine/\w+Verbs/")
OWN = ("CommandLine/AccountVerbs/OATH/", "CommandLine/DeviceVerbs/DeviceCommands.swift")


def instructions(program, *words):
    """The addresses of the program's instructions that a run executes."""
    out = program.parent / "callgrind.out"
    subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no",
                    f"--callgrind-out-file={out}", program, *words], check=True, capture_output=True)
    found, is_own = set(), False
    for line in out.read_text().splitlines():
        if line.startswith("ob="):
            is_own = line == f"ob={program}"
        elif is_own and line.startswith("0x"):
            found.add(line.split(" ", 1)[0])
    return found


def sources(addresses, debug):
    """The source files of these addresses, below Sources."""
    beside = pathlib.Path(shutil.which("swift")).resolve().parent / "llvm-symbolizer"
    found = subprocess.run(
        [beside if beside.exists() else beside.name, f"--obj={debug}", "--inlines", "--output-style=JSON"],
        input="\n".join(addresses), check=True, capture_output=True, text=True).stdout
    frames = (frame for line in found.splitlines() for frame in json.loads(line).get("Symbol", []))
    return {frame["FileName"].partition("/Sources/")[2] for frame in frames if frame["Line"]}


def test_files():
    debug = pathlib.Path(REAL + ".debug")
    expect("the release program has debug information (tools/run)", debug.exists())
    # Valgrind cannot read the debug information of Swift 6.3, which it would find beside the program.
    program = pathlib.Path(own_folder()).resolve() / "ykit"
    shutil.copy2(REAL, program)
    files = {file for file in sources(instructions(program, "--virtual", "oath", "calculate"), debug)
             if file.endswith(".swift") and not any(part in file for part in VIRTUAL)}
    print(*sorted(files), sep="\n")
    expect("the codes are calculated by files of OATH", any(file.startswith("Services/YKOATH/") for file in files))
    expect(f"at most {MOST} files run: {len(files)}", len(files) <= MOST)
    expect("no file of another group runs", sorted(file for file in files if GROUPS.match(file) and not file.startswith(OWN)), [])
