# SPDX-License-Identifier: Apache-2.0
"""What the memory of a ykit that waits for a touch reveals, read from outside through /proc/PID.

Another process serves the key behind a real pcscd, so that all findings come from the program itself. YKIT is the ykit to
test.
"""

import os
import pathlib
import re
import subprocess

from lib.memory import copies, regions
from lib.peer import REAL, YKIT, beside_pcscd, expect, own_folder, reader_port, within

beside_pcscd()

PIN = "marked-83120746"


def test_memory():
    folder = pathlib.Path(own_folder())
    settings = dict(os.environ, HOME=str(folder), XDG_STATE_HOME=str(folder))
    key = str(folder / "key.json")
    subprocess.run([YKIT, "--virtual", key, "fido2", "pin", "set", "--new-pin-stdin"], input=PIN, text=True, check=True,
                   env=settings)
    server = subprocess.Popen(
        [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{reader_port()}", "--state",
         key, "--touch", "never"], env=settings, stdout=subprocess.DEVNULL)
    try:
        expect("the key is there", within(20, lambda: subprocess.run(
            [YKIT, "--link", "pcsc", "fido2", "info"], env=settings, capture_output=True, check=False).returncode == 0))
        holder = subprocess.Popen(
            [REAL, "--link", "pcsc", "fido2", "register", "--rp", "example.com", "--user", "alice", "--pin-stdin"],
            env=settings, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        holder.stdin.write(PIN.encode() + b"\n")
        holder.stdin.close()
        said = b""
        while b"touch the key" not in said:
            line = holder.stderr.readline()
            if not line:
                break
            said += line
        expect("it waits for a touch", b"touch the key" in said or said)
        expect("secrets have locked pages", any(is_kept for _, _, is_kept in regions(holder.pid)))
        outside, within_pages = copies(holder.pid, [PIN.encode(), PIN.encode("utf-16-le")])
        expect("the PIN is nowhere but there", outside, 0)
        expect("and there once at most", within_pages <= 1)
        expect("no core is dumped", bool(re.search(
            r"^Max core file size +0 ", pathlib.Path(f"/proc/{holder.pid}/limits").read_text(), re.M)))
        holder.terminate()
        holder.wait()
        for way, words in (("standard input", ["--pin-stdin"]), ("the environment", [])):
            expect(f"a PIN from {way} hides the process", hidden(settings, words))
    finally:
        server.terminate()
        server.wait()


def hidden(settings, words):
    """Whether root owns the process's memory, though another user runs it, so that it cannot be traced."""
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    holder = subprocess.Popen(
        [*user, REAL, "--virtual", "fido2", "pin", "verify", *words],
        env=dict(settings, **({} if words else {"YKIT_PIN": PIN}), YKIT_FAULT="from 2: delay 60s"),
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if words:
        holder.stdin.write(PIN.encode() + b"\n")
    holder.stdin.close()
    try:
        return bool(within(40, lambda: os.stat(f"/proc/{holder.pid}/mem").st_uid == 0))
    finally:
        holder.kill()
        holder.wait()
