# SPDX-License-Identifier: Apache-2.0
"""Who sits at the key: what is said to them and asked of them, one thing at a time."""

import sys


def say(text=""):
    print(text, flush=True)


def confirm(question, wanted):
    """Whether the person types exactly what is wanted. No terminal, no consent."""
    if not sys.stdin.isatty():
        say("device: this asks a person; run it at a terminal")
        return False
    print(f"{question} ", end="", flush=True)
    return sys.stdin.readline().strip() == wanted
