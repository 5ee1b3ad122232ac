// SPDX-License-Identifier: Apache-2.0

/// The USB protocol of card readers (CCID revision 1.1): messages with a ten-byte header and data, to and from the
/// reader, one command at a time in each slot.
public enum CCID {
    /// The size of the header, in bytes.
    public static let headerSize = 10
    /// The maximum data length of a message, in bytes: the longest command APDU.
    public static let dataLimit = 65_544
    /// The USB class of a reader's interface (§5.1).
    public static let interfaceClass: UInt8 = 0x0B
    /// The class request that announces an abort (§5.3.1).
    public static let abortRequest: UInt8 = 0x01

    /// The supply voltage for a card (§6.1.1).
    public enum Voltage: UInt8, Hashable, Sendable, CaseIterable {
        /// Selected by the reader.
        case automatic = 0
        /// 5 V, class A.
        case five = 1
        /// 3 V, class B.
        case three = 2
        /// 1.8 V, class C.
        case oneEight = 3
    }

    /// The position of a message in a chain (§6.1.4, §6.2.1).
    public enum Chain: UInt16, Hashable, Sendable {
        /// The only message.
        case whole = 0
        /// The first of several.
        case begin = 1
        /// The last of several.
        case end = 2
        /// A message between the first and the last.
        case middle = 3
        /// No data: requests the next message.
        case proceed = 0x10
    }

    /// The data length that a header announces, in bytes; `nil` while the header is incomplete. Any 32-bit value:
    /// compare it with ``dataLimit``.
    public static func announcedLength(_ start: some Collection<UInt8>) -> Int? {
        guard start.count >= headerSize else { return nil }
        return start.dropFirst().prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Decodes a message: type, slot, sequence number, the three type-specific bytes, and data of exactly the announced
    /// length.
    static func read(
        _ bytes: [UInt8]
    ) throws(WireError) -> (kind: UInt8, slot: UInt8, sequence: UInt8, tail: [UInt8], data: [UInt8]) {
        var reader = ByteReader(bytes)
        let kind = try reader.byte("the message's kind")
        let length = try reader.littleEndian(4, "the length")
        guard length <= UInt64(dataLimit) else {
            throw WireError(.tooLarge, at: 1, "a message of \(length) bytes, at most \(dataLimit)")
        }
        let (slot, sequence) = (try reader.byte("the slot"), try reader.byte("the sequence number"))
        let tail = try reader.bytes(3, "the header's end")
        let data = try reader.bytes(Int(length))
        try reader.finish("the message")
        return (kind, slot, sequence, tail, data)
    }

    static func write(_ kind: UInt8, _ slot: UInt8, _ sequence: UInt8, _ tail: [UInt8], _ data: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: headerSize + data.count)
        writer.byte(kind)
        writer.littleEndian(UInt64(data.count), 4)
        writer.append([slot, sequence])
        writer.append(tail)
        writer.append(data)
        return writer.bytes
    }
}
