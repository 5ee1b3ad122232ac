// SPDX-License-Identifier: Apache-2.0

package import Arguments

package enum Program {
    /// The release of this program.
    package static let version = "0.2.0"

    /// The root of the command tree, which `main` sets before anything is read.
    nonisolated(unsafe) package static var root: any ParsableCommand.Type = Completion.command

    /// The formats of `ykit help formats`, which `main` sets as well.
    nonisolated(unsafe) package static var formats: () -> [ImportFormats.Row] = { [] }
}
