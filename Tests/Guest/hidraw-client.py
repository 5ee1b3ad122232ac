#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs python-fido2's client on the key at a hidraw node: hidraw-client.py NODE VERSION… (of CTAP, as in getInfo)."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))
from fido2.hid import open_device  # noqa: E402

from lib.fido2_client import everything  # noqa: E402
from lib.peer import failures  # noqa: E402

everything(open_device(sys.argv[1]), (-7, -8, -257), sys.argv[2:])
sys.exit(1 if failures else 0)
