# SPDX-License-Identifier: Apache-2.0
"""The report of a run: report.json for programs, report.txt to read, and both with the recordings in one archive."""

import gzip
import io
import json
import tarfile
import textwrap


def short(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else text[:97] + "…"


def readable(report):
    key, like = report["key"], report["virtualKey"]
    yield f"{report['ykit']} on a real key: {key['name']}, firmware {key['firmware']}, {report['mode']}, {report['link']}"
    yield f"compared with the virtual key of model {like['model']}, firmware {like['firmware']}"
    if not report["finished"]:
        yield "The run was interrupted."
    counts = report["counts"]
    yield f"{counts['same']} steps as expected, {counts['deviates']} with deviations, {counts['skipped']} not done"
    for application, state in report["applications"].items():
        yield ""
        yield f"{application}: {state}"
        for step in report["steps"]:
            if step["application"] == application:
                mark = {"same": "ok", "deviates": "!!", "skipped": "--"}[step["verdict"]]
                yield f"  {mark} {step['name']} ({' '.join(step['words'])}), {step['seconds']:.1f} s"
                if step.get("reason"):
                    yield f"       {step['reason']}"
                for one in step["deviations"]:
                    yield from textwrap.wrap(
                        f"{one['kind']}: {one['where'] + ': ' if one['where'] else ''}the key: {short(one['key'])}; "
                        f"expected: {short(one['expected'])}", 120, initial_indent=" " * 7, subsequent_indent=" " * 9)


def write(report, folder):
    """Writes both files and the archive beside the folder; returns the archive."""
    steps = report["steps"]
    report["counts"] = {verdict: sum(step["verdict"] == verdict for step in steps) for verdict in ("same", "deviates", "skipped")}
    (folder / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "report.txt").write_text("\n".join(readable(report)) + "\n", encoding="utf-8")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in [folder / "report.json", folder / "report.txt", *sorted((folder / "captures").glob("*.jsonl"))]:
            archive.add(path, f"{folder.name}/{path.relative_to(folder)}")
    target = folder.with_name(folder.name + ".tar.gz")
    target.write_bytes(gzip.compress(packed.getvalue()))
    return target
