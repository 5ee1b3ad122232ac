// SPDX-License-Identifier: Apache-2.0

/// A value of a set that others extend, such as the codes of a protocol or the words of a server: any raw value can be held,
/// and the known ones have names.
///
/// A value is described by its word, number or bytes unless the type says more.
public protocol OpenSet: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue: Hashable & Sendable {
    /// Wraps a raw value, known or not.
    init(rawValue: RawValue)
}

extension OpenSet {
    /// Wraps a raw value, known or not.
    @inlinable
    public init(_ rawValue: RawValue) { self.init(rawValue: rawValue) }
}

extension OpenSet where RawValue == String {
    /// The word.
    public var description: String { rawValue }
}

extension OpenSet where RawValue: FixedWidthInteger {
    /// The number.
    public var description: String { String(rawValue) }
}

extension OpenSet where RawValue == [UInt8] {
    /// The bytes in hexadecimal.
    public var description: String { Hex.encode(rawValue) }
}
