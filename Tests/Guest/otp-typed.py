#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a keyboard types, read from its event device with US layout: otp-typed.py SECONDS [COUNT]. Ends with Enter,
two seconds after COUNT letters without Enter, or at the timeout."""

import glob
import os
import pathlib
import select
import struct
import sys
import time

NAMES = {2 + i: c for i, c in enumerate("1234567890-=")}
NAMES |= {16 + i: c for i, c in enumerate("qwertyuiop[]")}
NAMES |= {30 + i: c for i, c in enumerate("asdfghjkl;'`")}
NAMES |= {43: "\\"} | {44 + i: c for i, c in enumerate("zxcvbnm,./")} | {57: " ", 15: "\t"}
SHIFTED = dict(zip("1234567890-=[];'`\\,./", '!@#$%^&*()_+{}:"~|<>?', strict=True))

# The kernel keeps 64 events for a reader, and drops what a reader that has to wait for the processor does not fetch in time.
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
end, keyboards = time.monotonic() + float(sys.argv[1]), []
count = int(sys.argv[2]) if len(sys.argv) > 2 else None
while not keyboards and time.monotonic() < end:  # the kernel makes the event device after the hidraw node
    keyboards = [
        path for path in glob.glob("/sys/class/input/event*/device/name") if "Yubi" in pathlib.Path(path).read_text()
    ]
    time.sleep(0 if keyboards else 0.1)
devices = [os.open("/dev/input/" + path.split("/")[4], os.O_RDONLY | os.O_NONBLOCK) for path in keyboards]
print("ready", file=sys.stderr, flush=True)
text, shift = "", False
while devices and time.monotonic() < end:
    for device in select.select(devices, [], [], 0.2)[0]:
        for _, _, kind, code, value in struct.iter_unpack("llHHi", os.read(device, 24 * 64)):
            if kind != 1 or value == 2:
                continue
            if code in (42, 54):
                shift = value == 1
            elif value == 1 and code == 28:
                print(text)
                sys.exit(0)
            elif value == 1:
                key = NAMES.get(code, "?")
                text += (SHIFTED.get(key) or key.upper()) if shift else key
                if len(text) == count:
                    end = time.monotonic() + 2
print(text + " (no Enter)")
sys.exit(1)
