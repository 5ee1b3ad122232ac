#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs python-fido2's client without callbacks, which can ask for no PIN, on a guarded key at a hidraw node: guard-client.py NODE.
The key has a PIN."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))
from fido2.client import ClientError, DefaultClientDataCollector, Fido2Client  # noqa: E402
from fido2.ctap import CtapError  # noqa: E402
from fido2.ctap2 import Ctap2  # noqa: E402
from fido2.hid import CTAPHID, open_device  # noqa: E402
from fido2.server import Fido2Server  # noqa: E402

from lib.peer import expect, failures  # noqa: E402

device = open_device(sys.argv[1])
client = Fido2Client(device, DefaultClientDataCollector("https://example.com"))
server = Fido2Server({"id": "example.com", "name": "Example"})


def ceremonies():
    """Registration and sign-in for each requirement of verification; how many succeed."""
    done = 0
    for number, requirement in enumerate(("discouraged", "preferred", "required")):
        try:
            options, state = server.register_begin(
                {"id": b"%d" % number, "name": f"user{number}"}, resident_key_requirement="required", user_verification=requirement)
            made = server.register_complete(state, client.make_credential(options.public_key))
            done += 1
            options, state = server.authenticate_begin([made.credential_data], user_verification=requirement)
            signed = client.get_assertion(options.public_key).get_response(0)
            server.authenticate_complete(state, [made.credential_data], signed)
            done += 1
        except ClientError as error:
            print(f"{requirement}: {error}")
    return done


expect("python-fido2 without callbacks passes", ceremonies(), 6)
options, state = server.authenticate_begin(user_verification="required")
answer = client.get_assertion(options.public_key)
expect("of three accounts it sees the one that was chosen", [one.user["name"] for one in answer.get_assertions()], ["user1"])
for size in (1, 57, 58, 1024, 7609):
    sent = os.urandom(size)
    expect(f"PING of {size} bytes", device.call(CTAPHID.PING, sent) == sent)
ctap = Ctap2(device)


def status(call):
    try:
        call()
    except CtapError as error:
        return error.code
    return None


refused = CtapError.ERR.NOT_ALLOWED
expect("a reset is refused", status(ctap.reset), refused)
expect("a list of credentials", status(lambda: ctap.send_cbor(0x0A, {1: 1})), refused)
expect("a configuration", status(lambda: ctap.send_cbor(0x0D, {1: 2})), refused)
expect("a new PIN", status(lambda: ctap.client_pin(1, 4, pin_uv_param=bytes(16), new_pin_enc=bytes(64), pin_hash_enc=bytes(16))), refused)
sys.exit(1 if failures else 0)
