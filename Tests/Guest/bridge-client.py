#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs python-fido2's client on the bridge at a hidraw node: PINs, ceremonies, management. bridge-client.py NODE"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))
from fido2.ctap2 import Ctap2  # noqa: E402
from fido2.hid import open_device  # noqa: E402

from lib.fido2_client import ceremony, management, pins  # noqa: E402
from lib.peer import expect, failures  # noqa: E402

device = open_device(sys.argv[1])
# 129 reports: the kernel keeps 32 for the bridge, and 64 for this program.
for size in (57, 1829, 3000, 7609):
    sent = bytes(number * 31 & 0xFF for number in range(size))
    expect(f"{size} bytes come back", device.ping(sent) == sent)
pins(Ctap2(device))
for algorithm in (-7, -8):
    ceremony(device, algorithm)
management(Ctap2(device), 2)
sys.exit(1 if failures else 0)
