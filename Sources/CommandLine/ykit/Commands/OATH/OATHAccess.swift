// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for the password of the accounts.
struct OATHAccess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access", abstract: "Manage the password that protects the accounts.",
        subcommands: [OATHAccessChange.self, OATHAccessRemember.self, OATHAccessForget.self])
}
