// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKVirtualKey
import YKVirtualKeyHost

/// The card reader that a served USB key contains.
struct ServedReaderOptions: ParsableArguments {
    static let title = "Card Reader on the USB"

    @Option(
        "--reader-level <level>",
        help: "The level of the card reader: extended, short, t1 or t0.",
        transform: ServedReaderOptions.level)
    var readerLevel: ReaderLevel = .extended

    @Option("--card-fault <rules>", help: "With --usbip: let the card misbehave by these rules; may be repeated.")
    var cardFault: [String] = []

    private static func level(_ text: String) throws -> ReaderLevel {
        guard let level = ReaderLevel(rawValue: text) else {
            throw UsageError("'\(text.printable)' is not a level, expected extended, short, t1 or t0")
        }
        return level
    }
}
