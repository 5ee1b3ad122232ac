// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Verbs on what of a key is switched on.
struct ConfigGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Switch applications of a YubiKey on and off, and lock that.",
        subcommands: [ConfigUSB.self, ConfigNFC.self, ConfigLockCode.self, ConfigMode.self, ConfigReset.self])
}
