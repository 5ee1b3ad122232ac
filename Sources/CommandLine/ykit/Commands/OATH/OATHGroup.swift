// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for one-time passwords.
struct OATHGroup: ParsableCommand {
    static let about = About(
        "oath", "One-time codes: TOTP and HOTP accounts.",
        subcommands: [
            OATHShow.self, OATHList.self, OATHCalculate.self, OATHAdd.self, OATHUri.self, OATHImport.self,
            OATHExport.self, OATHRename.self, OATHDelete.self,
            OATHReset.self, OATHAccess.self,
        ])
}
