# SPDX-License-Identifier: Apache-2.0
"""The recorded CanoKey (captures/*/canokey-*.jsonl) as a card behind a real pcscd: its features work, and missing ones are
reported usefully. A reader with Yubico's name, which other tools require, does not mislead ykit.

YKIT is the ykit to test.
"""

import json
import subprocess

from lib.fake_card import FakeCard
from lib.peer import ROOT, YKIT, beside_pcscd, expect, reader_port, within

beside_pcscd()

MANAGEMENT = bytes.fromhex("a000000527471117")
NDEF = bytes.fromhex("d2760000850101")


def ykit(*arguments):
    result = subprocess.run([YKIT, *arguments, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return result.returncode, json.loads(result.stdout or "{}")


def text(*arguments):
    result = subprocess.run([YKIT, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return result.stdout + result.stderr


def plain(command):
    """What is the same to this card: SELECT with and without Le, and a CTAP message (80 10) whatever P1 says of polling
    and whatever the form of its lengths."""
    if command[:2] == b"\x00\xa4" and len(command) == 6 + command[4]:
        return command[:5 + command[4]]
    if command[:2] != b"\x80\x10" or len(command) < 5:
        return command
    is_long = command[4] == 0 and len(command) > 7
    start, count = (7, int.from_bytes(command[5:7])) if is_long else (5, command[4])
    return b"\x80\x10\x00\x00" + command[start:start + count]


class Card(FakeCard):
    """Answers each command as the recordings do after the same selection; what was not recorded is not known (6D00), and
    neither are other applications (6A82). With `meta` it has what canokey-core had for a time: an application that passes
    for Yubico's management, of a YubiKey 5.5.5."""

    def __init__(self, port, meta=False):
        self.meta, self.selected, self.replies, self.file, self.queue = meta, None, {}, None, []
        for name in (
            "management/canokey-admin",
            "ndef/canokey-read",
            "oath/canokey-short",
            "piv/canokey-short",
            "fido/canokey-short-getinfo",
            "fido/canokey-info",
        ):
            self.learn(f"{ROOT}/captures/{name}.jsonl")
        super().__init__(int(port), self.reply, self.atr, self.deselect)

    def deselect(self):
        self.selected = None

    def learn(self, name):
        with open(name, encoding="utf-8") as lines:
            header, *events = map(json.loads, lines)
        self.atr, selected = bytes.fromhex(header["atr"]), None
        last = []
        for event in events:
            if "c" not in event:
                continue
            command, reply = bytes.fromhex(event["c"]), bytes.fromhex(event["r"])
            if command[:4] == b"\x00\xa4\x04\x00" and reply[-2:] == b"\x90\x00":
                selected = command[5:5 + command[4]]
            if command[1] in (0xA5, 0xC0):
                last.append(reply)
            else:
                last = self.replies.setdefault((selected, plain(command)), [reply])

    def reply(self, command):
        if command[:4] == b"\x00\xa4\x04\x00":
            aid = command[5:5 + command[4]]
            known = MANAGEMENT if self.meta and aid == MANAGEMENT else next(
                (own for own, _ in self.replies if own and aid[:len(own)] == own), None)
            if known is None:
                return b"\x6a\x82"
            self.selected = known
            return b"5.5.5\x90\x00" if known == MANAGEMENT else self.replies[known, b"\x00\xa4\x04\x00" + bytes([len(known)]) + known][0]
        if self.selected == MANAGEMENT:
            page = bytes.fromhex("190102023a0204000000000401410302023a0d02023a0e02023a")
            return page + b"\x90\x00" if command[1] == 0x1D else b"\x6d\x00"
        if self.selected == NDEF and command[:4] == b"\x00\xa4\x00\x0c":
            self.file = command[5:7]
        if self.selected == NDEF and command[1] == 0xB0:
            return self.piece(int.from_bytes(command[2:4], "big"), command[4])
        if command[1] not in (0xA5, 0xC0):
            self.queue = list(self.replies.get((self.selected, plain(command)), [b"\x6d\x00"]))
        return self.queue.pop(0) if self.queue else b"\x69\x85"

    def piece(self, offset, count):
        """Of a file of the tag, in whatever pieces it is read."""
        whole = self.replies[NDEF, bytes.fromhex("00b000000f" if self.file == b"\xe1\x03" else "00b0000030")][0][:-2]
        return whole[offset:offset + count] + b"\x90\x00"

    def __enter__(self):
        if not self.is_inserted(lambda: self.devices() == [True]):
            raise SystemExit("FAIL the card and its reader do not find each other")
        return self

    def __exit__(self, *_):
        self.unplug()
        if not within(20, lambda: self.devices() != [True]):
            raise SystemExit("FAIL the reader does not notice that the card is gone")

    @staticmethod
    def devices():
        return [device["hasCard"] for device in ykit("list", "--readers")[1].get("devices") or []]


def check_identity(kind):
    (listed,) = ykit("list")[1]["devices"]
    expect(f"{kind}: list names it", (listed["name"], listed["serial"], listed["firmware"]),
           ("CanoKey Virt-Card", "00000000", "3.0.0-0-g26dc6e85"))
    status, info = ykit("info")
    expect(f"{kind}: info names it", (status, info["manufacturer"], info["name"]), (0, "CanoKey", "CanoKey Virt-Card"))
    there = [one["name"] for one in info["applications"] if one["usb"] == "enabled"]
    expect(f"{kind}: info tells what it has", there, ["FIDO U2F", "FIDO2", "OATH", "PIV"])
    expect(f"{kind}: ... for people, too", "applications  FIDO U2F, FIDO2, OATH, PIV" in text("info"))
    expect(f"{kind}: no flaw of YubiKeys is told of it", info["flaws"], None)
    status, answer = ykit("doctor")
    said = " ".join(check["seen"] for check in answer["checks"])
    expect(f"{kind}: the doctor has nothing to say", (status, answer["problem"]), (0, None))
    expect(f"{kind}: ... and names it", "CanoKey Virt-Card with firmware 3.0.0" in said and "YubiKey 5" not in said)
    expect(f"{kind}: ... and what answers", "applications of the card that answer: FIDO U2F, FIDO2, OATH, PIV" in said)


def check_missing(kind):
    for arguments in (["config", "usb", "--list"], ["config", "nfc", "--list"], ["config", "usb", "-f", "-d", "oath"],
                      ["config", "mode", "ccid", "-f"], ["config", "lock-code", "--generate", "-f"], ["config", "reset", "-f"]):
        status, answer = ykit(*arguments)
        expect(f"{kind}: {' '.join(arguments)} is not for it", (status, answer["error"]["code"], answer["error"]["message"]),
               (11, "application-missing", "this key has no management application: it is not a YubiKey"))
    for arguments in (["otp", "info"], ["otp", "calculate", "2", "00"], ["otp", "swap", "-f"]):
        status, answer = ykit(*arguments)
        expect(f"{kind}: {' '.join(arguments)} says what is missing", (status, answer["error"]["code"]), (11, "application-missing"))
    status, answer = ykit("info", "--check-fips")
    expect(f"{kind}: it has no FIPS mode", (status, answer["error"]["code"]), (11, "not-supported"))


def check_served(kind):
    status, answer = ykit("nfc", "read")
    expect(f"{kind}: its tag is read", (status, [one["uri"] for one in answer["records"] or []]), (0, ["https://canokeys.org"]))
    status, answer = ykit("oath", "list")
    expect(f"{kind}: OATH is served", (status, len(answer["accounts"] or [])), (0, 10))
    status, answer = ykit("piv", "info")
    expect(f"{kind}: PIV is served", (status, answer["firmware"]), (0, "5.7.0"))
    status, answer = ykit("fido2", "info")
    expect(f"{kind}: FIDO is served", (status, "FIDO_2_1" in (answer["versions"] or [])), (0, True))
    status, answer = ykit("u2f", "version")
    expect(f"{kind}: U2F is served", (status, answer["u2fVersion"]), (0, "U2F_V2"))


def test_canokey():
    port = reader_port()
    with Card(port):
        for test in (check_identity, check_missing, check_served):
            test("CanoKey 3.0")
    with Card(port, meta=True):
        for test in (check_identity, check_missing):
            test("one that passes for a YubiKey")
