# SPDX-License-Identifier: Apache-2.0
"""ykman and ykit program the OTP slots of one virtual key on a contactless reader behind a real pcscd; each reads what the
other wrote. PyPI's yubiotp decrypts the passwords, and ndeflib reads the messages on the tag.

YKIT is the ykit to test.
"""

import json
import os
import subprocess

import ndef
from yubiotp import otp as yubiotp

from lib import terminal
from lib.peer import YKIT, beside_pcscd, expect, holds, in_reader, own_folder

READER = "ACS ACR122U"
beside_pcscd("--name", READER)
FOLDER = own_folder()
NIST, SAMPLE, RESPONSE = bytes(range(0x30, 0x44)).hex(), b"Sample #2".hex(), "0922d3405faa3d194f82a45830737d5cc6c75d24"
AES, PRIVATE = bytes(range(16)), bytes.fromhex("8792ebfe26cc")
CODE, OTHER = "010203040506", "0a0b0c0d0e0f"


def run(command, text="", **settings):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, cwd=FOLDER,
                          env={**os.environ, "HOME": FOLDER, **settings})
    return done.stdout.strip() if done.returncode == 0 else f"status {done.returncode}: {done.stderr.strip()}"


def ykman(*arguments, code=None, text=""):
    return run(["ykman", "--reader", READER, "otp", *(["--access-code", code] if code else []), *arguments], text)


def ykit(*arguments, text="", **settings):
    return run([YKIT, "otp", *arguments], text, **settings)


def at_terminal(line, *arguments):
    """The output of ykit when a key types this line at the terminal."""
    answers = (("touch the key: ", line + "\r"),)
    _, said = terminal.run([YKIT, "otp", *arguments], {**os.environ, "HOME": FOLDER}, FOLDER, answers, 120)
    return said.decode(errors="replace")


def states():
    """Which slots are programmed, according to each."""
    theirs = [": programmed" in line for line in ykman("info").splitlines() if line.startswith("Slot")]
    ours = ["programmed" in line for line in ykit("info").splitlines()]
    return theirs, ours


def tag():
    """The text of the tag as ykit reads it and ndeflib decodes it, and the token that ykit finds in it."""
    answer = json.loads(run([YKIT, "nfc", "read", "--json"]))
    (record,) = ndef.message_decoder(bytes.fromhex(answer["message"]))
    return record.iri if isinstance(record, ndef.UriRecord) else record.text, answer["token"]


def opened(text):
    """The private identity in a Yubico OTP at the end of a text, and its counters."""
    _, otp = yubiotp.decode_otp(text[-44:].encode(), AES)
    return otp.uid, otp.session, otp.counter


def check_challenge_response():
    expect("both slots are empty, says either", states(), ([False, False], [False, False]))
    holds("ykit programs challenge-response", "answers challenges", ykit("chalresp", "2", YKIT_OTP_KEY=NIST))
    expect("either sees it", states(), ([False, True], [False, True]))
    expect("ykman calculates NIST's vector", ykman("calculate", "2", SAMPLE), RESPONSE)
    holds("ykman programs the other slot", "stored", ykman("chalresp", "-f", "1", NIST))
    expect("ykit calculates the same", ykit("calculate", "1", SAMPLE), RESPONSE)
    expect("a TOTP code of the same time", ykit("calculate", "1", "--totp", "--time", "59", "--digits", "8"),
           ykman("calculate", "1", "--totp", "--digits", "8", "59"))
    expect("ykman empties a slot", ykman("delete", "-f", "2")[:6] != "status")
    expect("ykit the other", ykit("delete", "1", "--force"), "slot 1 is empty")
    expect("both are empty again", states(), ([False, False], [False, False]))


def check_yubico_otp():
    public = "vvcccccccccb"
    holds("ykit programs a Yubico OTP", public, ykit("yubiotp", "1", "--public-id", public, "--csv", "upload.csv",
                                                     YKIT_OTP_KEY=AES.hex(), YKIT_OTP_PRIVATE_ID=PRIVATE.hex()))
    text, token = tag()
    expect("the tag gives one, behind the usual address", text, "https://my.yubico.com/yk/#" + token["value"])
    first = opened(text)
    expect("yubiotp opens it", first[0], PRIVATE)
    expect("the next one is later", opened(tag()[0])[1:] > first[1:])
    with open(f"{FOLDER}/upload.csv") as file:
        ours = file.read().strip().split(",")
    os.unlink(f"{FOLDER}/upload.csv")
    ykman("yubiotp", "-f", "2", "--public-id", public, "--private-id", PRIVATE.hex(), "--key", AES.hex(),
          "--config-output", "theirs.csv")
    with open(f"{FOLDER}/theirs.csv") as file:
        theirs = file.read().strip().split(",")
    expect("the lines for YubiCloud say the same but for the time", ours[:5], theirs[:5])
    expect("ykman puts it onto the tag", ykman("ndef", "2", "--prefix", "https://example.com/otp/")[:6] != "status")
    text, token = tag()
    expect("ykit reads its address", (text, token["kind"]), ("https://example.com/otp/" + token["value"], "yubico-otp"))
    expect("and yubiotp opens what ykman wrote", opened(text)[0], PRIVATE)
    holds("ykit parses it", public, ykit("parse", text))
    verified = ykit("verify", token["value"], "--key-fd", "0", text=AES.hex() + "\n")
    expect("ykit verifies it once", verified[:6] != "status")
    holds("and not again", "status", ykit("verify", token["value"], "--key-fd", "0", text=AES.hex() + "\n"))
    typed = tag()[1]["value"]
    holds("a key that types at the terminal is parsed", "Yubico OTP of " + public, at_terminal(typed, "parse"))
    with open(f"{FOLDER}/aes", "w") as file:
        file.write(AES.hex() + "\n")
    heard = at_terminal(typed, "verify", "--key-file", "aes")
    holds("and verified", "good: key " + public, heard)
    expect("without being shown", typed in heard, False)
    holds("ykit puts a text onto the tag", "OTP: ", ykit("ndef", "1", "--text", "--prefix", "OTP: ", "--language", "de"))
    holds("which ndeflib reads", "OTP: " + public, tag()[0])


def check_access_codes():
    holds("ykit protects a slot", "settings", ykit("settings", "1", "--force", YKIT_OTP_NEW_ACCESS_CODE=CODE))
    holds("ykman is refused without the code", "status", ykman("delete", "-f", "1"))
    holds("and with a wrong one", "status", ykman("delete", "-f", "1", code=OTHER))
    expect("ykman changes it", ykman("settings", "-f", "1", "--new-access-code", OTHER, code=CODE)[:6] != "status")
    holds("ykit is refused with the old one", "status 8", ykit("delete", "1", "--force", YKIT_OTP_ACCESS_CODE=CODE))
    expect("and takes the slot's with the new one",
           ykit("settings", "1", "--force", "--remove-access-code", YKIT_OTP_ACCESS_CODE=OTHER)[:6] != "status")
    expect("ykman needs none any more", ykman("swap", "-f")[:6] != "status")


def check_typed():
    expect("ykman programs HOTP", ykman("hotp", "-f", "1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")[:6] != "status")
    ykit("ndef", "1")
    expect("the tag gives RFC 4226's first code", tag()[1]["value"], "755224")
    holds("ykit programs it again from a later counter", "HOTP", ykit(
        "hotp", "1", "--force", "--counter", "16", "--identifier", "-",
        YKIT_OTP_KEY="GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"))
    holds("the identifier stands before the code", "ubhe", tag()[1]["value"])
    expect("ykman programs a static password", ykman("static", "-f", "-k", "US", "2", "From ykman!")[:6] != "status")
    ykit("ndef", "2")
    read = json.loads(run([YKIT, "nfc", "read", "--layout", "us", "--json"]))
    expect("ykit reads it from the tag's scan codes", read["token"]["value"], "From ykman!")
    expect("both swap", (ykman("swap", "-f")[:6] != "status", ykit("swap", "--force")), (True, "the slots are swapped"))
    expect("a slot cannot be overwritten by accident", ykit("static", "2", "--generate", "--output", "made")[:10],
           "status 17:")
    expect("nothing was written", os.path.exists(f"{FOLDER}/made"), False)


def test_otp():
    with in_reader("--nfc", "--state", "key.json", ready=lambda: ykit("info")[:6] != "status", cwd=FOLDER):
        check_challenge_response()
        check_yubico_otp()
        check_access_codes()
        check_typed()
