// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for virtual keys.
struct VirtualGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "virtual", abstract: "A security key in software.",
        subcommands: [VirtualNew.self, VirtualServe.self])
}
