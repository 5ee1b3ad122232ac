# SPDX-License-Identifier: Apache-2.0
"""Runs ykit's verbs on the key and on two virtual keys like it."""

import dataclasses
import json
import os
import pathlib
import subprocess
import time


@dataclasses.dataclass
class Result:
    """What one run gave: its exit code, its JSON answer (None if it printed none), its time, its recording."""

    code: int
    answer: dict | None
    seconds: float
    capture: pathlib.Path | None

    @property
    def error(self):
        return ((self.answer or {}).get("error") or {}).get("code")


def environment(own):
    """No variable of ykit's but those of the step."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("YKIT")}
    return {**kept, "XDG_CACHE_HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "YKIT_NAMES": "off", **own}


class Key:
    """A key, real or virtual, with a folder of its own for files."""

    def __init__(self, ykit, options, folder, captures, limit=180):
        self.ykit, self.options, self.folder, self.captures, self.limit = ykit, options, folder, captures, limit
        folder.mkdir(parents=True, exist_ok=True)
        captures.mkdir(parents=True, exist_ok=True)

    def run(self, words, name=None, variables=None, text=None, keyless=False, link=()):
        """Runs a verb, records it under a name, and returns the result."""
        capture = self.captures / f"{name}.jsonl" if name and not keyless else None
        options = [] if keyless else [*self.options, *link]
        command = [self.ykit, "--json", "--quiet", *options, *(["--record", capture] if capture else []), *words]
        began = time.monotonic()
        process = subprocess.Popen(list(map(str, command)), cwd=self.folder, env=environment(variables or {}), text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            output, _ = process.communicate(text or "", timeout=self.limit)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            output, code = process.communicate()[0], -9
        except BaseException:
            process.wait()  # ^C reaches it as well
            raise
        try:
            answer = json.loads(output)
        except ValueError:
            answer = None
        return Result(code, answer, time.monotonic() - began, capture if capture and capture.exists() else None)


def link_of(capture):
    """The options with which a virtual key is reached as the key was in a recording: over its card or over HID."""
    if capture is None:
        return []
    with open(capture, encoding="utf-8") as file:
        return ["--link", {"hid": "hid"}.get(json.loads(file.readline()).get("link"), "pcsc")]


def shown(ykit, capture):
    """A recording, decoded; None if there is none."""
    if capture is None:
        return None
    done = subprocess.run([ykit, "capture", "show", "--json", capture], capture_output=True, text=True, env=environment({}))
    return json.loads(done.stdout) if done.returncode == 0 else None


FORMS = {"Keychain (USB-A)": 1, "Nano (USB-A)": 2, "Keychain (USB-C)": 3, "Nano (USB-C)": 4,
         "Keychain (USB-C, Lightning)": 5, "Bio (USB-A)": 6, "Bio (USB-C)": 7}


def model(info):
    """The model of the virtual key that is like a key, by what its `info` says."""
    major = int((info["firmware"] or "5").split(".")[0])
    if "Bio" in (info["formFactor"] or ""):
        return "yubikey-bio"
    if info["securityKeySeries"]:
        return "security-key"
    if major < 4:
        return "neo"
    return {4: "yubikey4"}.get(major, "yubikey5" if info["fipsSeries"] else "yubikey") + ("-fips" if info["fipsSeries"] else "")


def fido_version(info):
    versions = (info or {}).get("versions") or []
    for name, version in (("FIDO_2_3", "2.3"), ("FIDO_2_1", "2.1"), ("FIDO_2_1_PRE", "2.1-pre"), ("FIDO_2_0", "2.0")):
        if name in versions:
            return version
    return None


def make_twin(ykit, state, info, fido, transport):
    """Writes a new virtual key like the key, on a reader or contactless (usb, nfc); returns what it is."""
    like = {"model": model(info), "firmware": info["firmware"], "fido": fido_version(fido)}
    options = [word for name, value in like.items() if value for word in (f"--{name}", value)]
    done = subprocess.run([ykit, "virtual", "new", state, *options], capture_output=True, text=True, env=environment({}))
    if done.returncode != 0:
        raise SystemExit(f"device: there is no virtual key like this one:\n{done.stderr.strip()}")
    content = json.loads(state.read_text())
    content["device"]["serial"] = int(info["serial"])
    content["device"]["transport"] = transport
    content["device"]["form"] = FORMS.get(info["formFactor"], content["device"].get("form", 1))
    state.write_text(json.dumps(content))
    return like
