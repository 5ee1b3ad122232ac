#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Firefox, in a guest, uses virtual keys on /dev/hidraw with its authenticator-rs: firefox.py [CASE…], all by default.

It runs headless and is driven by Marionette, its dialogs and notices by scripts in the chrome context.
"""

import base64
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bench  # noqa: E402
import ceremonies  # noqa: E402,F401

from lib.peer import received, within  # noqa: E402

PORT = 2828
PREFERENCES = {
    "security.webauth.webauthn_enable_softtoken": False, "security.webauth.webauthn_enable_usbtoken": True,
    "focusmanager.testmode": True, "app.update.enabled": False, "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False, "browser.startup.homepage_override.mstone": "ignore",
    "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "extensions.update.enabled": False,
    "browser.newtabpage.enabled": False, "services.settings.server": "data:,", "media.gmp-manager.updateEnabled": False,
    "browser.tabs.remote.autostart": True, "dom.ipc.processPrelaunch.enabled": False,
}
# A real dialog takes input after a while only, against pages that make users press before they read.
TYPING = """
    window.pins = [];
    const typing = {observe(dialog) {
        const {ui} = dialog.Dialog;
        if (!ui.password1Textbox || !window.pins.length) return;
        dialog.setTimeout(() => {
            ui.password1Textbox.value = window.pins.shift();
            ui.button0.click();
        }, 1500);
    }};
    Services.obs.addObserver(typing, "common-dialog-loaded");
"""
# Notices that wait for consent, or say what happened; the others go away by themselves.
NOTICES = """
    const pressed = [];
    for (const id of ["register-direct", "already-registered", "select-sign-result"]) {
        const notice = PopupNotifications.getNotification("webauthn-prompt-" + id, gBrowser.selectedBrowser);
        if (!notice) continue;
        pressed.push(id);
        notice.mainAction.callback({checkboxChecked: false, source: "button"});
        notice.remove();
    }
    return pressed;
"""


class Marionette:
    """A client of Marionette's protocol: JSON with its length before it."""

    def __init__(self, port):
        self.socket, self.numbers = socket.create_connection(("127.0.0.1", port), 900), itertools.count(1)
        self.receive()

    def receive(self):
        digits = b""
        while (digit := received(self.socket, 1)) != b":":
            digits += digit
        return json.loads(received(self.socket, int(digits)))

    def command(self, name, **parameters):
        data = json.dumps([0, next(self.numbers), name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(data), data))
        _, _, error, result = self.receive()
        if error:
            raise MarionetteError(f"{name}: {error['error']}: {error['message']}")
        return result


class MarionetteError(Exception):
    pass


class Firefox(bench.Browser):
    name, agent, has_large_blob, searches = "firefox", "Firefox/", False, True

    def start(self, url):
        self.folder = tempfile.mkdtemp()
        with open(f"{self.folder}/user.js", "w") as file:
            file.writelines(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        self.said = open(f"{self.folder}/said", "w")  # noqa: SIM115
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile",
             self.folder, url], stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said,
            env={**os.environ, "MOZ_LOG": "webauthn:5", "RUST_LOG": "authenticator=debug", "MOZ_CRASHREPORTER_DISABLE": "1"})
        self.marionette = within(400, self.connected, 1)
        assert self.marionette, bench.read(f"{self.folder}/said")
        # A prompt is a user's to answer, not Marionette's.
        self.command("WebDriver:NewSession", unhandledPromptBehavior="ignore")
        self.command("WebDriver:SetTimeouts", script=300_000, pageLoad=300_000, implicit=0)
        self.go(url)
        self.chrome(TYPING)

    def connected(self):
        try:
            return Marionette(PORT)
        except OSError:
            return None

    def stop(self):
        self.process.terminate()

    def command(self, name, **parameters):
        return self.marionette.command(name, **parameters)

    def chrome(self, script):
        """Runs a script in the browser's own window."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            return self.command("WebDriver:ExecuteScript", script=script, args=[], sandbox="system", newSandbox=False)["value"]
        finally:
            self.command("Marionette:SetContext", value="content")

    def evaluate(self, script):
        return self.unless_asked(lambda: self.command("WebDriver:ExecuteScript", script=f"return {script}", args=[])["value"])

    @staticmethod
    def unless_asked(run):
        """The value of `run()`; None while a prompt is open, which scripts have to wait for."""
        try:
            return run()
        except MarionetteError as error:
            if "unexpected alert open" in str(error):
                return None
            raise

    def go(self, url):
        if self.prompted():
            self.command("WebDriver:DismissAlert")
        self.command("WebDriver:Navigate", url=url)

    def prompted(self):
        """Whether a prompt is open."""
        try:
            self.command("WebDriver:GetAlertText")
        except MarionetteError as error:
            if "no such alert" in str(error):
                return False
            raise
        return True

    def press(self, selector):
        found = self.command("WebDriver:FindElement", using="css selector", value=selector)["value"]
        self.command("WebDriver:ElementClick", id=next(iter(found.values())))

    def begin(self, pins):
        self.chrome(f"window.pins = {json.dumps(list(pins))}")

    def pins_left(self):
        return self.chrome("return window.pins.length")

    def attend(self):
        self.unless_asked(lambda: self.chrome(NOTICES))

    def picture(self, path):
        self.command("Marionette:SetContext", value="chrome")
        self.take(path)
        self.command("Marionette:SetContext", value="content")

    def page_picture(self, path):
        self.take(path)

    def take(self, path):
        taken = self.command("WebDriver:TakeScreenshot", full=True, hash=False)["value"]
        path.write_bytes(base64.b64decode(taken))

    def log(self):
        lines = bench.read(f"{self.folder}/said").splitlines()
        return [line for line in lines if "authenticator" in line or "webauthn" in line][-30:]


bench.run(Firefox, __file__)
