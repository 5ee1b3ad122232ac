// SPDX-License-Identifier: Apache-2.0

/// Builds a message from front to back.
public struct ByteWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8]

    /// Starts empty, with room for `capacity` bytes.
    public init(capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Appends one byte.
    public mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Appends bytes.
    public mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Appends the low `count` bytes (1 to 8) of `value`, most significant first.
    public mutating func bigEndian(_ value: UInt64, _ count: Int) {
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    /// Appends the low `count` bytes (1 to 8) of `value`, least significant first.
    public mutating func littleEndian(_ value: UInt64, _ count: Int) {
        for shift in stride(from: 0, to: count * 8, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }
}
