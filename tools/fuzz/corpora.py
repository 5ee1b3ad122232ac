#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The corpora of the fuzz targets: tools/fuzz/corpus has a file for each target, with an input a line, in base64.

    tools/fuzz/corpora.py unpack TARGET FOLDER     writes a file for each input, as libFuzzer reads them
    tools/fuzz/corpora.py add TARGET FOLDER        adds the files of a folder to the corpus
"""
import base64
import hashlib
import pathlib
import sys

CORPORA = pathlib.Path(__file__).resolve().parent / "corpus"


def inputs(target):
    path = CORPORA / target
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [base64.b64decode(line, validate=True) for line in lines]


def add(target, more):
    """Adds inputs, without repeating one. The order is that of their digests, so that two additions seldom meet in a merge."""
    every = {hashlib.sha1(data).digest(): data for data in [*inputs(target), *more]}
    CORPORA.mkdir(exist_ok=True)
    (CORPORA / target).write_text("".join(base64.b64encode(every[digest]).decode() + "\n" for digest in sorted(every)))


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("unpack", "add"):
        sys.exit(__doc__.strip())
    action, target, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if action == "add":
        add(target, [path.read_bytes() for path in folder.iterdir()])
        return
    for data in inputs(target):
        (folder / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)


if __name__ == "__main__":
    main()
