# SPDX-License-Identifier: Apache-2.0
"""The cases, which are the same for every browser."""

import contextlib
import json
import os
import re
import subprocess
import time

from bench import PICTURES, PIN, WRONG_PIN, Account, Key, case, read
from relayed import BridgedCard, GuardedKey, RemoteKey

from lib.peer import YKIT, expect, own_folder, within
from lib.relying_party import decode, encode


@case
def create_and_get(browser, site, name):
    account = Account(browser, site, name)
    with Key():
        account.create()
        account.get()
        account.get("get again")


@case
def exclude(browser, site, name):
    account = Account(browser, site, name)
    with Key():
        account.create()
        account.refused("the same key twice", "InvalidStateError")
    with Key():
        account.create("another key")
        account.get()


@case
def passkey(browser, site, name):
    account = Account(browser, site, name)
    with Key(pin=True):
        made = account.create(pins=[PIN], resident="required", uv="required", extensions={"credProps": True})
        expect(f"{name}: credProps", made["clientExtensionResults"]["credProps"], {"rk": True})
        signed = account.get("get without a list", pins=[PIN], named=False, uv="required")
        expect(f"{name}: the key names the account", signed["response"]["userHandle"], account.user)


@case
def pin(browser, site, name):
    account = Account(browser, site, name)
    with Key(pin=True) as key:
        account.create(pins=[PIN], uv="required")
        account.get(pins=[PIN], uv="required")
        expect(f"{name}: it was typed each time", (browser.pins_left(), key.count(TOKEN)), (0, 2))


@case
def wrong_pin(browser, site, name):
    account = Account(browser, site, name)
    with Key(pin=True) as key:
        account.create(pins=[WRONG_PIN, PIN], uv="required")
        expect(f"{name}: the key refused the first one", (key.count("status 31"), key.count(TOKEN)), (1, 2))
        account.get(pins=[WRONG_PIN, PIN], uv="required")
        expect(f"{name}: ... and again", (key.count("status 31"), key.count(TOKEN)), (2, 4))


#: How the traffic shows that a PIN is verified.
TOKEN = "CTAP clientPIN, getPinUvAuthTokenUsingPin"


@case
def prf(browser, site, name):
    with Key(pin=True):
        secrets_of(Account(browser, site, name), name, [PIN])


def secrets_of(account, name, pins=()):
    """The secrets of a new credential; the browser is told these PINs, one for each ceremony."""
    salts = [encode(os.urandom(32)) for _ in range(2)]

    def secrets(what, **salts):
        signed = account.get(what, pins=pins, uv="required", extensions={"prf": {"eval": salts}})
        return signed["clientExtensionResults"]["prf"]["results"]

    made = account.create("create for secrets", pins=pins, uv="required", extensions={"prf": {}})
    expect(f"{name}: enabled", made["clientExtensionResults"]["prf"].get("enabled"))
    once = secrets("one salt", first=salts[0])
    expect(f"{name}: one secret of 32 bytes", {word: len(decode(made)) for word, made in once.items()}, {"first": 32})
    both = secrets("two salts", first=salts[0], second=salts[1])
    expect(f"{name}: the same salt, the same secret", both["first"], once["first"])
    expect(f"{name}: another salt, another secret", len({*both.values()}), 2)


@case
def large_blob(browser, site, name):
    account = Account(browser, site, name)
    blob = encode(os.urandom(300))
    with Key(pin=True) as key:
        made = account.create(pins=[PIN], resident="required", uv="required",
                              extensions={"largeBlob": {"support": "preferred"}})
        supported = made["clientExtensionResults"].get("largeBlob", {}).get("supported", False)
        expect(f"{name}: supported", supported, browser.has_large_blob)
        if not browser.has_large_blob:
            expect(f"{name}: the browser asks the key for none", key.count("largeBlobKey:"), 0)
            return
        signed = account.get("write", pins=[PIN], uv="required", extensions={"largeBlob": {"write": blob}})
        expect(f"{name}: written", signed["clientExtensionResults"]["largeBlob"], {"written": True})
        signed = account.get("read", pins=[PIN], uv="required", extensions={"largeBlob": {"read": True}})
        expect(f"{name}: read back", signed["clientExtensionResults"]["largeBlob"], {"blob": blob})


@case
def u2f(browser, site, name):
    account = Account(browser, site, name)
    with Key("--firmware", "4.3.7") as key:
        account.create()
        account.get()
        account.refused("the same key twice", "InvalidStateError")
        # Chromium asks every key for getInfo, whatever INIT says.
        expect(f"{name}: no CTAP2 but what the key refused", key.count("traffic:   CTAP "), key.count("error 01 (invalid command)"))


@case
def two_keys(browser, site, name):
    account = Account(browser, site, name)
    # Chromium asks both for a credential; Firefox asks which one is meant first, so that this one is touched twice.
    with Key(touch="3s") as touched, Key(touch="never") as other:
        account.create()
        expect(f"{name}: both waited for a touch", [key.count("waiting for a touch") > 0 for key in (touched, other)], [True, True])
        expect(f"{name}: the touched one made the credential", (touched.count("flags 41"), other.count("flags 41")), (1, 0))
        account.get()


@case
def hot_plug(browser, site, name):
    account = Account(browser, site, name)
    key = Key()
    with contextlib.ExitStack() as plugged:
        def plug():
            time.sleep(3)
            plugged.enter_context(key)

        account.create(during=plug)
        plugged.close()
        account.get("get after it was plugged in again", during=plug)


@case
def bridge(browser, site, name):
    account = Account(browser, site, name)
    with BridgedCard() as card:
        account.create()
        account.get()
        expect(f"{name}: one laying-down, one ceremony", card.says("lift the card from"), 1)
    account = Account(browser, site, name)
    with BridgedCard(pin=True):
        account.create("create with a PIN", pins=[PIN], uv="required")
        account.get("get with a PIN", pins=[PIN], uv="required")


@case
def remote(browser, site, name):
    account = Account(browser, site, name)
    with RemoteKey(named=browser.searches) as key:
        account.create()
        account.get()
        expect(f"{name}: what was asked at the near end", [
            key.says(f"lab asks to {what}: use your key? [y/N]") > 0 for what in (
                f"create a credential at localhost, for '{decode(account.user).decode()}'", "sign in to localhost")], [True, True])
    account = Account(browser, site, name)
    with RemoteKey(pin=True, named=browser.searches):
        account.create("create with verification", uv="required")
        account.get("get with verification", uv="required")


@case
def guard(browser, site, name):
    account = Account(browser, site, name)
    with GuardedKey(pin=True) as key:
        account.create("create with verification", uv="required")
        account.get("get with verification", uv="required")
        user = decode(account.user).decode()
        expect(f"{name}: what was asked", [key.asked(f"create a credential at localhost, for '{user}'"), key.asked("sign in to localhost")],
               [1, 1])
        expect(f"{name}: the user was verified each time", key.count(TOKEN), 2)
        passkey = Account(browser, site, name)
        passkey.create("create a passkey", resident="required", uv="required")
        signed = passkey.get("get without a list", named=False, uv="required")
        expect(f"{name}: the key names the account", signed["response"]["userHandle"], passkey.user)
        if browser.has_secrets:
            secrets_of(Account(browser, site, name), name)
            expect(f"{name}: secrets were asked for as such", key.asked("derive a secret for localhost") > 0 or read(key.terminal))


#: The steps of `fido2 try --all`.
STEPS = ["sign-up", "sign-in", "sign-up-again", "pin", "prf", "attestation", "passkey", "passkey-sign-in",
         "large-blob-write", "large-blob-read"]
WORDS = {"passed": "Passed.", "unsupported": "Not supported."}


@case  # the last one, as it leaves the site's page
def try_(browser, site, name):
    said = f"{own_folder()}/said"
    with Key(pin=True), open(said, "w") as errors:
        process = subprocess.Popen([YKIT, "--json", "fido2", "try", "--all"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            address = within(60, lambda: re.search(r"http://localhost:\d+/[\w-]{22}/", read(said)))[0]
            browser.go(address)
            browser.page_picture(PICTURES / f"{browser.name}-try-begin.png")
            wanted = {step: "passed" if browser.has_large_blob or "blob" not in step else "unsupported" for step in STEPS}
            for step, outcome in wanted.items():
                browser.begin([PIN])
                browser.press(f"[data-step={step}]")
                word = browser.attended(lambda: browser.evaluate(
                    f"document.querySelector('#{step} .verdict .word')?.textContent ?? null"), f"{name} {step}")
                expect(f"{name}: the page says of {step}", word, WORDS[outcome])
            browser.page_picture(PICTURES / f"{browser.name}-try-end.png")
            out, _ = process.communicate(timeout=120)
            answer = json.loads(out)
            expect(f"{name}: the verdicts", {step["step"]: step["outcome"] for step in answer["steps"]}, wanted)
            expect(f"{name}: the exit code", process.returncode, 0 if browser.has_large_blob else 11)
            expect(f"{name}: it is this browser", browser.agent in answer["userAgent"])
            print(f"     {answer['userAgent']}")
        finally:
            process.kill()
