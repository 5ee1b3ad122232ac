// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A new account for a key, with its secret.
public struct NewOATHAccount: Sendable {
    /// The account's identifier, with its type.
    public var id: OATHAccountID
    /// The secret as the service issued it.
    public let secret: SharedSecret
    /// The hash function.
    public var algorithm: OATHAlgorithm
    /// The number of digits in a code, 6 to 8.
    public var digits: Int
    /// Whether a code requires a touch; YubiKeys support this from firmware 4.2.6.
    public var needsTouch: Bool
    /// The initial counter of a counter-based account.
    public var counter: UInt32

    /// Creates an account; it is validated when it is written.
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
