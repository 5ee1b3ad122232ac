// SPDX-License-Identifier: Apache-2.0

/// A secret that values can share, wiped when the last of them goes away.
public final class SharedSecret: Sendable {
    /// The secret.
    public let value: Secret

    /// Takes a secret over.
    public init(_ secret: consuming Secret) { value = secret }
}

extension SharedSecret: CustomStringConvertible, CustomReflectable {
    /// The placeholder, never the bytes.
    public var description: String { Secret.placeholder }
    /// The placeholder, never the bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
