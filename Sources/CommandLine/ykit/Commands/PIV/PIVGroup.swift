// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for the PIV application.
struct PIVGroup: ParsableCommand {
    static let about = About(
        "piv", "PIV: private keys, certificates, signatures, decryption.",
        discussion: """
            'ykit help slots' lists slots and objects. Files: - stands for standard input or output.
            """,
        subcommands: [
            PIVShow.self, PIVAccess.self, PIVKeys.self, PIVCertificates.self, PIVObjects.self, PIVSign.self,
            PIVDecrypt.self, PIVDerive.self, PIVAttest.self, PIVReset.self,
        ])
}
