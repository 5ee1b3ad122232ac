#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ykman for each line of arguments on standard input, or the Python file in a line `--script FILE`, writes the output
to the named file, and answers with the exit status. Each run is a separate process, but Python's modules, which take
seconds to load here, are loaded only once."""
import os
import runpy
import shlex
import sys

from ykman._cli import __main__ as ykman

print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        said = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdin = open(0)  # noqa: SIM115
        arguments = shlex.split(line)
        if arguments[0] == "--script":
            runpy.run_path(arguments[1], run_name="__main__")
            sys.exit(0)
        sys.argv = ["ykman", *arguments]
        ykman.main()
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
