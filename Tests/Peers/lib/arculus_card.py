# SPDX-License-Identifier: Apache-2.0
"""For arculus.py: ykit, virtual Arculus cards, and what is expected of them."""

import json
import os
import pathlib
import subprocess
import time

from lib.peer import YKIT, expect, reader_port

PIN, WRONG = "123456", "654321"
AAGUIDS = {"arculus": "9d3df6ba-282f-11ed-a261-0242ac120002", "arculus-p71": "3f59672f-20aa-4afe-b6f4-7e5e916b6d98"}


def run(*arguments, pin=PIN, text="", env=None, seconds=120):
    """Status, answer, errors."""
    result = subprocess.run(
        [YKIT, "--json", *map(str, arguments)], input=text, capture_output=True, text=True, timeout=seconds,
        env={**os.environ, **({"YKIT_PIN": pin} if pin else {}), **(env or {})})
    return result.returncode, json.loads(result.stdout or "{}"), result.stderr


class Card:
    """A virtual card in a file, used in ykit's own process."""

    def __init__(self, folder, model):
        self.file = pathlib.Path(folder) / f"{model}-{time.monotonic_ns()}.json"
        self.model = model
        expect(f"{model}: a new card", run("virtual", "new", self.file, "--model", model)[0], 0)
        expect(f"{model}: gets its PIN", self("reset", "--force", env={"YKIT_NEW_PIN": PIN})[0], 0)

    def __call__(self, *arguments, **settings):
        return run("--virtual", self.file, "arculus", *arguments, **settings)

    def tries(self):
        return self("info")[1].get("pinRetries")


def described(folder, url, **members):
    file = pathlib.Path(folder) / f"server-{time.monotonic_ns()}.json"
    file.write_text(json.dumps({"url": url, **members}))
    return file


def codes(answer):
    return answer[0], answer[1].get("statuscode"), answer[1].get("status")


class Served:
    """The card in a real reader, served by a separate process."""

    def __init__(self, file, *arguments):
        port = reader_port()
        self.process = subprocess.Popen(
            [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", file, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            if self.is_there():
                return self
            time.sleep(0.05)
        raise SystemExit("FAIL the virtual card and its reader do not find each other")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        limit = time.monotonic() + 60
        while self.is_there():
            if time.monotonic() > limit:
                raise SystemExit("FAIL the reader does not see the virtual card go")
            time.sleep(0.05)

    @staticmethod
    def is_there():
        return any(device["hasCard"] for device in run("list")[1].get("devices", []))
