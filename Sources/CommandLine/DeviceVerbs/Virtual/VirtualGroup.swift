// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

/// Commands for virtual keys.
struct VirtualGroup: ParsableCommand {
    static let about = About(
        "virtual", "A security key in software, for tests.",
        subcommands: [VirtualNew.self, VirtualServe.self],
        examples: [Example("ykit virtual new key.json")])
}
