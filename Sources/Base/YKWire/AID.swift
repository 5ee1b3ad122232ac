// SPDX-License-Identifier: Apache-2.0

/// An application identifier (ISO 7816-4 §8.2.1.2): 5 to 16 bytes that SELECT names.
/// YKProtocols has those of known applications.
public struct AID: OpenSet {
    /// The bytes of the identifier.
    public let rawValue: [UInt8]

    /// Wraps an identifier.
    public init(rawValue: [UInt8]) { self.rawValue = rawValue }

    /// Whether `other` names this application: one is a prefix of the other (ISO 7816-4 §8.2.1.2, partial selection).
    public func matches(_ other: [UInt8]) -> Bool {
        other.count >= 5 && (rawValue.starts(with: other) || other.starts(with: rawValue))
    }
}
