# SPDX-License-Identifier: Apache-2.0
"""Shared code of the PIV peer tests: a virtual key behind a real pcscd, programs run with it, and files made by openssl."""

import os
import subprocess
import time

from lib.peer import YKIT, expect, own_folder, reader_port

DEFAULT_KEY = "0102030405060708" * 3
FOLDER = own_folder()


def run(*command, text=None, timeout=120):
    """The exit status, and what was written to either output."""
    result = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=FOLDER, timeout=timeout, errors="replace",
        env=dict(os.environ, HOME=FOLDER, XDG_STATE_HOME=FOLDER, XDG_DATA_HOME=FOLDER))
    return result.returncode, result.stdout + result.stderr


def works(name, *command, text=None, says=None):
    """Expects a program to succeed, with this output."""
    status, output = run(*command, text=text)
    fine = status == 0 and (says is None or says in output)
    expect(name, fine or f"{status}: {output.strip()[-600:]}")
    return output


def fails(name, *command, says, text=None):
    """Expects a program to fail, with this message."""
    status, output = run(*command, text=text)
    expect(name, status != 0 and says in output or f"{status}: {output.strip()[-600:]}")


def ykit_with(*before):
    """Expects ykit, with these words first, to end with a status and this output."""
    def ykit(name, *arguments, text=None, says="", status=0):
        got, output = run(YKIT, *before, *arguments, text=text)
        expect(f"ykit: {name}", got == status and says in output or f"{got}: {output.strip()[-600:]}")
        return output
    return ykit


def path(name):
    return os.path.join(FOLDER, name)


def write(name, content):
    with open(path(name), "wb") as file:
        file.write(content)
    return name


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def script(name, text, shell="sh"):
    """A program for a shell in the folder; its path."""
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    write(name, f"#!/bin/{shell}\n{text}\n".encode())
    os.chmod(path(name), 0o755)
    return path(name)


def openssl(*arguments):
    status, output = run("openssl", *arguments)
    if status != 0:
        raise SystemExit(f"FAIL openssl {' '.join(arguments)}: {output}")
    return output


def certify(public_key, name, out):
    """A certificate for a public key by an issuer of this run, so that the key itself signs nothing."""
    if not os.path.exists(path("ca.pem")):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
                "-out", "ca.pem", "-subj", "/CN=issuer", "-days", "30")
    openssl("x509", "-new", "-force_pubkey", public_key, "-subj", f"/CN={name}", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-days", "30", "-out", out)
    return out


class Key:
    """A virtual key in the reader during the block."""

    def __init__(self, firmware, name=None):
        self.firmware = firmware
        self.name = name or firmware

    def start(self):
        port = reader_port()
        command = [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", path(f"key-{self.name}.json"),
                   "--firmware", self.firmware]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        self.start()
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            status, output = run("yubico-piv-tool", "-a", "version")
            if status == 0 and self.firmware in output:
                return self
            time.sleep(0.05)
        raise SystemExit(f"FAIL a virtual key of firmware {self.firmware} in the reader: {output}")

    def __exit__(self, *_):
        """A card that is inserted before pcscd has seen the removal of the last one is never detected."""
        with open(os.environ["YKIT_TEST_PCSCD_LOG"]) as log:
            seen = log.read().count("Card Removed")
            self.process.terminate()
            self.process.wait()
            limit = time.monotonic() + 60
            while time.monotonic() < limit:
                log.seek(0)
                if log.read().count("Card Removed") > seen:
                    return
                time.sleep(0.05)
        raise SystemExit(f"FAIL pcscd has not seen the virtual key of firmware {self.firmware} go")
