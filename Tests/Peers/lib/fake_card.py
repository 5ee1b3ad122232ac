# SPDX-License-Identifier: Apache-2.0
"""A card in a reader of pcscd whose answers a test chooses, in the protocol of vpcd."""

import contextlib
import socket
import threading
import time

from lib.peer import received, within

ATR = bytes.fromhex("3bfd1300008131fe158073c021c057597562694b657940")


def crc(data):
    """The check value of a frame (ISO/IEC 13239), little-endian."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x8408 if value & 1 else value >> 1
    return (~value & 0xFFFF).to_bytes(2, "little")


class FakeCard:
    """In the reader from the start; `answer` is what it replies to each command, or a function of the command."""

    def __init__(self, port, answer, atr=ATR, powered=lambda: None):
        self.port, self.answer, self.atr, self.powered = port, answer, atr, powered
        self.plug()

    def plug(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        threading.Thread(target=self.serve, args=[self.socket], daemon=True).start()

    def is_inserted(self, is_seen):
        """Whether the service comes to see the card. When powering down the former card failed, pcscd 1.9.9 records an
        empty reader; if its polling thread, which looks every 0.4 s, did not see that card leave, it does not see this
        one come. So a card that is not seen is taken out for longer than that and put in again."""
        for _ in range(5):
            if within(10, is_seen):
                return True
            self.unplug()
            time.sleep(2)
            self.plug()
        return False

    def serve(self, link):
        try:
            while True:
                message = received(link, int.from_bytes(received(link, 2), "big"))
                if len(message) == 1 and message[0] != 4:  # power on, power off, reset; 4 asks for the ATR
                    self.powered()
                    continue
                answer = self.atr if len(message) == 1 else self.answer(message) if callable(self.answer) else self.answer
                link.sendall(len(answer).to_bytes(2, "big") + answer)
        except (EOFError, OSError):
            return

    def unplug(self):
        with contextlib.suppress(OSError):  # The reader may have hung up.
            self.socket.shutdown(socket.SHUT_RDWR)
