// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for the password of the accounts.
struct OATHAccess: ParsableCommand {
    static let about = About(
        "access", "Manage the password that protects the accounts.",
        subcommands: [OATHAccessChange.self, OATHAccessRemember.self, OATHAccessForget.self])
}
