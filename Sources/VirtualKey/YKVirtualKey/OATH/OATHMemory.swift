// SPDX-License-Identifier: Apache-2.0

/// The persistent state of the OATH application.
package struct OATHMemory: Hashable, Sendable {
    /// Eight random bytes, drawn again at each reset, from which the device identifier is derived.
    package var salt: [UInt8]
    /// The access key, if set.
    package var accessKey: [UInt8]?
    /// The accounts in order.
    package var accounts: [VirtualAccount]

    package init(salt: [UInt8], accessKey: [UInt8]? = nil, accounts: [VirtualAccount] = []) {
        self.salt = salt
        self.accessKey = accessKey
        self.accounts = accounts
    }

    /// The index of the account with this name.
    package func index(of name: [UInt8]) -> Int? { accounts.firstIndex { $0.name == name } }
}
