# SPDX-License-Identifier: Apache-2.0
"""How two programs that were built of the same source differ, section by section."""
import re
import subprocess

# What differs with the symbols, or names them.
HARMLESS = {".note.gnu.build-id": "a hash of the program with its symbols", ".gnu_debuglink": "the checksum of the file of symbols"}
ROW = re.compile(r"^\s*\[\s*\d+\] (\S+)\s+(\S+)\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) ", re.M)
TEXT = re.compile(rb"[\x20-\x7e]{6,}")


def sections(path):
    """The content of each section of an ELF file."""
    table = subprocess.run(["readelf", "-W", "-S", path], capture_output=True, text=True, check=True).stdout
    data = path.read_bytes()
    return {name: b"" if kind == "NOBITS" else data[int(offset, 16):int(offset, 16) + int(size, 16)]
            for name, kind, offset, size in ROW.findall(table)}


def first_difference(one, two):
    """What differs first, as text where it is text."""
    names = [set(TEXT.findall(content)) for content in (one, two)]
    only = [min(names[index] - names[1 - index], default=b"").decode() for index in (0, 1)]
    if any(only):
        return f"'{only[0]}' against '{only[1]}'"
    at = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return f"byte {at} of {len(one)} against {len(two)}"


def differences(one, two):
    """Where two files differ: (section, explanation, whether it is harmless)."""
    if one.read_bytes() == two.read_bytes():
        return []
    if one.read_bytes()[:4] != b"\x7fELF" or two.read_bytes()[:4] != b"\x7fELF":
        return [("", first_difference(one.read_bytes(), two.read_bytes()), False)]
    first, second = sections(one), sections(two)
    found = []
    for name in [*first, *(second.keys() - first.keys())]:
        if first.get(name) != second.get(name):
            why = HARMLESS.get(name)
            found.append((name, why or first_difference(first.get(name, b""), second.get(name, b"")), why is not None))
    return found or [("", "the headers of the file", False)]
