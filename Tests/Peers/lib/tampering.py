# SPDX-License-Identifier: Apache-2.0
"""A virtual key in a reader of pcscd whose answers are changed on their way, in the protocol of vpcd."""

import socket
import threading

from lib.peer import received


class Tampering:
    """Between `ykit virtual serve --vpcd`, which connects to `port`, and a reader: `change(command, answer)` is what the reader
    gets instead of the answer."""

    def __init__(self, reader, change=lambda command, answer: answer):
        self.reader, self.change = reader, change
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                card, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[card], daemon=True).start()

    def serve(self, card):
        """One plugging-in: a command from the reader, and the card's answer to it, until one of them hangs up."""
        with card, socket.create_connection(("127.0.0.1", self.reader)) as reader:
            try:
                while True:
                    command = self.message(reader)
                    card.sendall(len(command).to_bytes(2, "big") + command)
                    if len(command) == 1 and command[0] != 4:  # power on, power off, reset have no answer
                        continue
                    answer = self.message(card)
                    if len(command) > 1:
                        answer = self.change(command, answer)
                    reader.sendall(len(answer).to_bytes(2, "big") + answer)
            except (EOFError, OSError):
                return

    @staticmethod
    def message(link):
        return received(link, int.from_bytes(received(link, 2), "big"))

    def close(self):
        self.listener.close()
