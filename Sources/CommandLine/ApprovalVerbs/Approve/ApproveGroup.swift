// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments

/// Commands that approve logins.
struct ApproveGroup: ParsableCommand {
    static let about = About(
        "approve", "Approve or decline logins of a privacyIDEA server with a security key.",
        subcommands: [
            ApproveEnroll.self, ApproveAccounts.self, ApproveList.self, ApproveShow.self, ApproveYes.self,
            ApproveNo.self, ApproveHistoryVerb.self, ApproveAddress.self, ApproveLogout.self, ApproveClear.self,
            ApproveMoveStore.self, ApproveCode.self, ApproveOffline.self, ApproveAdd.self, ApproveSync.self,
            ApproveMigrateGroup.self, ApproveOpen.self, ApproveQRType.self, ApproveWatch.self,
            ApproveStoreGroup.self,
        ],
        examples: [Example("ykit approve yes")])
}

/// Commands for the keys that open the account store.
struct ApproveStoreGroup: ParsableCommand {
    static let about = About(
        "store", "The keys that open the secrets in the account store.",
        subcommands: [
            StoreInfo<ApproveStoreOptions>.self, StoreAddKey<ApproveStoreOptions>.self,
            StoreRemoveKey<ApproveStoreOptions>.self,
        ],
        examples: [Example("ykit approve store info")])
}
