# SPDX-License-Identifier: Apache-2.0
"""Runs the device tests of ykman and of python-fido2, from their source packages on PyPI, against the virtual key.

The tests are unchanged, and open the key with their authors' own libraries. `controller` replaces the switched USB port
that python-fido2's tests can drive: it unplugs the key and plugs it in again.
"""

import contextlib
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from xml.etree import ElementTree

from lib.peer import REAL, ROOT, QuietHandler, expect


def venv(program):
    """A program of the environment that tools/test makes."""
    found = shutil.which(program, path=f"{ROOT}/.build-venv/bin:{os.environ['PATH']}")
    if found is None:
        sys.exit(f"FAIL {program} is not installed; tools/build/requirements.txt has it")
    return found


def sources(package):
    """The unpacked source package; tools/test fetches it."""
    found = glob.glob(os.path.join(os.path.dirname(os.path.dirname(venv("pytest"))), "suites", f"{package}-*", "tests"))
    if len(found) != 1:
        sys.exit(f"FAIL the device tests of {package} are not there; tools/test fetches them")
    return os.path.dirname(found[0])


class Key:
    """A virtual key that can be plugged in and unplugged, and keeps its state in between."""

    def __init__(self, *options, waits_for):
        self.folder = tempfile.TemporaryDirectory()
        self.command = [REAL, "virtual", "serve", "--state", f"{self.folder.name}/key.json", *options]
        self.waits_for = waits_for
        self.process = None

    def insert(self):
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for line in self.process.stderr:
                if self.waits_for in line:
                    break
            else:
                raise SystemExit(f"FAIL {' '.join(self.command)} serves no key")
            threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def remove(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def __enter__(self):
        self.insert()
        return self

    def __exit__(self, *_):
        self.remove()
        self.folder.cleanup()

    def serial(self):
        """The serial number, once a program can read it."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            found = subprocess.run([REAL, "list", "--json"], capture_output=True, check=True)
            for device in json.loads(found.stdout)["devices"]:
                if device["serial"]:
                    return device["serial"]
            time.sleep(0.05)
        raise SystemExit("FAIL no program sees the virtual key")


@contextlib.contextmanager
def controller(key):
    """The address of a server that switches the key's power, with the interface that python-fido2's tests expect."""

    class Handler(QuietHandler):
        def do_GET(self):
            if self.path.endswith("/power/on"):
                key.insert()
            elif self.path.endswith("/power/off"):
                key.remove()
            self.send_response(200)
            self.end_headers()


    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def run(name, package, *options, limit=600):
    """Runs the device tests of a package and reports whether each passed; those for other keys are counted."""
    with tempfile.TemporaryDirectory() as folder:
        results, log = os.path.join(folder, "results.xml"), os.path.join(folder, "log")
        with open(log, "w") as output:
            status = subprocess.run(
                [venv("pytest"), "-p", "no:cacheprovider", f"--junitxml={results}", "-q", "--tb=short", *options],
                cwd=sources(package), env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"), stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, timeout=limit).returncode
        passed, skipped, bad = [], [], []
        for case in ElementTree.parse(results).iter("testcase") if os.path.exists(results) else []:
            outcome = {"skipped": skipped, "failure": bad, "error": bad}.get(case[0].tag if len(case) else "", passed)
            outcome.append(f"{case.get('classname')}.{case.get('name')}")
        for test in bad:
            expect(f"{name}: {test}", False)
        good = not bad and status == 0 and passed
        if not good:
            with open(log) as output:
                print("".join(f"     {line}" for line in output.readlines()[-60:]), flush=True)
        expect(f"{name}: {len(passed)} tests passed, {len(skipped)} are for other keys", bool(good) or f"pytest ended with {status}")
