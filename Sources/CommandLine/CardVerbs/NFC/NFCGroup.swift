// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

/// Commands for NFC tags.
struct NFCGroup: ParsableCommand {
    static let about = About(
        "nfc", "NFC tags: what a key shows to a phone.",
        subcommands: [NFCRead.self, NFCParse.self],
        examples: [Example("ykit nfc read")])
}
