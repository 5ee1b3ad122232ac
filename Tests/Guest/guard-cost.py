#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures ceremonies at a key and through its guard: guard-cost.py KEY GUARD MILLISECONDS. The site is asked for once."""

import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))
from fido2.ctap2 import Ctap2  # noqa: E402
from fido2.hid import open_device  # noqa: E402

from lib.peer import expect, failures  # noqa: E402

ROUNDS = 15
HASH = bytes(32)


def ceremonies(path, allowed):
    """The median of some ceremonies in milliseconds. A node shows the reports of all programs, so it is open for these only."""
    device = open_device(path)
    ctap, taken = Ctap2(device), []
    for _ in range(ROUNDS):
        started = time.monotonic()
        ctap.get_assertion("example.com", HASH, allowed)
        taken.append((time.monotonic() - started) * 1000)
    device.close()
    return statistics.median(taken)


device = open_device(sys.argv[2])
rp, user = {"id": "example.com", "name": "Example"}, {"id": b"1", "name": "cost"}
made = Ctap2(device).make_credential(HASH, rp, user, [{"type": "public-key", "alg": -7}])
device.close()
credential = {"type": "public-key", "id": made.auth_data.credential_data.credential_id}
direct, through = (ceremonies(path, [credential]) for path in sys.argv[1:3])
print(f"note: a ceremony takes {direct:.1f} ms at the key and {through:.1f} ms through the guard, {through - direct:.1f} ms more")
expect(f"a ceremony through the guard takes at most {sys.argv[3]} ms more than at the key", through - direct <= float(sys.argv[3]))
sys.exit(1 if failures else 0)
