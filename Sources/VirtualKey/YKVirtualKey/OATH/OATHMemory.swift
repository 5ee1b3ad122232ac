// SPDX-License-Identifier: Apache-2.0

/// What the OATH application keeps without power.
package struct OATHMemory: Hashable, Sendable {
    /// Eight random bytes, drawn anew at each reset: the device identifier is made of them.
    package var salt: [UInt8]
    /// The access key, when there is one.
    package var accessKey: [UInt8]?
    /// The accounts in the order of their places.
    package var accounts: [VirtualAccount]

    package init(salt: [UInt8], accessKey: [UInt8]? = nil, accounts: [VirtualAccount] = []) {
        self.salt = salt
        self.accessKey = accessKey
        self.accounts = accounts
    }

    /// The place of the account with this name.
    package func index(of name: [UInt8]) -> Int? { accounts.firstIndex { $0.name == name } }
}
