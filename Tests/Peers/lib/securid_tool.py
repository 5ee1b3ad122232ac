# SPDX-License-Identifier: Apache-2.0
"""Shared code of the SecurID tests: ykit with its own store and sealing key, stoken, and SDTID files of any shape."""

import base64
import concurrent.futures
import html
import json
import os
import re
import subprocess

from lib.peer import YKIT, own_folder, pipe

WORK = own_folder("securid-")
CACHE = os.environ.get("YKIT_SERVER_CACHE", os.path.expanduser("~root/.cache") + "/ykit-test-servers/ctkip-server")
os.environ["HOME"] = os.environ["XDG_DATA_HOME"] = WORK
os.environ.pop("YKIT_PIN", None)


def raw(*words, stdin="", fds=(), environment=None):
    return subprocess.run([YKIT, *words], input=stdin, capture_output=True, text=True, pass_fds=fds,
                          env={**os.environ, **(environment or {})})


def ykit(*words, key="key.json", store="store.json", stdin="", fds=()):
    """The JSON answer of a verb on a store and a sealing key in the work folder, and its exit status."""
    done = raw("--virtual", f"{WORK}/{key}", "--json", "securid", *words, "--store", f"{WORK}/{store}", stdin=stdin, fds=fds)
    try:
        return json.loads(done.stdout), done.returncode
    except json.JSONDecodeError:
        return {"ok": False, "error": {"code": done.stdout + done.stderr}}, done.returncode


def ykit_with(secrets, *words, **more):
    """Like ykit(), with secrets by descriptors: pairs of an option and the text to read there."""
    fds = []
    for option, secret in secrets:
        if secret:
            fds.append(pipe(secret))
            words += (option, str(fds[-1]))
    try:
        return ykit(*words, fds=fds, **more)
    finally:
        for descriptor in fds:
            os.close(descriptor)


def import_(source, store, password=None, device=None, more=()):
    words = ["import", source, "--allow-expired", *more] + (["--device-id", device] if device else [])
    return ykit_with([("--password-fd", password)], *words, store=store)


def stoken(*words, stdin=""):
    done = subprocess.run(["stoken", *words, "--batch"], input=stdin, capture_output=True, text=True)
    return done.stdout.strip(), done.stderr.strip()


def access(password, device):
    """The options that open a protected token in stoken."""
    return (["--password", password] if password else []) + (["--devid", device] if device else [])


def shown(text):
    return dict(re.findall(r"^(.*?)\s*: (.*)$", text, re.M))


def seed_of(path, *words):
    """The seed that stoken reads from a file."""
    return shown(stoken("show", "--seed", "--file", path, *words)[0]).get("Decrypted seed", "").replace(" ", "").lower()


def written(name, text):
    path = f"{WORK}/{name}"
    with open(path, "w", newline="") as out:
        out.write(text)
    return path


def at_once(work, items):
    """The results of a function on each item, two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, items))


# SDTID files, written from the description of the format and not with ykit's code.

IV1, IV2, IV3 = (bytes.fromhex(text) for text in (
    "2b7e151628aed2a6abf7158809cf4f3c", "1bb67ae8584caa73b25742d7078b83b8", "16a09e667f3bcc908b2fb1366ea957d3"))


def cbc_mac(key, vector, data):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    cipher = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
    return (cipher.update(data + bytes(-len(data) % 16)) + cipher.finalize())[-16:]


def block(key, data):
    return cbc_mac(key, bytes(16), data)


def fit(text, width):
    return text.encode()[:width].ljust(width, b"\0")


def xor(left, right):
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def authenticated(section, fields):
    """The text of a section that its MAC covers; a field is a name and a text or nested fields."""
    lines = []

    def walk(path, fields):
        for name, value in fields:
            if isinstance(value, list):
                walk(f"{path}.{name}", value)
            else:
                lines.append((f"{path}.{name} {value or f'</{name}>'}\n".encode(), bool(value)))
    walk(section, fields)
    buffer, position, padding = bytearray(), 0, 0
    for line, is_full in lines:
        if is_full and len(line) + padding <= 16:
            position -= position % 16
        buffer[position:] = line + bytes(padding)
        position = len(buffer)
        padding = position % 16 or 16
    return bytes(buffer)


def element(name, value):
    inner = "".join(element(*field) for field in value) if isinstance(value, list) else html.escape(value, quote=False)
    return f"<{name}>{inner}</{name}>\n"


def sdtid(tokens, password=None, origin="Origin", dest="Dest", name="Batch", header=(("DefDeath", "2036/12/31"),)):
    """A file of tokens: pairs of a serial number and a seed, optionally with further fields."""
    secret = os.urandom(16)
    fields = [("Version", "0"), ("Origin", origin), ("Dest", dest), ("Name", name), ("FirstToken", tokens[0][0]),
              ("LastToken", tokens[-1][0]), ("NumTokens", str(len(tokens))), ("Secret", base64.b64encode(secret).decode()), *header]
    data = fit((password or origin).strip(), 32) + fit(dest.strip(), 32) + bytes(14)
    total = bytes(16)
    for number in range(1000):
        total = xor(total, cbc_mac(fit(name.strip(), 16), bytes(16), data + number.to_bytes(2, "big")))
    base = xor(block(total, fit("Secret", 8) + fit(name.strip(), 8)), secret)

    def key(vector, label, what):
        return cbc_mac(base, vector, fit(label, 32) + fit(what.strip(), 32))

    def coded(section, name, fields, key, vector):
        mac = base64.b64encode(cbc_mac(key, vector, authenticated(section, fields))).decode()
        return element(section, fields + [(name, mac)])
    parts = [coded("TKNHeader", "HeaderMAC", fields, key(IV1, "BatchMAC", name), IV1)]
    for serial, seed, *more in tokens:
        encrypted = xor(block(key(IV3, "TokenEncrypt", serial), fit(serial.strip(), 8) + fit("Seed", 8)), seed)
        own = [("SN", serial), ("Seed", "=" + base64.b64encode(encrypted).decode()), *(more[0] if more else [])]
        parts.append(coded("TKN", "TokenMAC", own, key(IV2, "TokenMAC", serial), IV2))
    trailer = element("TKNTrailer", [("BatchSignature", " "), ("BatchCertificate", " ")])
    return '<?xml version="1.0"?>\n' + element("TKNBatch", []).replace("</", "".join(parts) + trailer + "</")


raw("virtual", "new", f"{WORK}/key.json")
