# SPDX-License-Identifier: Apache-2.0
"""The rows of tools/world.toml: what the program knows of the world and the world changes."""
import datetime
import hashlib
import pathlib
import tomllib

PATH = "tools/world.toml"
#: After so many days a row must be compared again.
LIMIT = 183


def rows(root):
    return tomllib.loads((pathlib.Path(root) / PATH).read_text(encoding="utf-8"))["constant"]


def digest(root, files):
    return hashlib.sha256(b"".join((pathlib.Path(root) / name).read_bytes() for name in files)).hexdigest()


def faults(root, row):
    """What is wrong with a row."""
    for name in ("name", "source", "look"):
        if not row.get(name):
            yield f"it has no {name}"
    if not isinstance(row.get("date"), datetime.date) or row["date"] > datetime.datetime.now(datetime.UTC).date():
        yield "its date is missing, or in the future"
    if (shown := row.get("shown")) and f'"{row.get("date")}"' not in (pathlib.Path(root) / shown).read_text(encoding="utf-8"):
        yield f"{shown} shows another date"
    missing = [name for name in row.get("files", []) if not (pathlib.Path(root) / name).is_file()]
    if missing or not row.get("files"):
        yield f"no such file: {', '.join(missing) or 'none is named'}"
    elif (now := digest(root, row["files"])) != row.get("sha256"):
        yield f"its files changed; compare them with the source, then write the date and sha256 = \"{now}\""
