# SPDX-License-Identifier: Apache-2.0
"""python-fido2 as client and as relying party on the virtual key, through a real pcscd.

YKIT is the ykit to test. YKIT_TEST_SERVE replaces `YKIT virtual serve`, to test a different server.
"""

import contextlib
import os
import shlex
import subprocess
import sys
import time

from lib.fido2_client import everything, newest
from lib.peer import YKIT, beside_pcscd, reader_port

beside_pcscd()

sys.dont_write_bytecode = True

READER = f"127.0.0.1:{reader_port()}"


def attached():
    from fido2.pcsc import CtapPcscDevice

    for _ in range(600):
        for device in CtapPcscDevice.list_devices():
            return device
        time.sleep(0.1)
    sys.exit("FAIL no key appeared in the reader")


@contextlib.contextmanager
def served(*options):
    """A virtual key in a reader; yields what python-fido2 has of it."""
    serve = shlex.split(os.environ.get("YKIT_TEST_SERVE", f"{shlex.quote(YKIT)} virtual serve"))
    server = subprocess.Popen(
        [*serve, "--vpcd", READER, *options], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    device = None
    try:
        device = attached()
        yield device
    finally:
        if device:
            device.close()
        server.kill()
        server.wait()


def test_python_fido2():
    with served() as device:
        everything(device, (-7, -8), ["U2F_V2", "FIDO_2_0", "FIDO_2_1_PRE", "FIDO_2_1"])


def test_firmware58():
    with served("--firmware", "5.8.0") as device:
        newest(device)
