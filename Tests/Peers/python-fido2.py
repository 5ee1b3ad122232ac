# SPDX-License-Identifier: Apache-2.0
"""python-fido2 as client and as relying party on the virtual key, through a real pcscd.

YKIT is the ykit to test. YKIT_TEST_SERVE replaces `YKIT virtual serve`, to test a different server.
"""

import os
import shlex
import subprocess
import sys
import time

from lib.fido2_client import everything
from lib.peer import YKIT, beside_pcscd, reader_port

beside_pcscd()

sys.dont_write_bytecode = True


def attached():
    from fido2.pcsc import CtapPcscDevice

    for _ in range(600):
        for device in CtapPcscDevice.list_devices():
            return device
        time.sleep(0.1)
    sys.exit("FAIL no key appeared in the reader")


def test_python_fido2():
    serve = shlex.split(os.environ.get("YKIT_TEST_SERVE", f"{shlex.quote(YKIT)} virtual serve"))
    port = reader_port()
    server = subprocess.Popen(
        [*serve, "--vpcd", f"127.0.0.1:{port}"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        everything(attached(), (-7, -8), ["U2F_V2", "FIDO_2_0", "FIDO_2_1"])
    finally:
        server.kill()
        server.wait()
