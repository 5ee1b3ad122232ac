// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
import YKWire

/// What a USB host sends over USB/IP (Linux Documentation/usb/usbip_protocol.rst): 48 bytes, most significant byte of
/// each number first, then what goes out.
enum USBIPMessage: Hashable, Sendable {
    /// A transfer.
    case submit(Transfer)
    /// A transfer is called off.
    case unlink(sequence: UInt32, target: UInt32)

    /// A transfer on an endpoint.
    struct Transfer: Hashable, Sendable {
        /// The number that the answer carries.
        var sequence: UInt32
        /// Whether data comes from the device.
        var isIn: Bool
        /// The endpoint's number, 0 to 15.
        var endpoint: UInt8
        /// How many bytes are wanted, or came.
        var length: Int
        /// The eight bytes of a control transfer's setup.
        var setup: [UInt8]
        /// What goes to the device.
        var data: [UInt8] = []
    }

    /// The size of what comes before the data, in bytes.
    static let headerSize = 48
    /// The longest transfer that is taken, in bytes.
    static let limit = 1 << 20

    /// The answer to a transfer: how it ended, 0 or a negative error number, and the data from the device.
    static func returned(_ sequence: UInt32, status: Int32, actual: Int, data: [UInt8] = []) -> [UInt8] {
        var writer = ByteWriter(capacity: headerSize + data.count)
        writer.bigEndian(3, 4)
        writer.bigEndian(UInt64(sequence), 4)
        writer.append(repeatElement(0, count: 12))
        writer.bigEndian(UInt64(UInt32(bitPattern: status)), 4)
        writer.bigEndian(UInt64(actual), 4)
        writer.append(repeatElement(0, count: 20))
        writer.append(data)
        return writer.bytes
    }

    /// The answer to UNLINK: −104 when the transfer was still waiting, 0 when it had ended.
    static func unlinked(_ sequence: UInt32, wasPending: Bool) -> [UInt8] {
        var writer = ByteWriter(capacity: headerSize)
        writer.bigEndian(4, 4)
        writer.bigEndian(UInt64(sequence), 4)
        writer.append(repeatElement(0, count: 12))
        writer.bigEndian(UInt64(UInt32(bitPattern: wasPending ? -104 : 0)), 4)
        writer.append(repeatElement(0, count: 24))
        return writer.bytes
    }
}

/// Puts USB/IP messages together from a stream of bytes, however it is cut.
struct USBIPAssembler: Sendable {
    private var buffer: [UInt8] = []

    /// Takes what came.
    mutating func feed(_ bytes: [UInt8]) { buffer += bytes }

    /// The next message that is whole. Throws when the stream makes no sense, after which nothing else does.
    mutating func next() throws(WireError) -> USBIPMessage? {
        guard buffer.count >= USBIPMessage.headerSize else { return nil }
        var reader = ByteReader(buffer)
        let (command, sequence, _) = (try reader.uint32("command"), try reader.uint32(), try reader.uint32())
        let (direction, endpoint) = (try reader.uint32("direction"), try reader.uint32("endpoint"))
        switch command {
        case 2:
            let target = try reader.uint32("sequence number")
            buffer.removeFirst(USBIPMessage.headerSize)
            return .unlink(sequence: sequence, target: target)
        case 1:
            _ = try reader.uint32("flags")
            let length = Int(try reader.uint32("length"))
            guard length <= USBIPMessage.limit, endpoint < 16, direction < 2 else {
                throw WireError(.tooLarge, at: 24, "a transfer of \(length) bytes on endpoint \(endpoint)")
            }
            _ = try reader.bytes(12, "frames")
            var transfer = USBIPMessage.Transfer(
                sequence: sequence, isIn: direction == 1, endpoint: UInt8(endpoint), length: length,
                setup: try reader.bytes(8, "setup"))
            let size = USBIPMessage.headerSize + (transfer.isIn ? 0 : length)
            guard buffer.count >= size else { return nil }
            transfer.data = Array(buffer[USBIPMessage.headerSize..<size])
            buffer.removeFirst(size)
            return .submit(transfer)
        default: throw WireError(.malformed, at: 0, "USB/IP command \(command)")
        }
    }
}
