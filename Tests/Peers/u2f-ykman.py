# SPDX-License-Identifier: Apache-2.0
"""ykman and ykit manage the U2F PIN of one virtual YubiKey 4 FIPS behind a real pcscd: each knows what the other did, and
what costs a try."""

import os
import subprocess

from lib.peer import REAL, beside_pcscd, expect, in_reader, own_folder

beside_pcscd()

FIRST, SECOND, OK, WRONG, BLOCKED, LENGTH, NOT_ALLOWED = "012345", "a longer PIN", 0x9000, 0x63C0, 0x6983, 0x6700, 0x6986


def device():
    from fido2.pcsc import CtapPcscDevice

    return next(iter(CtapPcscDevice.list_devices()), None)


def ykman(action, *arguments):
    """What one of ykman's functions returns, or the status word that it raises."""
    from fido2.ctap1 import ApduError
    from ykman import fido

    key = device()
    try:
        return getattr(fido, action)(key, *arguments)
    except ApduError as error:
        return error.code
    finally:
        key.close()


def ykit(*words, pin=None, new=None):
    """The exit status and the error's code."""
    variables = {name: value for name, value in (("YKIT_PIN", pin), ("YKIT_NEW_PIN", new)) if value}
    done = subprocess.run([REAL, "--link", "pcsc", "u2f", *words], env={**os.environ, **variables},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr.strip().splitlines()[-2:-1]


def registration(pin=None):
    """The status word of python-fido2's registration, after ykman has verified a PIN; the connection's end takes the power."""
    from fido2.ctap1 import ApduError, Ctap1
    from ykman.fido import fips_verify_pin

    key = device()
    try:
        if pin:
            fips_verify_pin(key, pin)
        Ctap1(key).register(b"c" * 32, b"a" * 32)
        return OK
    except ApduError as error:
        return error.code
    finally:
        key.close()


def test_u2f_ykman():
    with in_reader("--model", "yubikey4-fips", "--state", f"{own_folder()}/key.json", ready=device, program=REAL):
        check()


def check():
    expect("no PIN: not in FIPS mode, says ykman", ykman("is_in_fips_mode"), False)
    expect("... nothing to verify, says either", (ykman("fips_verify_pin", FIRST), ykit("pin", "verify", pin=FIRST)[0]), (NOT_ALLOWED, 8))
    expect("... and python-fido2 registers", registration(), OK)
    expect("five bytes are too short", (ykman("fips_change_pin", None, "01234"), ykit("pin", "set", new="01234")[0]), (LENGTH, 15))
    expect("ykit sets a PIN", ykit("pin", "set", new=FIRST)[0], 0)
    expect("the key is in FIPS mode, says ykman", ykman("is_in_fips_mode"), True)
    for _ in range(4):
        expect("neither sets a first one again", (ykman("fips_change_pin", None, SECOND), ykit("pin", "set", new=SECOND)[0]), (LENGTH, 15))
    expect("ykman verifies it, and python-fido2 registers", registration(FIRST), OK)
    expect("ykman changes it", ykman("fips_change_pin", FIRST, SECOND), None)
    expect("... which ends that", registration(), 0x6982)
    expect("ykit is refused the old one", ykit("pin", "verify", pin=FIRST), (8, ["ykit: wrong U2F PIN"]))
    expect("... and verifies the new one", ykit("pin", "verify", pin=SECOND)[0], 0)
    expect("python-fido2 registers", registration(), OK)
    expect("ykit changes it back", ykit("pin", "change", pin=SECOND, new=FIRST)[0], 0)
    expect("ykit registers with the PIN at hand", ykit("register", "--app", "https://example.com", pin=FIRST)[0], 0)
    expect("two wrong ones, by either", (ykman("fips_verify_pin", SECOND), ykit("pin", "verify", pin=SECOND)[0]), (WRONG, 8))
    expect("the third blocks it", ykit("pin", "change", pin=SECOND, new=FIRST)[0], 9)
    expect("... says ykman", ykman("fips_verify_pin", FIRST), BLOCKED)
    expect("ykit resets U2F", ykit("reset", "--force")[0], 0)
    expect("the FIPS mode is over for good, says ykman",
           (ykman("fips_change_pin", None, FIRST), ykman("is_in_fips_mode"), ykman("fips_verify_pin", FIRST)), (None, False, None))
    expect("ykman resets it as well", (ykman("fips_reset"), ykit("pin", "verify", pin=FIRST)[0]), (None, 8))
