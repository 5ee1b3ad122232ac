// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A message from a USB host over USB/IP (Linux Documentation/usb/usbip_protocol.rst): a 48-byte header with big-endian
/// numbers, then the data sent to the device.
enum USBIPMessage: Hashable, Sendable {
    /// A transfer.
    case submit(Transfer)
    /// The cancellation of a transfer.
    case unlink(sequence: UInt32, target: UInt32)

    /// A transfer on an endpoint.
    struct Transfer: Hashable, Sendable {
        /// The sequence number, repeated in the answer.
        var sequence: UInt32
        /// Whether data flows from the device to the host.
        var isIn: Bool
        /// The endpoint's number, 0 to 15.
        var endpoint: UInt8
        /// The number of bytes requested or sent.
        var length: Int
        /// The eight-byte setup packet of a control transfer.
        var setup: [UInt8]
        /// The data for the device.
        var data: [UInt8] = []
    }

    /// The size of the header, in bytes.
    static let headerSize = 48
    /// The maximum transfer size, in bytes.
    static let limit = 1 << 20

    /// Encodes the result of a transfer: its status, 0 or a negative error number, and the data from the device.
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

    /// Encodes the answer to UNLINK: −104 if the transfer was still pending, 0 if it had completed.
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

/// Assembles USB/IP messages from a stream of bytes, however it is split.
struct USBIPAssembler: Sendable {
    private var buffer: [UInt8] = []

    /// Adds the bytes received.
    mutating func feed(_ bytes: [UInt8]) { buffer += bytes }

    /// Removes and returns the next complete message. Throws if the stream is invalid; it cannot be used after that.
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

/// Why the virtual key could not become a USB device of this machine.
public enum USBIPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel lacks the virtual host controller or has not loaded it.
    case missing(path: String)
    /// This user may not attach devices to it.
    case denied(path: String)
    /// All its ports are in use.
    case noPort
    /// Any other failure, with the error number.
    case failed(path: String, errno: Int32, String)
    /// The kernel removed the device or sent an invalid message.
    case gone

    /// What happened, in one line.
    public var description: String {
        switch self {
        case .missing(let path): "there is no \(path): the kernel's vhci-hcd module is not loaded"
        case .denied(let path): "no permission to attach a USB device with \(path)"
        case .noPort: "all ports of the virtual USB host controller are in use"
        case .failed(let path, _, let reason): "\(path): \(reason)"
        case .gone: "the kernel removed the USB device"
        }
    }
}
