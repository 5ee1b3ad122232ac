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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
YKIT = os.path.abspath(os.environ.get("YKIT_REAL") or os.environ.get("YKIT") or f"{ROOT}/.build/debug/ykit")
RESULTS = "YKIT_TEST_SUITE_RESULTS"


def venv(program):
    """A program of the environment that tools/test makes."""
    found = shutil.which(program, path=f"{ROOT}/.build-venv/bin:{os.environ['PATH']}")
    if found is None:
        sys.exit(f"FAIL {program} is not installed; tools/requirements.txt has it")
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
        self.command = [YKIT, "virtual", "serve", "--state", f"{self.folder.name}/key.json", *options]
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
            found = subprocess.run([YKIT, "list", "--json"], capture_output=True, check=True)
            for device in json.loads(found.stdout)["devices"]:
                if device["serial"]:
                    return device["serial"]
            time.sleep(0.05)
        raise SystemExit("FAIL no program sees the virtual key")


@contextlib.contextmanager
def controller(key):
    """The address of a server that switches the key's power, with the interface that python-fido2's tests expect."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.endswith("/power/on"):
                key.insert()
            elif self.path.endswith("/power/off"):
                key.remove()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def run(name, package, *options, limit=600):
    """Runs the device tests of a package and reports whether each passed; those for other keys are counted."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        results, log = os.path.join(folder, "results"), os.path.join(folder, "log")
        open(results, "w").close()
        environment = dict(os.environ, PYTHONPATH=os.path.dirname(__file__), PYTHONDONTWRITEBYTECODE="1", **{RESULTS: results})
        with open(log, "w") as output:
            status = subprocess.run(
                [venv("pytest"), "-p", "no:cacheprovider", "-p", "device_suites", "-q", "--tb=short", *options],
                cwd=sources(package), env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                timeout=limit).returncode
        counts = dict(passed=0, skipped=0)
        with open(results) as lines:
            for line in lines:
                outcome, test = line.rstrip("\n").split(" ", 1)
                if outcome in counts:
                    counts[outcome] += 1
                else:
                    failed += 1
                    print(f"FAIL {name}: {test}", flush=True)
        least = counts["passed"] > 0
        if failed or status != 0 or not least:
            with open(log) as output:
                print("".join(f"     {line}" for line in output.readlines()[-60:]), flush=True)
        if not failed and (status != 0 or not least):
            failed = 1
            print(f"FAIL {name}: pytest ended with {status}", flush=True)
        print(f"{'FAIL' if failed else 'ok  '} {name}: {counts['passed']} tests passed, "
              f"{counts['skipped']} are for other keys", flush=True)
    return failed


def pytest_runtest_logreport(report):
    """A pytest hook, since pytest loads this file as a plugin: one line for each test, and for a fixture that failed."""
    if report.when == "call" or report.outcome != "passed":
        with open(os.environ[RESULTS], "a") as results:
            results.write(f"{report.outcome} {report.nodeid}\n")
