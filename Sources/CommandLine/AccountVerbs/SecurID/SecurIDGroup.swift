// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

/// Commands for SecurID software tokens.
struct SecurIDGroup: ParsableCommand {
    static let about = About(
        "securid", "SecurID software tokens, sealed by a security key.",
        subcommands: [
            SecurIDImport.self, SecurIDList.self, SecurIDCode.self, SecurIDWatch.self, SecurIDUse.self,
            SecurIDRename.self, SecurIDDelete.self, SecurIDReset.self, SecurIDExport.self, SecurIDDetect.self,
            SecurIDBindingID.self, SecurIDShow.self, SecurIDVersion.self, SecurIDStoreGroup.self,
        ],
        examples: [Example("ykit securid import token.txt")])
}

/// Commands for the keys that open the store.
struct SecurIDStoreGroup: ParsableCommand {
    static let about = About(
        "store", "The keys that open the token store.",
        subcommands: [SecurIDStoreShow.self, SecurIDStoreAddKey.self, SecurIDStoreRemoveKey.self],
        examples: [Example("ykit securid store info")])
}
