# SPDX-License-Identifier: Apache-2.0
"""The device tests of ykman and of python-fido2 pass for virtual keys in a contactless reader of a real pcscd."""

from lib.device_suites import Key, controller, run
from lib.peer import beside_pcscd, reader_port

beside_pcscd("--name", "Contactless")

READER = f"127.0.0.1:{reader_port()}"
IN_READER = "the key is in the reader"
YKMAN = {
    "YubiKey 5.7": ["--firmware", "5.7.4"],
    "YubiKey 5.4": ["--firmware", "5.4.3"],
    "YubiKey 5 FIPS": ["--model", "yubikey5-fips"],
    "YubiKey NEO": ["--model", "neo"],
}
FIDO = {
    "CTAP 2.1": ["--firmware", "5.7.4"],
    "CTAP 2.3": ["--fido", "2.3"],
    "YubiKey 5.8": ["--firmware", "5.8.0"],
    "CTAP 2.0": ["--fido", "2.0"],
}


def test_device_suites():
    for name, options in FIDO.items():
        with Key("--vpcd", READER, "--nfc", *options, waits_for=IN_READER) as key, controller(key) as address:
            run(f"python-fido2, {name}", "fido2", "tests/device", "--reader", "Contactless", "--controller", address)
    for name, options in YKMAN.items():
        with Key("--vpcd", READER, "--nfc", *options, waits_for=IN_READER) as key:
            run(f"ykman, {name}", "yubikey_manager", "tests/device", "--reader", "Contactless", "--device", key.serial())
