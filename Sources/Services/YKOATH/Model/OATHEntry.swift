// SPDX-License-Identifier: Apache-2.0

/// The CALCULATE ALL result for one account.
public struct OATHEntry: Sendable, Hashable {
    /// The account.
    public let account: OATHAccount
    /// The code, or why there is none.
    public let outcome: Outcome

    /// Creates an entry.
    public init(account: OATHAccount, outcome: Outcome) {
        self.account = account
        self.outcome = outcome
    }

    /// A code, or why there is none.
    public enum Outcome: Sendable, Hashable {
        /// The code.
        case code(OATHCode)
        /// The code requires a touch; request it by name.
        case needsTouch
        /// Calculating a code would advance the counter; request it by name.
        case hotp
        /// The code requires a separate command, which the caller ruled out; request it by name.
        case separate
        /// The code of this account could not be calculated; the others are unaffected.
        case failed(OATHError)
    }

    /// The code, if there is one.
    public var code: OATHCode? { if case .code(let code) = outcome { code } else { nil } }
}

extension OATHEntry: CustomStringConvertible {
    /// The account and its code, or why there is none.
    public var description: String { "\(account) \(outcome)" }
}

extension OATHEntry.Outcome: CustomStringConvertible {
    /// The code, or why there is none.
    public var description: String {
        switch self {
        case .code(let code): code.text
        case .needsTouch: "touch required"
        case .hotp: "not calculated: counter-based"
        case .separate: "not calculated"
        case .failed(let error): "not calculated: \(error)"
        }
    }
}
