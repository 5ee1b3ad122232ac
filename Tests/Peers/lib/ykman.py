# SPDX-License-Identifier: Apache-2.0
"""ykman's command line in this process, since starting it for each command would take most of a test's time."""

import contextlib

from click.testing import CliRunner
from ykman._cli.__main__ import cli

from lib.peer import expect
from lib.piv_bench import FOLDER


class Ykman:
    """A group of ykman's commands, or all of them."""

    def __init__(self, *group):
        self.group = group

    def __call__(self, *arguments, text=None):
        """The exit status, and what was written to either output."""
        with contextlib.chdir(FOLDER):
            result = CliRunner().invoke(cli, [*self.group, *arguments], prog_name="ykman", standalone_mode=True, input=text)
        failure = "" if result.exception is None else repr(result.exception)
        return result.exit_code, result.output + failure

    def works(self, name, *arguments, says="", text=None):
        """Expects a command to succeed, with this output."""
        status, output = self(*arguments, text=text)
        expect(f"ykman: {name}", status == 0 and says in output or f"{status}: {output.strip()[-600:]}")
        return output

    def refuses(self, name, *arguments, says=""):
        """Expects a command to fail, with this message."""
        status, output = self(*arguments)
        expect(f"ykman: {name}", status != 0 and says in output or f"{status}: {output.strip()[-600:]}")
