// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for private keys.
struct PIVKeys: ParsableCommand {
    static let about = About(
        "keys", "Manage private keys in slots.",
        subcommands: [
            PIVGenerateKey.self, PIVImportKey.self, PIVKeyInfo.self, PIVExportKey.self, PIVMoveKey.self,
            PIVDeleteKey.self, PIVAttestKey.self,
        ])
}
