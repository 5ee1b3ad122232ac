// SPDX-License-Identifier: Apache-2.0

extension CCID.Descriptor {
    /// The size of the descriptor, in bytes.
    public static let size = 54
    /// The descriptor's type; some early readers use FF.
    public static let types: Set<UInt8> = [0x21, 0xFF]

    /// Decodes a class descriptor; excess bytes are ignored.
    ///
    /// - Throws: `WireError` for a descriptor that is too short or of the wrong type.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let length = try reader.byte("the length")
        guard length >= Self.size else {
            throw WireError(.truncated, at: 0, "a descriptor of \(length) bytes, expected \(Self.size)")
        }
        let type = try reader.byte("the type")
        guard Self.types.contains(type) else {
            throw WireError(.malformed, at: 1, "a descriptor of type \(Hex.encode([type])), expected 21")
        }
        release = UInt16(truncatingIfNeeded: try reader.littleEndian(2, "the release"))
        lastSlot = try reader.byte("the last slot")
        voltages = try reader.byte("the voltages")
        protocols = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the protocols"))
        clock = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the clock"))
        _ = try reader.bytes(9, "the highest clock, how many there are, and the lowest rate")
        maxRate = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the highest rate"))
        _ = try reader.byte("how many rates there are")
        maxBlockSize = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the size of blocks"))
        _ = try reader.bytes(8, "synchronous protocols and mechanics")
        features = Features(rawValue: UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the features")))
        maxMessageLength = UInt32(truncatingIfNeeded: try reader.littleEndian(4, "the length of messages"))
        _ = try reader.bytes(5, "classes, display and PIN")
        busySlots = try reader.byte("the busy slots")
    }

    /// The encoded descriptor: one clock, one rate, classes echoed.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: Self.size)
        writer.append([UInt8(Self.size), 0x21])
        writer.littleEndian(UInt64(release), 2)
        writer.append([lastSlot, voltages])
        writer.littleEndian(UInt64(protocols), 4)
        for _ in 0..<2 { writer.littleEndian(UInt64(clock), 4) }
        writer.byte(0)
        for _ in 0..<2 { writer.littleEndian(UInt64(maxRate), 4) }
        writer.byte(0)
        writer.littleEndian(UInt64(maxBlockSize), 4)
        writer.littleEndian(0, 8)
        writer.littleEndian(UInt64(features.rawValue), 4)
        writer.littleEndian(UInt64(maxMessageLength), 4)
        writer.append([0xFF, 0xFF, 0, 0, 0, busySlots])
        return writer.bytes
    }
}
