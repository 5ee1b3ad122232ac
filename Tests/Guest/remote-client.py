#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs python-fido2's client on a remote key at a hidraw node, which has a PIN at its other end. remote-client.py NODE"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))
from fido2.client import DefaultClientDataCollector, Fido2Client  # noqa: E402
from fido2.ctap import CtapError  # noqa: E402
from fido2.ctap2 import Ctap2  # noqa: E402
from fido2.hid import open_device  # noqa: E402
from fido2.server import Fido2Server  # noqa: E402

from lib.peer import expect, failures  # noqa: E402

device = open_device(sys.argv[1])
ctap = Ctap2(device)
client = Fido2Client(device, DefaultClientDataCollector("https://example.com"))
server = Fido2Server({"id": "example.com", "name": "Example"})
options, state = server.register_begin({"id": b"1", "name": "alice"}, user_verification="required")
made = server.register_complete(state, client.make_credential(options.public_key))
expect("python-fido2 registers with verification at the near end", made.is_user_verified())
options, state = server.authenticate_begin([made.credential_data], user_verification="required")
signed = client.get_assertion(options.public_key).get_response(0)
server.authenticate_complete(state, [made.credential_data], signed)
expect("and signs in", signed.response.authenticator_data.is_user_verified())


def status(name, call):
    try:
        call()
    except CtapError as error:
        return error.code
    return f"{name} is done"


refused = CtapError.ERR.NOT_ALLOWED
expect("no token is issued to the far end", status("a token", lambda: ctap.client_pin(1, 5, pin_hash_enc=bytes(16))), refused)
expect("no PIN is changed", status("a new PIN", lambda: ctap.client_pin(
    1, 4, pin_uv_param=bytes(16), new_pin_enc=bytes(64), pin_hash_enc=bytes(16))), refused)
expect("no reset", status("a reset", ctap.reset), refused)
expect("no list", status("a list", lambda: ctap.send_cbor(0x0A, {1: 1})), refused)
expect("no configuration", status("a configuration", lambda: ctap.send_cbor(0x0D, {1: 2})), refused)
sys.exit(1 if failures else 0)
