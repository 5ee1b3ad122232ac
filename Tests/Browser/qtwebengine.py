#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with a page of QtWebEngine, in a guest, uses a guarded key: qtwebengine.py. It has no dialog for a PIN; of the
accounts, of which the person has chosen one before, it takes the first.

It is driven by the DevTools protocol, without a screen. YKIT_QT is the python with PyQt6-WebEngine."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bench  # noqa: E402
import ceremonies  # noqa: E402,F401
import chromium  # noqa: E402

from lib.peer import within  # noqa: E402

PROGRAM = """
import sys
from PyQt6.QtCore import QUrl
from PyQt6.QtWebEngineCore import QWebEngineWebAuthUxRequest
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication
program = QApplication(sys.argv[:1])
view = QWebEngineView()

def asked(request):
    def changed(state):
        if state == QWebEngineWebAuthUxRequest.WebAuthUxState.SelectAccount:
            request.setSelectedAccount(request.userNames()[0])
    request.stateChanged.connect(changed)
    changed(request.state())

view.page().webAuthUxRequested.connect(asked)
view.load(QUrl(sys.argv[1]))
view.show()
sys.exit(program.exec())
"""


class QtWebEngine(chromium.Chromium):
    name = "qtwebengine"
    # The key derives them, but the results of prf are empty in QtWebEngine 6.11.
    has_secrets = False

    def start(self, url):
        self.folder, self.number = tempfile.mkdtemp(), 0
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "QTWEBENGINE_DISABLE_SANDBOX": "1",
                       "QTWEBENGINE_REMOTE_DEBUGGING": str(chromium.PORT), "QT_LOGGING_RULES": "*=false"}
        with open(f"{self.folder}/log", "w") as said:
            self.processes = [subprocess.Popen([os.environ["YKIT_QT"], "-c", PROGRAM, url], stdin=subprocess.DEVNULL, stdout=said,
                                               stderr=said)]
        page = within(400, lambda: self.page(url), 1)
        assert page, bench.read(f"{self.folder}/log")
        self.socket = chromium.WebSocket(chromium.PORT, page["webSocketDebuggerUrl"].split(str(chromium.PORT), 1)[1])
        self.shows(url)

    def attend(self):
        """There is no dialog."""

    def picture(self, path):
        self.page_picture(path)


if __name__ == "__main__":
    bench.run(QtWebEngine, __file__)
