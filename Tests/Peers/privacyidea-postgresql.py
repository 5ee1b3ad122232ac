# SPDX-License-Identifier: Apache-2.0
"""Runs the main parts of other tests for approvals and second factors with a privacyIDEA that uses PostgreSQL.

YKIT is the ykit to test.
"""

import os
import pathlib
import subprocess
import time

from lib.peer import expect, parts

HERE = pathlib.Path(__file__).resolve().parent
PARTS = {
    "approve.py": ["approving", "declining", "presence", "several"],
    "approve-codes.py": ["codes", "containers"],
    "second-factor.py": ["pins", "registration", "users", "keys", "api_keys", "trust"],
}


def test_postgresql():
    environment = {**os.environ, "YKIT_TEST_PRIVACYIDEA": "--postgresql --small-keys"}
    for name, names in PARTS.items():
        start = time.monotonic()
        expect(f"{name} with PostgreSQL", subprocess.run(parts(HERE / name, *names), env=environment).returncode, 0)
        print(f"     {name} with PostgreSQL: {time.monotonic() - start:.0f} s", flush=True)
