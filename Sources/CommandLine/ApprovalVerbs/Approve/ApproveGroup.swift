// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments

/// Commands that approve logins.
package struct ApproveGroup: ParsableCommand {
    package static let about = About(
        "Approve or decline logins of a privacyIDEA server with a security key.",
        subcommands: [
            "enroll": ApproveEnroll.self, "accounts": ApproveAccounts.self, "list": ApproveList.self,
            "show": ApproveShow.self, "yes": ApproveYes.self, "no": ApproveNo.self, "history": ApproveHistoryVerb.self,
            "address": ApproveAddress.self, "logout": ApproveLogout.self, "clear": ApproveClear.self,
            "move-store": ApproveMoveStore.self, "code": ApproveCode.self, "offline": ApproveOffline.self,
            "add": ApproveAdd.self, "sync": ApproveSync.self, "migrate": ApproveMigrateGroup.self,
            "open": ApproveOpen.self, "qr-type": ApproveQRType.self, "watch": ApproveWatch.self,
            "store": ApproveStoreGroup.self,
        ],
        examples: [Example("ykit approve yes")])

    package init() {}
}

/// Commands for the keys that open the account store.
struct ApproveStoreGroup: ParsableCommand {
    static let about = About(
        "The keys that open the secrets in the account store.",
        subcommands: [
            "info": StoreInfo<ApproveStoreOptions>.self, "add-key": StoreAddKey<ApproveStoreOptions>.self,
            "remove-key": StoreRemoveKey<ApproveStoreOptions>.self,
        ],
        examples: [Example("ykit approve store info")])
}
