# SPDX-License-Identifier: Apache-2.0
"""What every peer test uses: where ykit is, what is expected of it, its own folder, and a pcscd or a D-Bus session of its
own. Scripts in Tests/Guest, Tests/Demand and tools use it as well."""

import atexit
import contextlib
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
YKIT = os.path.abspath(os.environ.get("YKIT", ROOT / ".build/debug/ykit"))
#: The program itself, where tools/lab/noted/ykit would be in the way.
REAL = os.path.abspath(os.environ.get("YKIT_REAL", YKIT))
# A bus that starts no services, since those would be this machine's own.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir={folder}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
failures = []
folders = []


def expect(name, got, wanted=True):
    """A check: its line is printed, and counted by tools/test; a difference is shown, and fails the test at its end."""
    good = got == wanted
    note("check", "ok" if good else "FAIL")
    if not good:
        failures.append(name)
    report(name, None if good else f"wanted {wanted!r}\ngot    {got!r}")
    return good


def note(kind, *fields):
    """A line for tools/lab/conformance: a check, which judges the runs of this test since the check before, or a run that
    tools/lab/noted cannot record."""
    if "YKIT_NOTES" in os.environ:
        with open(os.environ["YKIT_NOTES"], "a") as notes:
            notes.write("\t".join([kind, os.environ.get("YKIT_NOTE_TEST", "-"), *fields]) + "\n")


def skip(name, why):
    report(name, reason=why)


def print_line(name, fault=None, reason=None):
    if reason:
        print(f"skip {name}: {reason}", flush=True)
    else:
        print(f"FAIL {name}\n{textwrap.indent(fault, '     ')}" if fault else f"ok   {name}", flush=True)


#: Where a check goes: in conftest.py it becomes a subtest of pytest's.
report = print_line


def received(connection, count):
    """So many bytes of a socket; EOFError if it ends before."""
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def within(seconds, truth, pause=0.02):
    """The value of `truth()` as soon as it is true, or after a number of seconds."""
    limit = time.monotonic() + seconds
    while not (found := truth()) and time.monotonic() < limit:
        time.sleep(pause)
    return found


def own_folder(prefix="peer-"):
    """A folder that is removed when the test ends."""
    folders.append(tempfile.mkdtemp(prefix=prefix, dir=os.environ.get("YKIT_TEST_TMP")))
    return folders[-1]


@atexit.register
def remove_folders():
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def free_port():
    """A port of loopback where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pipe(text):
    """A descriptor that a text is read from."""
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    return reader


def again():
    """The command that runs this test again."""
    return [sys.executable, *sys.orig_argv[1:]]


def parts(script, *names):
    """The command that runs parts of a script."""
    return [sys.executable, "-P", "-m", "pytest", *(f"{script}::test_{name}" for name in names)]


def beside_pcscd(*options, **variables):
    """Runs the test again beside a pcscd of its own, started with these options of tools/lab/pcscd-sandbox."""
    if "YKIT_TEST_VPCD_PORTS" not in os.environ:
        remove_folders()
        sandbox = f"{ROOT}/tools/lab/pcscd-sandbox"
        os.execve(sandbox, [sandbox, *options, "--", *again()], {**os.environ, **variables})


def reader_port(index=0):
    """The port of loopback where a card is put into a reader of the test's own pcscd."""
    return int(os.environ["YKIT_TEST_VPCD_PORTS"].split()[index])


@contextlib.contextmanager
def in_reader(*options, ready, port=None, program=YKIT, **settings):
    """A virtual key in a reader of the test's own pcscd during the block, with these options of `ykit virtual serve`; the
    block begins when `ready()` is true."""
    command = [program, "virtual", "serve", "--vpcd", f"127.0.0.1:{port or reader_port()}", *map(str, options)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, **{**quiet, **settings})
    try:
        if not within(60, ready, 0.05):
            raise SystemExit("FAIL the virtual key does not appear in its reader")
        yield server
    finally:
        server.terminate()
        server.wait(60)


class QuietHandler(http.server.BaseHTTPRequestHandler):
    """A handler of requests that logs none."""

    def log_message(self, *_):
        pass


def holds(name, part, text):
    """A check that a text has a part."""
    expect(name, part if part in text else text, part)


def in_own_session():
    """Runs the test again in a D-Bus session of its own."""
    if "YKIT_TEST_SESSION" in os.environ:
        return
    folder = own_folder("bus-")
    with open(f"{folder}/bus.conf", "w") as file:
        file.write(BUS.format(folder=folder))
    session = ["dbus-run-session", "--config-file", file.name, "--", *again()]
    status = subprocess.run(session, stderr=subprocess.DEVNULL, env={**os.environ, "YKIT_TEST_SESSION": "1"}).returncode
    remove_folders()
    os._exit(status)
