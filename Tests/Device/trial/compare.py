# SPDX-License-Identifier: Apache-2.0
"""How a key's answers differ from those of virtual keys of its model.

Two virtual keys answer each verb. Where both say the same, the key has to say it too; where they differ, as in a signature or an
identifier, it only has to say something of the same kind.
"""

import re

# What depends on the computer, on the maker or on the day.
OWN = {"reader", "path", "link", "transport", "interface", "atr", "usb", "device", "deviceVersion", "aaguid", "partNumber", "file",
       "message", "hint", "certifications", "identifier", "time", "clock", "validFrom", "validTo", "notBefore", "notAfter", "created"}
QUIET = re.compile(r"KEEPALIVE|CTAPHID INIT|continuation|^OTP status|^the ")


def kind(value):
    if value is None:
        return "null"
    return {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}[type(value)]


def answers(key, one, two, where=""):
    """Yields (member, what the key answers, what the virtual key answers) for each difference."""
    if one == two == key:
        return
    if where.rsplit(".", 1)[-1].removesuffix("UTC") in OWN:
        return
    if kind(key) != kind(one):
        if kind(one) == kind(two):
            yield where, key, one
    elif isinstance(key, dict):
        yield from objects(key, one, two if isinstance(two, dict) else one, where)
    elif isinstance(key, list):
        same = isinstance(two, list) and len(one) == len(two)
        if same and len(key) != len(one):
            yield where, key, one
        elif same:
            for index, each in enumerate(key):
                yield from answers(each, one[index], two[index], f"{where}[{index}]")
    elif one == two:
        yield where, key, one


def objects(key, one, two, where):
    for name in [*one, *(key.keys() - one.keys())]:
        place = f"{where}.{name}".lstrip(".")
        if name not in one:
            yield place, key[name], "no such member"
        elif name not in key:
            yield place, "no such member", one[name]
        else:
            yield from answers(key[name], one[name], two.get(name, one[name]), place)


def exchanges(shown):
    """The exchanges of a recording that `ykit capture show --json` decoded: (what it was, the length of the reply)."""
    found = []
    for event in shown["events"]:
        if QUIET.search(event["summary"]):
            continue
        summary = re.sub(r" at [-0-9]{10} [:0-9]{8} UTC", "", re.sub(r"channel [0-9a-f]{8}", "its channel", event["summary"]))
        # A signature is a few bytes shorter or longer each time.
        summary = re.sub(r"of \d+ bytes|61[0-9a-f]{2} \(\d+ or more bytes to come\)", "of its bytes", summary)
        length = len(event["bytes"][1]) // 2 - 2 if len(event["bytes"]) == 2 else None
        found.append((summary, length))
    return found


def differs(length, other):
    """Whether a reply has another length; one with a signature is a few bytes shorter or longer each time."""
    return length != other and (None in (length, other) or min(length, other) < 64 or abs(length - other) > 6)


def traffic(key, one, two):
    """Yields (which exchange, what the key did, what the virtual key did) for the first differences of two recordings."""
    commands = [[summary.split(" → ")[0] for summary, _ in each] for each in (key, one, two)]
    if commands[1] != commands[2]:
        return
    for index, ((did, length), (expected, other), (also, another)) in enumerate(zip(key, one, two, strict=False), 1):
        if did != expected and expected == also:
            yield f"exchange {index}", did, expected
            return
        if other == another and differs(length, other):
            yield f"exchange {index}, {did.split(' → ')[0]}", f"{length} bytes", f"{other} bytes"
            return
    if len(key) != len(one):
        yield "exchanges", f"{len(key)} of them", f"{len(one)} of them"
