// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKDesktop

/// Started in the background by `--clipboard`: waits, then clears the code, which it reads from standard input, from
/// the clipboard.
struct ClearClipboard: Verb {
    static let uses: GlobalUse = []
    static let needsConfiguration = false
    static let about = About("Remove a code from the clipboard.", shouldDisplay: false)
    static let answer = Shape.none

    @Option("--after", help: "How many seconds to wait.") var after: UInt32

    func run(in run: Run) throws -> Outcome<Void> {
        let code = try Files.read("-")
        // ^C clears it at once.
        try? run.sleep(until: run.now + Int64(min(after, 3600)))
        try run.stage.clipboard().clear(ifHolding: code)
        return .printed
    }
}
