# SPDX-License-Identifier: Apache-2.0
"""A report as a test: each of its recordings, replayed strictly, gives the answer that the key gave."""

import json
import pathlib
import tempfile

from .runner import Key


def replays(ykit, folder):
    """Yields what is different in the replay of a report: (step, what it was, what it is now). A result that is a secret cannot
    be replayed, which the replay says."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "message").write_text("message\n")
        for step in report["steps"]:
            if step["capture"] is None or "--reinsert" in step["words"]:
                continue
            key = Key(ykit, ["--replay", folder / step["capture"]], work, work)
            result = key.run(step["words"], None, step["variables"], step["input"])
            if step["save"]:
                (work / step["save"]).write_text(json.dumps(step["answer"]))
            if result.error != "overwritten" and (result.code, result.answer) != (step["exitCode"], step["answer"]):
                yield f"{step['application']}: {step['name']}", step["answer"], result.answer
