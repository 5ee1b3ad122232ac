# SPDX-License-Identifier: Apache-2.0
"""Shared code of the OpenPGP peer tests: a virtual card behind a real pcscd, and GnuPG in its own home folder."""

import os
import subprocess
import sys
import time

from lib.peer import YKIT, reader_port
from lib.piv_bench import FOLDER, Key, run

PINENTRY = """#!{python}
import sys
pins = dict(line.split("=", 1) for line in open("{home}/pins").read().split())
what = "user"
print("OK ready", flush=True)
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "SETDESC":
        what = "admin" if "Admin" in rest else "reset" if "Reset" in rest else "user"
        if "New" in rest or "new" in rest:
            what = "new" + what
    elif word == "SETPROMPT" and ("New" in rest or "new" in rest):
        what = "new" + what.removeprefix("new")
    if word == "GETPIN":
        with open("{home}/asked", "a") as log:
            log.write(what + "\\n")
        print("D " + pins.get(what, pins.get(what.removeprefix("new"), "")), flush=True)
    print("OK", flush=True)
    if word == "BYE":
        break
"""


class Card(Key):
    """A virtual card of a model in the reader while the block lasts."""

    def __init__(self, *options, name):
        super().__init__("", name)
        self.options = options

    def start(self):
        port = reader_port()
        command = [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", self.file, *self.options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def file(self):
        return os.path.join(FOLDER, f"card-{self.name}.json")

    def __enter__(self):
        self.start()
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            status, output = run(YKIT, "--link", "pcsc", "openpgp", "info")
            if status == 0:
                return self
            time.sleep(0.05)
        raise SystemExit(f"FAIL a virtual card {self.name} in the reader: {output}")


class GnuPG:
    """GnuPG with scdaemon over pcscd, and a pinentry that knows the PINs."""

    def __init__(self, name):
        self.home = os.path.join(FOLDER, name)
        os.mkdir(self.home, 0o700)
        entry = os.path.join(self.home, "pinentry")
        self.write("pinentry", PINENTRY.format(python=sys.executable, home=self.home))
        os.chmod(entry, 0o700)
        self.write("scdaemon.conf", "disable-ccid\npcsc-shared\n" + (
            f"log-file {self.home}/scd.log\ndebug cardio\nverbose\n" if "YKIT_TEST_SCD_LOG" in os.environ else ""))
        self.write("gpg-agent.conf", f"pinentry-program {entry}\nenable-ssh-support\nmax-cache-ttl 0\n"
                   "default-cache-ttl 0\n")
        self.write("gpg.conf", "no-tty\nbatch\ntrust-model always\n")
        self.pins(user="123456", admin="12345678")

    def write(self, name, text):
        with open(os.path.join(self.home, name), "w") as file:
            file.write(text)

    def pins(self, **pins):
        self.write("pins", "\n".join(f"{name}={pin}" for name, pin in pins.items()))

    def environment(self):
        return dict(os.environ, GNUPGHOME=self.home, HOME=self.home, LC_ALL="C")

    def run(self, *arguments, program="gpg", text=None, timeout=180):
        result = subprocess.run(
            [program, *arguments], input=text, capture_output=True, text=True, errors="replace", cwd=FOLDER,
            timeout=timeout, env=self.environment())
        return result.returncode, result.stdout + result.stderr

    def dialog(self, arguments, answers, timeout=300):
        """Runs a dialog of gpg: answers are (keyword, answer) in order, each given at its keyword."""
        process = subprocess.Popen(
            ["gpg", "--no-batch", "--command-fd", "0", "--status-fd", "1", *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=FOLDER,
            env=self.environment())
        left, said, limit = list(answers), [], time.monotonic() + timeout
        for line in process.stdout:
            said.append(line)
            if time.monotonic() > limit:
                process.kill()
            if not line.startswith("[GNUPG:] GET_"):
                continue
            keyword = line.split()[2]
            if left and left[0][0] == keyword:
                answer = left.pop(0)[1]
            elif keyword == "cardedit.prompt":
                answer = "quit"
            else:
                said.append(f"unexpected {keyword}\n")
                process.kill()
                break
            said.append(f"> {answer}\n")
            process.stdin.write(answer + "\n")
            process.stdin.flush()
        process.stdin.close()
        return process.wait(), "".join(said), left

    def close(self):
        """Ends agent and scdaemon, which would keep the card."""
        self.run("--kill", "all", program="gpgconf")
