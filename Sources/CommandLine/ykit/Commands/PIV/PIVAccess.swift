// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for PIN, PUK and management key.
struct PIVAccess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access", abstract: "Manage PIN, PUK and management key.",
        subcommands: [
            PIVChangePIN.self, PIVChangePUK.self, PIVUnblockPIN.self, PIVSetRetries.self, PIVChangeManagementKey.self,
        ])
}
