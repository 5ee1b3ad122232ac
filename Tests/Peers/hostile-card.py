# SPDX-License-Identifier: Apache-2.0
"""Cards whose answers are not responses, over a real pcscd: an empty answer, which blocks the reader, and answers without a
status word. Each is told, in time, and the next card in the reader works."""

import json
import subprocess
import time

from smartcard import scard

from lib.fake_card import FakeCard
from lib.peer import REAL, beside_pcscd, expect, reader_port, within

beside_pcscd()

TIMEOUT = 3


def has_card():
    context = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)[1]
    try:
        readers = scard.SCardListReaders(context, [])[1]
        states = scard.SCardGetStatusChange(context, 0, [(readers[0], scard.SCARD_STATE_UNAWARE)])[1]
        return bool(states[0][1] & scard.SCARD_STATE_PRESENT)
    finally:
        scard.SCardReleaseContext(context)


class Card(FakeCard):
    """A card in the reader that has an ATR and gives one answer to every command."""

    def __init__(self, answer):
        super().__init__(reader_port(), answer)

    def __enter__(self):
        expect("a card is inserted", self.is_inserted(has_card))

    def __exit__(self, *_):
        self.unplug()
        expect("and taken out", within(20, lambda: not has_card()))


def ykit(*words):
    """The exit status, the error's code, message and hint, and whether the verb ended in time."""
    started = time.monotonic()
    done = subprocess.run(
        [REAL, "--json", "--link", "pcsc", "--timeout", str(TIMEOUT), *words], capture_output=True, text=True, timeout=60)
    error = (json.loads(done.stdout)["error"] or {}) if done.stdout else {}
    return done.returncode, error.get("code"), error.get("message"), error.get("hint"), time.monotonic() - started


def test_hostile_card():
    verbs = [("oath", "list"), ("piv", "info"), ("fido2", "info"), ("openpgp", "info"), ("info",), ("apdu", "--send", "00a4040000")]
    for answer in (b"", b"\x90", b"\x61"):
        with Card(answer):
            for verb in verbs:
                status, code, message, hint, seconds = ykit(*verb)
                name = f"{' '.join(verb)} of a card that answers '{answer.hex()}'"
                expect(f"{name}: in time", seconds < TIMEOUT + 3)
                if answer:
                    expect(f"{name}: malformed", (status, code), (13, "malformed"))
                else:
                    expect(f"{name}: no answer", (status, code), (10, "timed-out"))
                    expect(f"{name}: what to do", "re-insert the key" in (hint or ""))
    with Card(bytes.fromhex("6a82")):
        expect("the next card is reached", ykit("oath", "list")[:2], (11, "application-missing"))
