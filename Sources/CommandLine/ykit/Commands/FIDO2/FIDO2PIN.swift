// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for the PIN.
struct FIDO2PIN: ParsableCommand {
    static let about = About(
        "pin", "Manage the PIN of the FIDO application.",
        subcommands: [FIDO2PINSet.self, FIDO2PINChange.self, FIDO2PINVerify.self, FIDO2PINRetries.self])
}
