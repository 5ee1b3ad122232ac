// SPDX-License-Identifier: Apache-2.0

/// A secret shared by reference, wiped when the last reference is released.
public final class SharedSecret: Sendable {
    /// The secret.
    public let value: Secret

    /// Takes ownership of a secret.
    public init(_ secret: consuming Secret) { value = secret }
}

extension SharedSecret: CustomStringConvertible, CustomReflectable {
    /// The placeholder, never the bytes.
    public var description: String { Secret.placeholder }
    /// The placeholder, never the bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
