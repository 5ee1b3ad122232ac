// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import TerminalIO
import Verbs
import YKDesktop

/// Started in the background by `--clipboard`: waits, then clears the code, which it reads from standard input, from
/// the clipboard.
struct ClearClipboard: ParsableCommand {
    static let uses: GlobalUse = []
    static let about = About("Remove a code from the clipboard.", shouldDisplay: false)

    @Option("--after", help: "How many seconds to wait.") var after: UInt32

    static var isVerb: Bool { true }

    func carryOut(_ declarations: Declarations) async -> Int32 {
        do {
            let code = try Files.read("-")
            sleep(min(after, 3600))
            try Clipboard.current().clear(ifHolding: code)
            return ExitStatus.done.rawValue
        } catch {
            let explanation = Explanation(error)
            Terminal().fail(explanation)
            return explanation.exit.rawValue
        }
    }
}
