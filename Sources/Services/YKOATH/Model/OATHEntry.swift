// SPDX-License-Identifier: Apache-2.0

/// What CALCULATE ALL found out about one account.
public struct OATHEntry: Sendable, Hashable {
    /// The account.
    public let account: OATHAccount
    /// Its code, or why there is none.
    public let outcome: Outcome

    /// Makes an entry.
    public init(account: OATHAccount, outcome: Outcome) {
        self.account = account
        self.outcome = outcome
    }

    /// A code, or why there is none.
    public enum Outcome: Sendable, Hashable {
        /// The code.
        case code(OATHCode)
        /// A code needs a touch; ask for it by name.
        case needsTouch
        /// A code would advance the counter; ask for it by name.
        case hotp
        /// A code needs a command of its own, which was not to be sent; ask for it by name.
        case separate
        /// The code of this account could not be made; the others are not concerned.
        case failed(OATHError)
    }

    /// The code, when there is one.
    public var code: OATHCode? { if case .code(let code) = outcome { code } else { nil } }
}
