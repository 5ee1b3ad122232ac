# SPDX-License-Identifier: Apache-2.0
"""A pseudo-terminal with a program in it, for tests that require a user."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time


class Terminal:
    """A program on its own terminal; `seen` is the output so far."""

    def __init__(self, command, environment=None, folder=None, columns=200, rows=50):
        self.seen = b""
        self.status = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                if folder:
                    os.chdir(folder)
                os.execvpe(command[0], command, environment or os.environ)
            finally:
                os._exit(127)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(5)
        os.close(self.master)

    def read(self, seconds):
        """Reads output until a timeout; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.master, 65536)
        except OSError:
            piece = b""
        self.seen += piece
        return bool(piece)

    def expect(self, pattern, seconds=20, after=0):
        """Waits for a pattern after a position; returns the position after the match, or None."""
        limit = time.monotonic() + seconds
        while True:
            found = re.compile(pattern.encode()).search(self.seen, after)
            if found:
                return found.end()
            if time.monotonic() > limit:
                return None
            if not self.read(0.05):
                found = re.compile(pattern.encode()).search(self.seen, after)
                return found.end() if found else None

    def type(self, text):
        """Types a text; ^C is \\x03, ^D \\x04, ^Z \\x1a."""
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    @property
    def echoes(self):
        """Whether the terminal echoes input."""
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def wait(self, seconds=30):
        """Waits for the end; returns the exit status, negative for a signal, None if it did not end."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while select.select([self.master], [], [], 0)[0] and self.read(0):
                    pass
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
        return None


def run(command, environment=None, folder=None, answers=(), seconds=30, columns=200):
    """Runs a program, typing each answer when its pattern appears; returns its exit status and output."""
    with Terminal(command, environment, folder, columns) as terminal:
        place = 0
        for pattern, answer in answers:
            place = terminal.expect(pattern, seconds, place)
            if place is None:
                return ("no " + pattern, terminal.seen)
            terminal.type(answer)
        return (terminal.wait(seconds), terminal.seen)
