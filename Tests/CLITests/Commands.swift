// SPDX-License-Identifier: Apache-2.0

import AccountVerbs
import Arguments

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// The command tree of the program.
enum Commands {
    /// Its root, which is that of `Program` from the first use on, with the formats.
    static let root: any ParsableCommand.Type = {
        Program.root = Ykit.self
        Program.formats = ImportFormats.all
        return Ykit.self
    }()
}
