# SPDX-License-Identifier: Apache-2.0
"""A Nitrokey 3 in the reader of a real pcscd, for Nitrokey's own client (nitrokey) and its own tests (pynitrokey), which look for
one on USB. As a plugin of pytest it is what these tests find.
"""

import sys
import types

import smartcard.System
from nitrokey.nk3.secrets_app import CCIDInstruction, RawBytes, SecretsApp
from nitrokey.trussed import App
from smartcard.Exceptions import CardConnectionException, NoCardException

from lib.peer import within


def connected():
    """A connection to the card, or none while pcscd has not noticed it."""
    connection = smartcard.System.readers()[0].createConnection()
    try:
        connection.connect()
    except (NoCardException, CardConnectionException):
        return None
    return connection


class Device:
    """What SecretsApp sends commands to. An answer has the status word first, as over HID."""

    def __init__(self):
        self.card = within(10, connected)
        self.connection = self
        self.select()

    def select(self):
        SecretsApp(self)._send_receive(CCIDInstruction.Select, [RawBytes(list(App.SECRETS.aid()))])

    def _call_app(self, app, response_len=None, data=b""):
        reply, first, second = self.card.transmit(list(data))
        while first == 0x61:
            more, first, second = self.card.transmit([0, 0xC0, 0, 0, second])
            reply += more
        return bytes([first, second, *reply])

    def set_secrets_pin_cache(self):
        """Their own connection selects before each command but the one after a PIN; this one does so once."""

    def __deepcopy__(self, memo):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.card.disconnect()


class Context:
    """Finds the key in the reader."""

    def __init__(self, path):
        pass

    def connect_device(self):
        return Device()


def pytest_addoption():
    """Before conftest.py is read: pynitrokey's command line, with which it finds a key, needs drivers of other devices."""
    for name, members in (("pynitrokey.cli", {}), ("pynitrokey.cli.exceptions", {"CliException": Exception}),
                          ("pynitrokey.cli.nk3", {"Context": Context}), 
                          ("usb", dict.fromkeys(("Device", "Configuration", "Interface"), object))):
        module = types.ModuleType(name)
        vars(module).update(members)
        sys.modules[module.__name__] = module
