// SPDX-License-Identifier: Apache-2.0

import Arguments

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// The command tree of the program.
enum Commands {
    /// Its root, which is that of `Program` from the first use on.
    static let root: any ParsableCommand.Type = {
        Program.root = Ykit.self
        return Ykit.self
    }()
}
