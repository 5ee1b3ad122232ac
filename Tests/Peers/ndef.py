# SPDX-License-Identifier: Apache-2.0
"""NDEF compared with ndeflib: its own examples, messages that it makes, and messages of ykit's virtual key.

YKIT is the ykit to test.
"""

import json
import os
import random
import subprocess

import ndef
from yubiotp import otp as yubiotp

from lib.fake_card import crc
from lib.peer import YKIT, expect, own_folder

FOLDER = own_folder()

# Messages of ndeflib's own tests and documentation.
EXAMPLES = """
D00000 | 900000500000 | 900000100000500000 | 910303414243616263 5903030144454630646566 | 91030141424300 5903010158595a30ff
d101035402656e | d1010354026465 | d101085402656e48656c6c6f | d1010f5482656efffe480065006c006c006f00
d101055402656cce94 | d101075482656cfffe9403 | 9101075402656e54585431 5101075402656e54585432
d1010655006e66637079 | d1010655016e66637079 | d1010655026e66637079 | d1010655036e66637079 | d1010655046e66637079
d1010655053031323334 | 91010a55036e666370792e6f7267 51010a55046e666370792e6f7267
d102055370 d101015500 | d1020e5370 d1010a55036e666370792e6f7267
d1021a5370 91010a55036e666370792e6f7267 5101085402656e6e66637079
d102215370 91010a55036e666370792e6f7267 1101085402656e6e66637079 51030161637400
d1020d5370 9101015500 5101047300000001 | d1020c5370 9101015500 51010374612f62
150000160000560000 | 950000960000560000 | 950000160000160000 | B50000160000760000 | d1 | d10105 | d101ff55 | 91 | 500000 | 10
d1020c5370 9101015500 51010373000000 | d100005500 | d5010055 | d0010041 | d0000141 | d8000001 | d601004100 | d7010041
d101035504c328 | d1010154 | d101035485656e
"""
# Cases in which ndeflib is stricter or more lenient than the specification, which ykit follows.
DIFFERENT = {
    "d7010041": "a reserved format is to be treated as unknown (NDEF 1.0 3.2.6)",
    "d101035504c328": "a URI is kept as bytes: a key may type scan codes into it",
}


def ykit(*arguments):
    result = subprocess.run([YKIT, *arguments, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            cwd=FOLDER, timeout=60, env={**os.environ, "HOME": FOLDER})
    return json.loads(result.stdout or "{}")


def ours(message):
    """ykit's interpretation of a message, in common terms; None if it refuses the message."""
    answer = ykit("nfc", "parse", message.hex())
    if not answer.get("ok") or any(record["kind"] == "damaged" for record in answer["records"]):
        return None
    return [our(record) for record in answer["records"]]


def our(record):
    head = (record["format"], record["type"], record["id"] or "")
    if record["kind"] == "uri":
        return (*head, record["uri"])
    if record["kind"] == "text":
        return (*head, record["text"], record["language"], record["encoding"])
    if record["kind"] == "poster":
        titles = {title["language"]: title["text"] for title in record["titles"]}
        return (*head, record["uri"], titles, record["action"], record["size"], record["mediaType"])
    return (*head, record["payload"])


def theirs(message):
    try:
        # With a separate dictionary: otherwise ndeflib reads the data after a poster as part of the poster.
        return [their(record) for record in ndef.message_decoder(message, "strict", dict(ndef.Record._known_types))]
    except (ndef.DecodeError, ValueError):
        return None


def their(record):
    name = record.type
    for start, form in [("urn:nfc:wkt:", "wellKnown"), ("urn:nfc:ext:", "external")]:
        if name.startswith(start):
            head = (form, name[len(start):], record.name.encode("latin-1").hex())
            break
    else:
        form = {"": "empty", "unknown": "unknown", "unchanged": "unchanged"}.get(name, "absoluteURI" if "://" in name else "media")
        head = (form, name if form in ("media", "absoluteURI") else "", record.name.encode("latin-1").hex())
    if isinstance(record, ndef.UriRecord):
        return (*head, record.iri)
    if isinstance(record, ndef.TextRecord):
        return (*head, record.text, record.language, record.encoding)
    if isinstance(record, ndef.SmartposterRecord):
        action = {"exec": "perform", "save": "save", "edit": "edit", None: None}[record.action]
        return (*head, record.resource.iri, dict(record.titles), action, record.resource_size, record.resource_type)
    return (*head, bytes(record.data).hex())


def test_examples():
    for text in EXAMPLES.replace("\n", "|").split("|"):
        message = bytes.fromhex(text)
        if not message:
            continue
        if message.hex() in DIFFERENT:
            expect(f"{message.hex()}: {DIFFERENT[message.hex()]}", ours(message) != theirs(message))
        else:
            expect(f"example {message.hex()}", ours(message), theirs(message))


def test_every_beginning():
    wrong = []
    for code in range(0x24):
        message = bytes([0xD1, 1, 4, 0x55, code]) + b"abc"
        if ours(message) != theirs(message):
            wrong.append((code, ours(message), theirs(message)))
    expect("all 36 beginnings of a URI", wrong, [])


def made(dice):
    """A record as ndeflib makes it."""
    def word(n):
        return "".join(dice.choice("abcdefghij0123456789äß漢😀") for _ in range(dice.randrange(n)))
    def letters():
        return "".join(dice.choice("abcdefghij") for _ in range(dice.randrange(1, 9)))
    kind = dice.randrange(7)
    if kind == 0:
        return ndef.UriRecord(dice.choice(["https://", "http://www.", "tel:", "urn:epc:id:", "x-y:", "ftp://"]) + letters())
    if kind == 1:
        return ndef.TextRecord(word(300), dice.choice(["en", "de-CH", "x" * 63]), dice.choice(["UTF-8", "UTF-16"]))
    if kind == 2:
        poster = ndef.SmartposterRecord("https://" + letters(), dice.choice([None, {"en": letters(), "de": word(20)}]))
        poster.action = dice.choice([None, "exec", "save", "edit"])
        poster.resource_size = dice.choice([None, dice.randrange(1 << 32)])
        poster.resource_type = dice.choice([None, "text/html"])
        return poster
    data = bytes(dice.randrange(256) for _ in range(dice.randrange(400)))
    name = dice.choice(["", letters()])
    kind = ["text/plain", "urn:nfc:ext:example.com:" + letters(), "unknown", "http://example.com/" + letters()][kind - 3]
    return ndef.Record(kind, name, data)


def chunked(message, dice):
    """The same message with the payload of its first record in chunks, written by ndeflib's record encoder."""
    first, *rest = list(ndef.message_decoder(message, known_types={}))
    if len(first.data) < 3 or first.type == "unknown":
        return message
    cut = dice.randrange(1, len(first.data) - 1)
    records = [ndef.Record(first.type, first.name, first.data[:cut]), ndef.Record("unchanged", "", b""),
               ndef.Record("unchanged", "", first.data[cut:])]
    parts = [bytearray(b"".join(ndef.message_encoder([record]))) for record in records + rest]
    for number, part in enumerate(parts):
        part[0] &= 0x3F
        part[0] |= (0x80 if number == 0 else 0) | (0x40 if number == len(parts) - 1 else 0) | (0x20 if number < 2 else 0)
    return b"".join(parts)


def test_generated():
    dice = random.Random(12)
    wrong, chunks = [], []
    for _ in range(150):
        message = b"".join(ndef.message_encoder([made(dice) for _ in range(dice.randrange(1, 5))]))
        wanted = theirs(message)
        if ours(message) != wanted:
            wrong.append((message.hex(), ours(message), wanted))
        if ours(chunked(message, dice)) != wanted:
            chunks.append((message.hex(), ours(chunked(message, dice)), wanted))
    expect("150 messages that ndeflib made", wrong[:1], [])
    expect("the same with a record in chunks", chunks[:1], [])


def test_broken():
    """Every mutated message that ykit accepts is also accepted by ndeflib, or ndeflib is known to be stricter."""
    dice = random.Random(13)
    odd = []
    for _ in range(150):
        message = bytearray(b"".join(ndef.message_encoder([made(dice)])))
        message[dice.randrange(min(6, len(message)))] ^= 1 << dice.randrange(8)
        message = bytes(message)
        try:
            relaxed = list(ndef.message_decoder(message, "relax", {}))
        except (ndef.DecodeError, ValueError):
            continue
        found = ours(message)
        if found is not None and len(found) != len(relaxed):
            odd.append((message.hex(), found, relaxed))
    expect("messages with a bit changed have as many records, or are refused", odd[:1], [])


def test_virtual_key():
    """The tag of the virtual key, read by ndeflib; yubiotp decrypts its passwords."""
    key, uid, public = bytes(range(1, 17)), b"\x09" * 6, b"\x01\x02\x03\x04\x05\x06"
    slot = public.ljust(16, b"\0") + uid + key + bytes(6) + bytes([6, 0, 0, 0, 0, 0])
    ykit("--virtual=key", "apdu", "-a", "otp", f"010100:{(slot + crc(slot) + bytes(6)).hex()}")
    seen = []
    for content, prefix in [(b"U\x04my.yubico.com/yk/#", "https://my.yubico.com/yk/#"), (b"U\x02example.org/otp/", "https://www.example.org/otp/"),
                            (b"T\x02enOTP: ", "OTP: "), (b"U\x00x:#", "x:#")]:
        record = bytes([len(content) - 1]) + content.ljust(55, b"\0") + bytes(6)
        ykit("--virtual=key", "apdu", "-a", "otp", f"010800:{record.hex()}")
        for _ in range(3):
            answer = ykit("--virtual=key", "nfc", "read")
            (read,) = ndef.message_decoder(bytes.fromhex(answer["message"]))
            text = read.iri if isinstance(read, ndef.UriRecord) else read.text
            identity, otp = yubiotp.decode_otp(text[-44:].encode(), key)
            seen.append((otp.session, otp.counter))
            same = (text.startswith(prefix), bytes.fromhex(_unmodhex(identity)) == public, otp.uid == uid,
                    answer["token"]["value"] == text[-44:])
            if same != (True,) * 4:
                expect(f"the tag with {prefix}", same, (True,) * 4)
    expect("every password is another one, and they grow", (len(set(seen)), seen == sorted(seen)), (12, True))


def _unmodhex(letters):
    letters = letters.decode() if isinstance(letters, bytes) else letters
    return letters.translate(str.maketrans("cbdefghijklnrtuv", "0123456789abcdef"))
