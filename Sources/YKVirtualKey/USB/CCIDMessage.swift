// SPDX-License-Identifier: Apache-2.0

/// A message to a card reader on the USB (CCID 1.1 §6.1): ten bytes, then data.
struct CCIDMessage: Hashable, Sendable {
    /// What is asked for.
    var kind: UInt8
    /// The slot.
    var slot: UInt8
    /// The number that the answer carries.
    var sequence: UInt8
    /// The last two of the three bytes that differ from message to message, least significant first.
    var parameter: UInt16
    /// What follows.
    var data: [UInt8]

    /// The longest message, in bytes.
    static let limit = 3072
    /// The longest data, in bytes.
    static let room = limit - headerSize
    private static let headerSize = 10

    /// The first message in a buffer and its size, `nil` while it is not whole. One that says that it is too long is cut
    /// to what is there, so that it is answered.
    static func first(in buffer: [UInt8]) -> (CCIDMessage, Int)? {
        guard buffer.count >= headerSize else { return nil }
        let length = (1...4).reduce(0) { $0 | Int(buffer[$1]) << (8 * ($1 - 1)) }
        let size = length > room ? buffer.count : headerSize + length
        guard buffer.count >= size else { return nil }
        let message = CCIDMessage(
            kind: buffer[0], slot: buffer[5], sequence: buffer[6],
            parameter: UInt16(buffer[8]) | UInt16(buffer[9]) << 8,
            data: Array(buffer[headerSize..<size]))
        return (message, size)
    }

    /// An answer: its kind, status and error, the last byte of the head, and data.
    func reply(_ kind: UInt8, status: UInt8, error: UInt8 = 0, last: UInt8 = 0, _ data: [UInt8] = []) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: data.count >> (8 * $0)) }
        return [kind] + length + [slot, sequence, status, error, last] + data
    }

    /// The kind of answer that a message gets which is not understood.
    var replyKind: UInt8 {
        switch kind {
        case 0x6B: 0x83
        case 0x73: 0x84
        case 0x69: 0x80
        default: 0x81
        }
    }

    /// T=1: speed 11, CRC and direct convention 10, no extra guard time, waiting times 4D, the clock runs on, blocks of
    /// 254 bytes, node 0.
    static let parameters: [UInt8] = [0x11, 0x10, 0x00, 0x4D, 0x00, 0xFE, 0x00]

    /// The class descriptor (CCID 1.1 §5.1): version 1.10, one slot of 5 V, T=1, all automatic (BE), short and extended
    /// APDUs (40000), messages of 3072 bytes, one command at a time.
    static let descriptor: [UInt8] = [
        54, 0x21, 0x10, 0x01, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0xA0, 0x0F, 0x00, 0x00, 0xA0, 0x0F, 0x00, 0x00, 0x00,
        0x00, 0xB0, 0x04, 0x00, 0x00, 0xB0, 0x04, 0x00, 0x00, 0xFE, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00,
        0x00, 0x00, 0xBE, 0x00, 0x04, 0x00, 0x00, 0x0C, 0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x01,
    ]
}
