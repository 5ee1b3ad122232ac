// SPDX-License-Identifier: Apache-2.0

/// An account on a key, with the fields that the command returned.
public struct OATHAccount: Hashable, Sendable {
    /// The account's identifier.
    public var id: OATHAccountID
    /// The hash function; `nil` if unknown (CALCULATE ALL does not return it).
    public var algorithm: OATHAlgorithm?
    /// Whether a code requires a touch; `nil` if unknown (LIST does not return it).
    public var needsTouch: Bool?
    /// The number of digits in a code; `nil` if unknown (LIST does not return it).
    public var digits: Int?

    /// Creates an account.
    public init(id: OATHAccountID, algorithm: OATHAlgorithm? = nil, needsTouch: Bool? = nil, digits: Int? = nil) {
        self.id = id
        self.algorithm = algorithm
        self.needsTouch = needsTouch
        self.digits = digits
    }

    /// Whether the account is time-based or counter-based.
    public var type: OATHType { id.type }
}

extension OATHAccount: CustomStringConvertible {
    /// Issuer and name.
    public var description: String { id.description }
}
