# SPDX-License-Identifier: Apache-2.0
"""The lines with jq and the loops that the articles JSON and OTP publish, typed as they stand in a folder whose name needs
quoting, on keys of several kinds: one with a key and no certificate, one without known flaws, one with a serial number that is a
file name. YKIT is the ykit to test.
"""

import os
import re
import subprocess

from lib.peer import ROOT, YKIT, expect, own_folder

WORK = os.path.join(own_folder(), "a folder with 'quotes' and $signs")


def blocks(article):
    with open(f"{ROOT}/Sources/ykit/ykit.docc/{article}.md", encoding="utf-8") as file:
        return re.findall(r"^```[a-z]*\n(.*?)^```$", file.read(), re.S | re.M)


def ykit(*words, stdin=""):
    return subprocess.run([YKIT, *words], cwd=WORK, input=stdin, capture_output=True, text=True, timeout=60, check=True).stdout


def typed(text, key, stdin="", seconds=60):
    """What a shell prints in which ykit has the virtual key of this file, and its exit status."""
    environment = {**os.environ, "PATH": f"{WORK}/bin:{os.environ['PATH']}", "KEY": key, "HOME": WORK}
    done = subprocess.run(["bash", "-c", text], cwd=WORK, env=environment, input=stdin, capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout, done.stderr


def prepare():
    os.makedirs(f"{WORK}/bin")
    with open(f"{WORK}/bin/ykit", "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {YKIT} --virtual "$KEY" "$@"\n')
    os.chmod(f"{WORK}/bin/ykit", 0o755)
    for name, model in (("a key.json", "yubikey"), ("nitro.json", "nitrokey3"), ("card.json", "openpgp")):
        ykit("virtual", "new", name, "--model", model)
    with open(f"{WORK}/pin", "w", encoding="utf-8") as file:
        file.write("123456\n")
    ykit("--virtual", "a key.json", "fido2", "pin", "set", "--new-pin-stdin", stdin="123456\n")
    ykit("--virtual", "a key.json", "piv", "keys", "generate", "9a", "pub.pem")


def test_lines():
    prepare()
    lines = [line for block in blocks("JSON") for line in block.splitlines() if "| jq " in line]
    expect("there are lines", len(lines) >= 12)
    for key in ("a key.json", "nitro.json", "card.json"):
        for line in lines:
            status, _, errors = typed(line, key)
            # jq -e ends with 1 for false, and its first status is for an answer that cannot be read.
            expect(f"{key}: {line[:70]}", "jq: error" not in errors and status in (0, 1) or (status, errors))
    expiring = next(line for line in lines if "notAfter" in line)
    expect("a key without a certificate does not expire", typed(expiring, "a key.json")[1], "")


def test_loops():
    loops = [block for block in blocks("OTP") if "jq" in block]
    serial = typed("ykit info --json | jq -r .serial", "a key.json")[1].strip()
    first = next(block for block in loops if "read -r _" in block)
    status, _, errors = typed(first, "a key.json", stdin="\n")
    expect("the loop of OTP.md ends well", status == 0 or errors)
    expect("its file is named by the serial number", os.path.exists(f"{WORK}/{serial}.csv") or sorted(os.listdir(WORK)))
    expect("no file has quotation marks in its name", [name for name in os.listdir(WORK) if '"' in name], [])
    for block in loops:
        expect("a loop takes the serial number without quotation marks", "jq .serial" not in block)
