// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for FIDO2.
struct FIDO2Group: ParsableCommand {
    static let about = About(
        "fido2", "FIDO2: passkeys and other credentials, PIN, fingerprints.",
        subcommands: [
            FIDO2Show.self, FIDO2Register.self, FIDO2Assert.self, FIDO2Verify.self, FIDO2Try.self, FIDO2Secret.self,
            FIDO2Credentials.self,
            FIDO2PIN.self, FIDO2Fingerprints.self, FIDO2LargeBlob.self,
            FIDO2Config.self, FIDO2Reset.self, FIDO2Select.self,
        ],
        aliases: ["fido"])
}
