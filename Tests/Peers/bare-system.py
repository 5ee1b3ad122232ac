# SPDX-License-Identifier: Apache-2.0
"""Systems in which something is missing: no /proc, a preloaded library that changes the environment before main, a folder
without room for another name. As root, in mount namespaces of their own.

YKIT is the ykit to test; its arguments must not be read by the script that notes them, so the program itself is run.
"""

import json
import os
import subprocess

from lib.peer import REAL, expect, own_folder, skip

FOLDER = own_folder()
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("YKIT_")}, "HOME": FOLDER, "NO_COLOR": "1",
               "PCSCLITE_CSOCK_NAME": FOLDER + "/none"}
KEY = "key.json"


def run(*words, text="", **more):
    done = subprocess.run([REAL, *words], input=text, capture_output=True, text=True, cwd=FOLDER,
                          env={**ENVIRONMENT, **more}, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def shell(script, *arguments):
    done = subprocess.run(["sh", "-c", script, "sh", *arguments], capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT,
                          timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def namespace(script, *arguments):
    """Runs a script of sh, as root, with mounts that end with it; None where that is not allowed."""
    if os.geteuid() != 0:
        return None
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    if probe.returncode:
        return None
    done = subprocess.run(["unshare", "-m", "sh", "-c", "mount --make-rprivate / && " + script, "sh", *arguments],
                          capture_output=True, text=True, cwd=FOLDER, env=ENVIRONMENT, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def setup_module():
    run("virtual", "new", KEY)
    os.symlink(REAL, os.path.join(FOLDER, "age-plugin-ykit"))


def arguments_arrive(name, run_one):
    """The same answers as anywhere else."""
    expect(f"{name}: an unknown verb", run_one("ykit", "nonsense")[0], 2)
    expect(f"{name}: the version", run_one("ykit", "--version")[1].startswith("ykit "))
    expect(f"{name}: no help as a key", run_one("ykit", "luks", "key", "/dev/null")[1], "")
    status, out, err = run_one("ykit", "--virtual", KEY, "--json", "oath", "list")
    expect(f"{name}: a verb with a key", (status, json.loads(out or "{}").get("ok")), (0, True))
    status, out, err = run_one("./age-plugin-ykit", "--list", "--virtual", KEY)
    expect(f"{name}: the plugin's name", (status, "ykit age" in out or "unknown" in err), (0, False))
    expect(f"{name}: not UTF-8", run_one("ykit", b"\xff")[0], 2)


def test_without_proc():
    if namespace("true") is None:
        skip("without /proc", "needs root and mount namespaces")
        return

    def one(program, *words):
        program = REAL if program == "ykit" else program
        return namespace('umount -l /proc || exit 99; exec "$@"', program, *words)

    arguments_arrive("without /proc", one)
    status, out, err = one("ykit", "--virtual", KEY, "oath", "add", "A:b", "--generate", "--uri-file", "made.uri")
    expect("a generated secret gets its file", (status, os.path.exists(os.path.join(FOLDER, "made.uri"))), (0, True))


def test_preloaded():
    source, library = os.path.join(FOLDER, "pre.c"), os.path.join(FOLDER, "pre.so")
    with open(source, "w", encoding="ascii") as file:
        file.write('#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) '
                   '{ setenv("PRELOADED_MARK", "1", 1); }\n')
    built = subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], capture_output=True, check=False)
    if built.returncode:
        skip("a preloaded library", "needs a C compiler")
        return

    def one(program, *words):
        program = REAL if program == "ykit" else os.path.join(FOLDER, program)
        done = subprocess.run([program, *words], capture_output=True, text=True, cwd=FOLDER, timeout=120, check=False,
                              env={**ENVIRONMENT, "LD_PRELOAD": library})
        return done.returncode, done.stdout, done.stderr

    arguments_arrive("a preloaded library", one)


GENERATING = [
    ("the PIV management key", ["piv", "access", "change-management-key", "--generate", "--key-file"]),
    ("an HMAC secret", ["otp", "chalresp", "2", "--generate", "--force", "--output"]),
    ("a static password", ["otp", "static", "2", "--generate", "--force", "--output"]),
    ("an HOTP secret", ["otp", "hotp", "2", "--generate", "--force", "--output"]),
    ("a Yubico OTP", ["otp", "yubiotp", "1", "--serial-public-id", "--generate", "--force", "--csv"]),
    ("an OATH account", ["oath", "add", "C:d", "--generate", "--uri-file"]),
]


def test_names_that_are_lost():
    """A folder without room for another name: what the key accepted stays on disk, and the error says where."""
    if namespace("true") is None:
        skip("no inodes", "needs root and mount namespaces")
        return
    os.mkdir(os.path.join(FOLDER, "small"))
    for name, words in GENERATING:
        # The name is taken while the key works, which the fault delays.
        status, out, err = namespace(
            'mount -t tmpfs -o nr_inodes=2 none small || exit 99; "$@" small/made; status=$?; '
            'echo; for file in small/*; do test -s "$file" && echo "kept $file"; done; exit $status',
            REAL, "--virtual", KEY, *words)
        kept = [line for line in out.splitlines() if line.startswith("kept ")]
        expect(f"{name}: the secret is on disk", (len(kept), status == 0 or kept[0][5:] in err), (1, True))


def test_a_name_that_is_taken_meanwhile():
    """Another program takes the name while the key works."""
    run("virtual", "new", "race.json")
    for name, words in GENERATING:
        made = os.path.join(FOLDER, "taken")
        for left in [made] + [os.path.join(FOLDER, n) for n in os.listdir(FOLDER) if n.startswith("taken.")]:
            if os.path.exists(left):
                os.unlink(left)
        process = subprocess.Popen([REAL, "--virtual", "race.json", "--link", "pcsc", *words, "taken"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=FOLDER,
                                   env={**ENVIRONMENT, "YKIT_FAULT": "from 1: delay 150ms"})
        while process.poll() is None and not [n for n in os.listdir(FOLDER) if n.startswith("taken.kept-")]:
            pass
        with open(made, "w", encoding="ascii") as file:
            file.write("theirs")
        out, err = process.communicate(timeout=60)
        kept = [n for n in os.listdir(FOLDER) if n.startswith("taken.kept-")]
        with open(made, encoding="ascii") as file:
            theirs = file.read()
        expect(f"{name}: both are kept", (process.returncode, len(kept), theirs, kept and kept[0] in err),
               (15, 1, "theirs", True))
