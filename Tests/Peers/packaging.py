# SPDX-License-Identifier: Apache-2.0
"""tools/package that is killed in the middle: no package is under its final name, and the former ones stay.

Its tools are stand-ins: a program that tells its version, a readelf that names libc, and a dpkg-deb that writes half a
package.
"""

import os
import signal
import subprocess

from lib.peer import ROOT, expect, own_folder

FOLDER = own_folder()
DEB = "ykit_9.9.9-1_amd64.deb"
# Tells its version, and writes a manual of one page, and the parts of articles.
PROGRAM = """case $1$2 in
    --version) echo "ykit 9.9.9" ;;
    generateman) echo .TH >"$3/ykit.1" ;;
    generate*) echo "# $2" ;;
esac
"""


def tool(name, text):
    path = f"{FOLDER}/tools/{name}"
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def package(dpkg, kind="deb"):
    """Runs tools/package; returns its exit status and the names in its output folder, leftovers of a kill apart."""
    tool("dpkg-deb", 'for target; do :; done\necho half >"$target"\n' + dpkg)
    done = subprocess.run([f"{ROOT}/tools/package", kind, "--output", f"{FOLDER}/out", "--program", f"{FOLDER}/tools/ykit"],
                          capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{FOLDER}/tools:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": "1700000000"})
    return done.returncode, sorted(name for name in os.listdir(f"{FOLDER}/out") if not name.startswith(".new-"))


def test_packaging():
    os.mkdir(f"{FOLDER}/tools")
    tool("ykit", PROGRAM)
    tool("readelf", 'echo " 0x1 (NEEDED) Shared library: [libc.so.6]"; echo "GLIBC_2.36"\n')
    tool("dpkg", "echo amd64\n")
    tool("swift", 'echo "Swift version 6.3"\n')
    expect("killed while dpkg-deb writes: no package", package("kill -9 $PPID"), (-signal.SIGKILL, []))
    expect("a dpkg-deb that fails: no package", package("exit 1"), (1, []))
    status, names = package("")
    expect("complete: every file has its name", (status, names), (0, ["SHA256SUMS", "ykit-9.9.9.spdx.json", DEB]))
    before = os.stat(f"{FOLDER}/out/{DEB}").st_ino
    expect("interrupted over a former package: it stays",
           (package("kill -2 $PPID; exit 1")[1], os.stat(f"{FOLDER}/out/{DEB}").st_ino), (names, before))
