# SPDX-License-Identifier: Apache-2.0
"""Sessions of python-yubihsm with keys from `ykit hsmauth calculate`: both ends agree on encrypted messages.

The host's end is python-yubihsm itself. The HSM's end has the static keys, authenticates with its cryptogram or receipt,
checks the host's cryptogram and every MAC, and answers ECHO. YKIT is the ykit that serves the virtual key.
"""

import json
import os
import struct
import subprocess
import sys

from cryptography.hazmat.primitives import cmac, hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
from yubihsm.backends import YhsmBackend
from yubihsm.core import AsymmetricAuth, SymmetricAuth, YubiHsm, _calculate_iv, _calculate_mac, _derive
from yubihsm.defs import COMMAND
from yubihsm.exceptions import YubiHsmAuthenticationError

from lib.peer import YKIT, expect

WORK = os.environ["YKIT_TEST_TMP"]
POINT = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def ykit(*arguments, status=0, text=None, **secrets):
    line = [YKIT, "--virtual", f"{WORK}/hsm-key.json", "--json", "hsmauth", *arguments]
    settings = {**os.environ, **{f"YKIT_HSMAUTH_{name.upper()}": text for name, text in secrets.items()}}
    done = subprocess.run(line, capture_output=True, text=True, input=text or "", env=settings)
    if done.returncode != status:
        sys.exit(f"FAIL {' '.join(arguments)}: {done.returncode} {done.stdout} {done.stderr}")
    return json.loads(done.stdout)


def keys(answer):
    return [bytes.fromhex(answer[name]) for name in ("sEnc", "sMac", "sRmac")]


class HSM(YhsmBackend):
    """The device's end of one session."""

    def __init__(self, static=None, private=None, public=None):
        self.static, self.private, self.public = static, private, public
        self.texts, self.counter = [], 1

    def close(self):
        pass

    def transceive(self, message):
        command, length = struct.unpack("!BH", message[:3])
        assert length == len(message) - 3, message.hex()
        data = message[3:]
        if command == COMMAND.DEVICE_INFO:
            return self.answer(command, struct.pack("!BBBIBB", 2, 2, 0, 1, 62, 0))
        if command == COMMAND.CREATE_SESSION:
            return self.answer(command, self.symmetric(data[2:]) if len(data) == 10 else self.asymmetric(data[2:]))
        if command == COMMAND.AUTHENTICATE_SESSION:
            self.chain, mac = _calculate_mac(self.mac, b"\0" * 16, message[:-8])
            right = data[1:9] == _derive(self.mac, 1, self.context, 0x40) and mac == message[-8:]
            return self.answer(command, b"") if right else self.answer(COMMAND.ERROR, b"\x04")
        assert command == COMMAND.SESSION_MESSAGE, command
        self.chain, mac = _calculate_mac(self.mac, self.chain, message[:-8])
        if mac != message[-8:]:
            return self.answer(COMMAND.ERROR, b"\x04")
        cipher = Cipher(algorithms.AES(self.encryption), modes.CBC(_calculate_iv(self.encryption, self.counter)))
        self.counter += 1
        plain = cipher.decryptor().update(data[1:-8]).rstrip(b"\0")[:-1]
        self.texts.append(plain)
        reply = bytes([plain[0] | 0x80]) + plain[1:] + b"\x80"
        reply += b"\0" * (-len(reply) % 16)
        wrapped = struct.pack("!BHB", command | 0x80, 1 + len(reply) + 8, 0) + cipher.encryptor().update(reply)
        return wrapped + _calculate_mac(self.rmac, self.chain, wrapped)[1]

    @staticmethod
    def answer(command, data):
        code = command if command == COMMAND.ERROR else command | 0x80
        return struct.pack("!BH", code, len(data)) + data

    def symmetric(self, challenge):
        own = os.urandom(8)
        self.context = challenge + own
        encryption, mac = self.static
        self.encryption, self.mac, self.rmac = (_derive(key, kind, self.context) for key, kind in ((encryption, 4), (mac, 6), (mac, 7)))
        return b"\0" + own + _derive(self.mac, 0, self.context, 0x40)

    def asymmetric(self, point):
        ephemeral = ec.generate_private_key(ec.SECP256R1())
        own = ephemeral.public_key().public_bytes(*POINT)
        host = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        shared = ephemeral.exchange(ec.ECDH(), host) + self.private.exchange(ec.ECDH(), self.public)
        derived = X963KDF(hashes.SHA256(), 64, b"\x3c\x88\x10").derive(shared)
        receipt = cmac.CMAC(algorithms.AES(derived[:16]))
        receipt.update(own + point)
        self.chain = receipt.finalize()
        self.encryption, self.mac, self.rmac = derived[16:32], derived[32:48], derived[48:]
        return b"\0" + own + self.chain


def talk(name, hsm, session):
    for text in (b"first", b"", os.urandom(300)):
        expect(f"{name}: {len(text)} bytes come back", session.send_secure_cmd(COMMAND.ECHO, text), text)
    expect(f"{name}: the HSM read them", len(hsm.texts), 3)


def test_symmetric():
    password = "a password"
    derived = PBKDF2HMAC(hashes.SHA256(), 32, b"Yubico", 10000).derive(password.encode())
    ykit("add", "one", "--derive", "--management-password-stdin", text="\n", derivation_password=password, password="cred")
    hsm = HSM((derived[:16], derived[16:]))
    half = SymmetricAuth.init_session(YubiHsm(hsm), 1)
    answer = ykit("calculate", "one", "--context", half.context.hex(), "--cryptogram", half.card_crypto.hex(), "--show-keys",
                  password="cred")
    talk("aes128", hsm, half.authenticate(*keys(answer)))
    wrong = ykit("calculate", "one", "--context", half.context.hex(), "--cryptogram", "00" * 8, "--show-keys", password="cred", status=8)
    expect("a wrong cryptogram gives no keys", (wrong["sEnc"], wrong["error"] is None), (None, False))
    other = HSM((os.urandom(16), os.urandom(16)))
    half = SymmetricAuth.init_session(YubiHsm(other), 1)
    answer = ykit("calculate", "one", "--context", half.context.hex(), "--show-keys", password="cred")
    try:
        half.authenticate(*keys(answer))
        expect("an HSM with other keys is refused by python-yubihsm", False)
    except YubiHsmAuthenticationError:
        expect("an HSM with other keys is refused by python-yubihsm", True)


def test_asymmetric():
    ykit("add", "two", "--algorithm", "p256", "--generate", "--management-password-stdin", text="\n", password="cred")
    public = serialization.load_pem_public_key(
        subprocess.run([YKIT, "--virtual", f"{WORK}/hsm-key.json", "hsmauth", "export-public-key", "two"], check=True,
                       capture_output=True).stdout)
    private = ec.generate_private_key(ec.SECP256R1())
    hsm = HSM(private=private, public=public)
    own = f"{WORK}/hsm.pem"
    with open(own, "wb") as file:
        file.write(private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    asked, told = f"{WORK}/asked", f"{WORK}/told"
    os.mkfifo(asked)
    os.mkfifo(told)
    line = [YKIT, "--virtual", f"{WORK}/hsm-key.json", "--json", "hsmauth", "calculate", "two", "--show-keys", "--hsm-key", own,
            "--exchange", f"cat >'{asked}'; cat '{told}'"]

    def session(change=lambda receipt: receipt):
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                   env={**os.environ, "YKIT_HSMAUTH_PASSWORD": "cred"})
        with open(asked) as file:
            point = bytes.fromhex(file.read())
        half = AsymmetricAuth.init_session(YubiHsm(hsm), 2, point)
        with open(told, "w") as file:
            file.write((half.epk_hsm + change(half.receipt)).hex() + "\n")
        output = process.communicate()[0]
        return half, process.returncode, json.loads(output)

    half, status, answer = session()
    expect("p256: the keys are given out", status, 0)
    talk("p256", hsm, half.authenticate(*keys(answer)))
    _, status, answer = session(lambda receipt: bytes(16))
    expect("a wrong receipt gives no keys", (status, answer["sEnc"]), (8, None))
    for name, command, wanted in (("that fails", "exit 3", 1), ("that prints nothing", "true", 13), ("that prints junk", "echo junk", 13)):
        answer = ykit("calculate", "two", "--show-keys", "--hsm-key", own, "--exchange", command, password="cred", status=wanted)
        expect(f"a command {name} gives no keys", answer["sEnc"], None)
