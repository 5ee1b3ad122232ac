# SPDX-License-Identifier: Apache-2.0
"""A virtual key on a contactless reader behind a real pcscd: read by OpenSC and by ykit, waited for, and removed.

YKIT is the ykit to test.
"""

import json
import os
import re
import subprocess

import ndef
from yubiotp import otp as yubiotp

from lib.fake_card import crc
from lib.peer import YKIT, beside_pcscd, expect, own_folder, reader_port, within

beside_pcscd("--name", "ACS ACR122U PICC Interface", YKIT_NOTE_ROUTE="NFC")
FOLDER = own_folder()

KEY = bytes(range(1, 17))


def start(*arguments):
    return subprocess.Popen([YKIT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "HOME": FOLDER}, cwd=FOLDER)


def ykit(*arguments):
    process = start(*arguments)
    output, errors = process.communicate(timeout=120)
    return process.returncode, json.loads(output or "{}"), errors


def has_card():
    answer = ykit("list", "--readers", "--json")[1]
    return [device["hasCard"] for device in answer.get("devices", [])] == [True]


class Key:
    """The key on the reader during a block."""

    def __init__(self, *options, wait=True):
        self.options, self.wait = options, wait

    def __enter__(self):
        port = reader_port()
        with open(f"{FOLDER}/serve.log", "ab") as log:
            self.process = subprocess.Popen([YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--nfc", "--state", "key", *self.options],
                                            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=FOLDER)
        if self.wait and not within(60, has_card):
            raise SystemExit("FAIL the virtual key and its reader do not find each other")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        within(60, lambda: not has_card())


def token(message):
    (record,) = ndef.message_decoder(bytes.fromhex(message))
    public, otp = yubiotp.decode_otp(record.iri[-44:].encode(), KEY)
    return record.iri[:-44], public, (otp.session, otp.counter)


NAMED = re.compile(r"ACS ACR122U PICC Interface 00 00  YubiKey 5 NFC, 5\.7\.1, serial \d+, NFC\n")


def serial():
    with open(f"{FOLDER}/key", encoding="utf-8") as state:
        return re.search(r'"serial": *(\d+)', state.read())[1]


def text(*arguments):
    return start(*arguments).communicate(timeout=120)[0]


def opensc(*commands):
    """The responses to APDUs that opensc-tool sends."""
    words = [word for command in commands for word in ("-s", command)]
    result = subprocess.run(["opensc-tool", "-r", "0", "-c", "default", *words], capture_output=True, text=True, timeout=60)
    blocks = re.split(r"Received \(SW1=0x(..), SW2=0x(..)\):?", result.stdout)
    found = []
    for first, second, text in zip(blocks[1::3], blocks[2::3], blocks[3::3], strict=True):
        hexadecimal = [line[:48] for line in text.split("Sending:")[0].splitlines() if line.strip()]
        found.append((first + second, "".join(re.findall(r"\b[0-9A-F]{2}\b", " ".join(hexadecimal)))))
    return found


def check_opensc():
    with Key():
        select = "00A4040007D276000085010100"
        replies = opensc(select, "00A4000C02E103", "00B000000F", "00A4000C02E104", "00B0000002")
        expect("opensc-tool reads the capability container", replies[2], ("9000", "000F20007F00000406E104007F00FF"))
        length = int(replies[4][1], 16)
        replies = opensc(select, "00A4000C02E104", f"00B00002{length:02X}")
        first = token(replies[2][1])
        expect("opensc-tool reads a password", (replies[2][0], first[:2]), ("9000", ("https://my.yubico.com/yk/#", b"cbcdcecfcgch")))
        status, answer, _ = ykit("nfc", "read", "--json")
        expect("ykit reads the next one", (status, token(answer["message"])[2] > first[2]), (0, True))
        expect("the reader shows a contactless card", answer["contactless"])
        (listed,) = ykit("list", "--json")[1]["devices"]
        expect("it is listed with its serial number, at the reader",
               (listed["serial"] == serial(), [(one["kind"], one["reader"]) for one in listed["interfaces"]]),
               (True, [("nfc", listed["reader"])]))
        expect("... for people, too", NAMED.match(text("list")) is not None)
        status, answer, _ = ykit("nfc", "read", "--json", "--record", "tag.jsonl")
        with open(f"{FOLDER}/tag.jsonl", encoding="utf-8") as recording:
            expect("a recording does not hold the password", answer["message"][-64:] in recording.read(), False)
        again = ykit("--replay", "tag.jsonl", "nfc", "read", "--json")
        expect("... and a replay makes none up", (again[0], again[1].get("message"), "overwritten" in again[1]["error"]["message"]),
               (14, None, True))
        status, answer, _ = ykit("nfc", "read", "--json", "--record", "kept.jsonl", "--keep-secrets")
        again = ykit("--replay", "kept.jsonl", "nfc", "read", "--json")
        expect("a recording with secrets gives the same", (status, again[0], again[1].get("message")), (0, 0, answer["message"]))


def check_waiting():
    process = start("nfc", "read", "--json", "--timeout", "90")
    line = process.stderr.readline()
    with Key(wait=False):
        output, _ = process.communicate(timeout=120)
    expect("a key that comes later is waited for", (line.strip(), process.returncode, json.loads(output)["ok"]),
           ("hold the key to the reader", 0, True))
    status, answer, _ = ykit("nfc", "read", "--json", "--timeout", "0.3")
    expect("nobody comes", (status, answer["error"]["code"]), (10, "no-tag"))


def check_lost():
    with Key("--fault", "on 00b0 at 2: remove 500ms"):
        status, answer, errors = ykit("nfc", "read", "--json", "--timeout", "90")
        expect("lost in the middle, read from the start when it is back", (status, "the tag was lost; hold it still" in errors), (0, True))
        expect("... whole", token(answer["message"])[0], "https://my.yubico.com/yk/#")
    with Key("--fault", "on 00b0 at 3: remove"):
        status, answer, _ = ykit("nfc", "read", "--json", "--timeout", "4")
        expect("lost for good: one clear error", (status, answer["error"]["code"]), (7, "tag-lost"))


def check_none():
    with Key("--fault", "on 00a404: status 6a82"):
        status, answer, _ = ykit("nfc", "read", "--json")
        expect("a card that is not a tag", (status, answer["error"]["code"]), (11, "not-a-tag"))


def check_restricted():
    status, _, _ = ykit("--virtual=key", "config", "nfc", "-f", "--restrict", "--json")
    expect("NFC is restricted", status, 0)
    with Key():
        for verb in (["oath", "list"], ["piv", "info"], ["otp", "info"], ["fido2", "info"], ["config", "nfc", "--list"], ["info"]):
            status, answer, _ = ykit(*verb, "--json")
            expect(f"{' '.join(verb)} says why nothing is there", (status, answer["error"]["code"]), (15, "nfc-restricted"))
        expect("... and what to do", "plug it into any USB port once" in answer["error"]["hint"])
        (listed,) = ykit("list", "--json")[1]["devices"]
        expect("the list says so", listed["name"], "YubiKey in its NFC restricted mode")
        status, answer, _ = ykit("doctor", "--json")
        expect("the doctor says so", (status, answer["problem"], "NFC restricted mode" in answer["error"]["message"]), (15, "applications", True))
        status, answer, _ = ykit("nfc", "read", "--json")
        expect("its tag leads to Yubico", (status, answer["records"][0]["uri"]), (0, "https://yubico.com/getting-started"))


def test_nfc_tag():
    slot = b"\x01\x02\x03\x04\x05\x06".ljust(16, b"\0") + b"\x09" * 6 + KEY + bytes(6) + bytes([6, 0, 0, 0, 0, 0])
    ykit("--virtual=key", "apdu", "-a", "otp", f"010100:{(slot + crc(slot) + bytes(6)).hex()}", "--json")
    for test in (check_opensc, check_waiting, check_lost, check_none, check_restricted):
        test()
