// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for PIN, PUK and management key.
struct PIVAccess: ParsableCommand {
    static let about = About(
        "access", "Manage PIN, PUK and management key.",
        subcommands: [
            PIVChangePIN.self, PIVChangePUK.self, PIVUnblockPIN.self, PIVSetRetries.self, PIVChangeManagementKey.self,
        ])
}
