// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import TerminalIO
import Verbs
import YKCapture
import YKTransport

/// Commands for recordings.
struct CaptureGroup: ParsableCommand {
    static let about = About(
        "capture", "Show, check and convert recordings.",
        subcommands: [CaptureShow.self, CaptureCheck.self, CaptureRedact.self, CaptureImporting.self],
        examples: [Example("ykit capture show session.jsonl")])
}
