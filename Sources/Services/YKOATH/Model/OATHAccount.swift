// SPDX-License-Identifier: Apache-2.0

/// An account on a key, as far as the command that asked tells.
public struct OATHAccount: Hashable, Sendable {
    /// What names the account.
    public var id: OATHAccountID
    /// The hash function; `nil` when it was not told (CALCULATE ALL does not).
    public var algorithm: OATHAlgorithm?
    /// Whether a code needs a touch; `nil` when it was not told (LIST does not).
    public var needsTouch: Bool?
    /// How many digits a code has; `nil` when it was not told (LIST does not).
    public var digits: Int?

    /// Makes an account.
    public init(id: OATHAccountID, algorithm: OATHAlgorithm? = nil, needsTouch: Bool? = nil, digits: Int? = nil) {
        self.id = id
        self.algorithm = algorithm
        self.needsTouch = needsTouch
        self.digits = digits
    }

    /// Whether the account counts time or uses.
    public var type: OATHType { id.type }
}
