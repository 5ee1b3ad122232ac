# SPDX-License-Identifier: Apache-2.0
"""ykman and ykit configure one virtual key, each through a real pcscd: what one writes the other reads.

YKIT is the ykit to test.
"""

import json
import os
import subprocess
import time

from lib.peer import YKIT, beside_pcscd, expect, holds, own_folder, reader_port

beside_pcscd()
FOLDER = own_folder()

CODE, OTHER = "0102030405060708090a0b0c0d0e0f10", "ffeeddccbbaa99887766554433221100"


def run(command, text="", **settings):
    environment = dict(os.environ, HOME=FOLDER, **settings)
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, env=environment)


def said(done):
    return done.stdout.strip() if done.returncode == 0 else f"status {done.returncode}: {done.stderr.strip()}"


def ykman(*arguments, text=""):
    settled()
    return said(run(["ykman", *arguments], text))


def ykit(*arguments, text="", **settings):
    settled()
    return said(run([YKIT, *arguments], text, **settings))


def info():
    settled()
    return json.loads(run([YKIT, "info", "--json"]).stdout)


def enabled(way):
    return {row["name"] for row in info()["applications"] if row[way] == "enabled"}


def comings():
    """How often cards were inserted and removed, according to pcscd, and whether one is present."""
    from smartcard import scard
    _, context = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)
    _, readers = scard.SCardListReaders(context, [])
    _, states = scard.SCardGetStatusChange(context, 0, [(name, scard.SCARD_STATE_UNAWARE) for name in readers])
    scard.SCardReleaseContext(context)
    return sum(state >> 16 for _, state, _ in states), any(state & scard.SCARD_STATE_PRESENT for _, state, _ in states)


def restarting(work):
    """Does something that restarts the key, and waits until pcscd has seen it leave and return."""
    settled()
    before, _ = comings()
    made = work()
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        now, is_there = comings()
        if now >= before + 2 and is_there:
            return made
        time.sleep(0.02)
    raise SystemExit("FAIL pcscd has not seen the virtual key go and come")


def settled(is_there=True):
    """Waits until the key is in the reader, which it leaves briefly when it restarts, or until it is removed."""
    from smartcard import scard
    _, context = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        _, readers = scard.SCardListReaders(context, [])
        _, states = scard.SCardGetStatusChange(context, 0, [(name, scard.SCARD_STATE_UNAWARE) for name in readers])
        if any(state & scard.SCARD_STATE_PRESENT for _, state, _ in states) == is_there:
            return
        time.sleep(0.02)
    raise SystemExit("FAIL the virtual key and its reader do not find each other")


class Key:
    """A virtual key in the reader during a block."""

    def __init__(self, *options, state=None):
        self.options, self.state = options, state

    def __enter__(self):
        port = reader_port()
        state = self.state = self.state or f"{FOLDER}/key-{len(os.listdir(FOLDER))}.json"
        command = [YKIT, "virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", state, *self.options]
        with open(f"{FOLDER}/serve.log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        settled()
        return self

    def memory(self):
        """The state of the management application."""
        with open(self.state) as file:
            return json.load(file)["management"]

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        settled(False)


def check_info():
    theirs = ykman("info")
    ours = info()
    for part in ["YubiKey 5 NFC", "Firmware version: 5.7.1", "Form factor: Keychain (USB-A)", ours["serial"]]:
        holds(f"ykman's info has {part!r}", part, theirs)
    expect("ykit's has the same", (ours["name"], ours["firmware"], ours["formFactor"]),
           ("YubiKey 5 NFC", "5.7.1", "Keychain (USB-A)"))
    expect("the same applications", {line.split("\t")[0].strip() for line in theirs.splitlines()
                                     if "\tEnabled" in line}, enabled("usb"))


def check_usb():
    expect("ykman switches OATH off", ykman("config", "usb", "-f", "-d", "OATH")[:6] != "status")
    expect("ykit sees it", "OATH" in enabled("usb"), False)
    expect("and OATH is gone", ykit("oath", "list")[:9], "status 11")
    holds("for ykman too", "status", ykman("oath", "accounts", "list"))
    holds("ykit switches it on and PIV off", "enable over USB: OATH", ykit("config", "usb", "-f", "-e", "oath",
                                                                             "-d", "piv"))
    theirs = ykman("config", "usb", "--list").splitlines()
    expect("ykman lists what ykit did", ("OATH" in theirs, "PIV" in theirs), (True, False))
    expect("ykit lists the same", sorted(ykit("config", "usb", "--list").splitlines()), sorted(theirs))
    expect("ykit switches all on", ykit("config", "usb", "-f", "--enable-all")[:6] != "status")
    expect("all is on", "PIV" in enabled("usb"))
    holds("not all of USB can be off", "with all USB applications off, the key could not be reconfigured",
          ykit("config", "usb", "-f", *[word for name in ("otp", "u2f", "fido2", "oath", "piv", "openpgp", "hsmauth")
                                        for word in ("-d", name)]))
    ykman("config", "usb", "-f", "--touch-eject", "--autoeject-timeout", "300", "--chalresp-timeout", "20")
    ours = info()
    expect("ykit reads the time-outs and flags that ykman set",
           (ours["flags"], ours["autoEjectTimeout"], ours["challengeResponseTimeout"]), (["touch-eject"], 300, 20))
    ykit("config", "usb", "-f", "--no-touch-eject", "--auto-eject-timeout", "0", "--chalresp-timeout", "15")
    expect("and sets them back", (info()["flags"], info()["autoEjectTimeout"]), ([], 0))
    holds("nothing to change is said", "nothing to change", ykit("config", "usb", "-f", "--enable-all"))


def check_restart():
    holds("an interface that goes makes the key start anew", "restarts",
          restarting(lambda: ykit("config", "usb", "-f", "-d", "u2f", "-d", "fido2")))
    expect("it is there again", enabled("usb"), {"Yubico OTP", "OATH", "PIV", "OpenPGP", "YubiHSM Auth"})
    for _ in range(3):
        def switch(way):
            return lambda: ykman("config", "usb", "-f", way, "U2F", way, "FIDO2")
        expect("ykman makes it start anew", restarting(switch("-e"))[:6] != "status")
        expect("both interfaces are there", {"FIDO U2F", "FIDO2"} <= enabled("usb"))
        expect("and once more", restarting(switch("-d"))[:6] != "status")
        states = [line.split("\t")[1].strip() for line in ykman("info").splitlines() if line.startswith("FIDO")]
        expect("ykman finds it", states, ["Disabled", "Disabled"])
    expect("a mode of ykman is one of applications", ykman("config", "mode", "-f", "OTP+FIDO+CCID")[:6] != "status")
    expect("all is on", enabled("usb"), {"Yubico OTP", "FIDO U2F", "FIDO2", "OATH", "PIV", "OpenPGP", "YubiHSM Auth"})
    expect("ykit says the mode", ykit("config", "mode"), "OTP+FIDO+CCID")


def check_reset():
    """A key with a fingerprint sensor and PIV is reset as a whole, by ykman and by ykit."""
    state = f"{FOLDER}/bio.json"
    run([YKIT, "virtual", "new", state, "--fingerprints"])
    with open(state) as file:
        content = json.load(file)
    content["device"]["form"] = 6
    with open(state, "w") as file:
        json.dump(content, file)
    with Key(state=state):
        holds("it has its name", "YubiKey Bio - Multi-protocol Edition", ykit("info"))
        for name, reset in [("ykman", ["ykman", "config", "reset", "-f"]), ("ykit", [YKIT, "config", "reset", "-f"])]:
            expect("a key is made", ykit("piv", "keys", "generate", "9a")[:6] != "status")
            settled()
            expect(f"{name} resets the key", said(run(reset))[:6] != "status")
            holds("and the key is gone", "status 12", ykit("piv", "keys", "info", "9a"))


def check_nfc():
    expect("ykman switches all of NFC off", ykman("config", "nfc", "-f", "--disable-all")[:6] != "status")
    expect("ykit sees it", enabled("nfc"), set())
    expect("ykit switches FIDO2 on", ykit("config", "nfc", "-f", "-e", "fido2")[:6] != "status")
    expect("ykman sees it", ykman("config", "nfc", "--list"), "FIDO2")
    expect("ykit switches all on", ykit("config", "nfc", "-f", "-a")[:6] != "status")
    holds("ykit restricts NFC", "until the key is in a USB port", ykit("config", "nfc", "-f", "--restrict"))
    expect("it says so of itself", info()["nfcRestricted"])


def check_lock_code():
    ykman("config", "set-lock-code", "-f", "-n", CODE)
    expect("ykit sees the lock of ykman", info()["locked"])
    holds("a change without the code asks for it", "status 17: ykit: cannot prompt without a terminal",
          ykit("config", "usb", "-f", "--chalresp-timeout", "9"))
    holds("and with a wrong one", "status 8",
          ykit("config", "usb", "-f", "--chalresp-timeout", "9", YKIT_LOCK_CODE=OTHER))
    expect("with the right one it is done",
           ykit("config", "usb", "-f", "--chalresp-timeout", "9", "--lock-code-stdin", text=CODE + "\n")[:6] != "status")
    expect("ykit changes the code", ykit("config", "lock-code", "-f", YKIT_LOCK_CODE=CODE, YKIT_NEW_LOCK_CODE=OTHER),
           "lock code changed")
    expect("ykman uses the new one", ykman("config", "usb", "-f", "-d", "PIV", "-L", OTHER)[:6] != "status")
    expect("the old one is of no use", ykman("config", "usb", "-f", "-e", "PIV", "-L", CODE)[:6], "status")
    expect("ykit removes the code", ykit("config", "lock-code", "-f", "--clear", YKIT_LOCK_CODE=OTHER),
           "lock code removed")
    made = ykit("config", "lock-code", "-f", "--generate")
    expect("ykit makes a code", len(made), 32)
    expect("ykman removes it", ykman("config", "set-lock-code", "-f", "-c", "-l", made)[:6] != "status")
    expect("nothing is locked", info()["locked"], False)


def check_old():
    with Key("--firmware", "4.3.7") as key:
        holds("ykman's info of a YubiKey 4", "YubiKey 4", ykman("info"))
        expect("ykit's", (info()["name"], [flaw["name"] for flaw in info()["flaws"]]), ("YubiKey 4", []))
        holds("config usb points to the mode", "ykit config mode", ykit("config", "usb", "-f", "-d", "oath"))
        holds("ykit sets the mode", "the mode is OTP+CCID", ykit("config", "mode", "-f", "otp+ccid"))
        ours = key.memory()
        expect("ykman sets another", ykman("config", "mode", "-f", "FIDO+CCID")[:6] != "status")
        expect("which is another", key.memory() != ours)
        expect("ykman sets the same", ykman("config", "mode", "-f", "OTP+CCID")[:6] != "status")
        expect("and both mean the same", key.memory(), ours)
        options = ["CCID", "--touch-eject", "--autoeject-timeout", "30", "--chalresp-timeout", "20"]
        expect("ykman sets time-outs", ykman("config", "mode", "-f", *options)[:6] != "status")
        theirs = key.memory()
        ykit("config", "mode", "-f", "otp+ccid")
        ykit("config", "mode", "-f", "ccid", "--auto-eject-timeout", "30", "--chalresp-timeout", "20")
        expect("ykit's are the same", key.memory(), theirs)
    with Key("--firmware", "4.3.1"):
        expect("ROCA is told", [flaw["name"] for flaw in info()["flaws"]], ["ROCA"])
    with Key("--firmware", "3.4.0"):
        holds("ykman's info of a NEO, which it names by its product number only", "Firmware version: 3.4.0", ykman("info"))
        expect("ykit's", (info()["name"], info()["synthesized"]), ("YubiKey NEO", True))
        holds("ykit sets the mode of a NEO", "the mode is CCID",
              ykit("config", "mode", "-f", "1", "--auto-eject-timeout", "10"))


def test_config():
    with Key():
        check_info()
        check_usb()
        check_nfc()
        check_lock_code()
    check_old()
    with Key():
        check_restart()
    check_reset()
