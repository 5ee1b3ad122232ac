// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// An account to write onto a key, with its secret.
public struct NewOATHAccount: Sendable {
    /// What names the account, and whether it counts time or uses.
    public var id: OATHAccountID
    /// The secret as the service gave it out.
    public let secret: SharedSecret
    /// The hash function.
    public var algorithm: OATHAlgorithm
    /// How many digits a code has, 6 to 8.
    public var digits: Int
    /// Whether a code needs a touch; YubiKeys have it from firmware 4.2.6.
    public var needsTouch: Bool
    /// Where a counter-based account starts.
    public var counter: UInt32

    /// Describes an account; nothing is checked before it is written.
    public init(
        id: OATHAccountID, secret: consuming Secret, algorithm: OATHAlgorithm = .sha1, digits: Int = 6,
        needsTouch: Bool = false, counter: UInt32 = 0
    ) {
        self.id = id
        self.secret = SharedSecret(secret)
        self.algorithm = algorithm
        self.digits = digits
        self.needsTouch = needsTouch
        self.counter = counter
    }
}
