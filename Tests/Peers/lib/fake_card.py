# SPDX-License-Identifier: Apache-2.0
"""A card in a reader of pcscd whose answers a test chooses, in the protocol of vpcd."""

import socket
import threading

from lib.peer import received

ATR = bytes.fromhex("3bfd1300008131fe158073c021c057597562694b657940")


class FakeCard(threading.Thread):
    """In the reader from the start; `answer` is what it replies to each command, or a function of the command."""

    def __init__(self, port, answer, atr=ATR, powered=lambda: None):
        super().__init__(daemon=True)
        self.answer, self.atr, self.powered = answer, atr, powered
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.start()

    def run(self):
        try:
            while True:
                message = received(self.socket, int.from_bytes(received(self.socket, 2), "big"))
                if len(message) == 1 and message[0] != 4:  # power on, power off, reset; 4 asks for the ATR
                    self.powered()
                    continue
                answer = self.atr if len(message) == 1 else self.answer(message) if callable(self.answer) else self.answer
                self.socket.sendall(len(answer).to_bytes(2, "big") + answer)
        except (EOFError, OSError):
            return

    def unplug(self):
        self.socket.shutdown(socket.SHUT_RDWR)
