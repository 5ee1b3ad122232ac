// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A message from the kernel to the program that emulates a HID device (linux/uhid.h): a four-byte type in the
/// machine's byte order, then a structure that depends on the type.
enum UHIDMessage: Hashable, Sendable {
    /// The device was created.
    case start
    /// The device was removed.
    case stop
    /// The first program opened the device.
    case open
    /// The last program closed the device.
    case close
    /// A report for the device, starting with its report number.
    case output([UInt8])
    /// A request for a report, which must be answered.
    case getReport(id: UInt32)
    /// A feature report for the device, which must be answered.
    case setReport(id: UInt32)
    /// An unknown or invalid message.
    case other(UInt32)

    /// The size of the longest structure including its type, that of CREATE2, in bytes.
    static let limit = 4 + 276 + reportLimit
    /// The maximum report size, in bytes.
    private static let reportLimit = 4096

    /// Parses a message; never fails.
    init(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        let number = (try? reader.littleEndian(4)).map { UInt32(truncatingIfNeeded: $0) } ?? .max
        self =
            switch number {
            case 2: .start
            case 3: .stop
            case 4: .open
            case 5: .close
            case 6: Self.output(&reader).map(UHIDMessage.output) ?? .other(number)
            case 9:
                (try? reader.littleEndian(4)).map { .getReport(id: UInt32(truncatingIfNeeded: $0)) } ?? .other(number)
            case 13:
                (try? reader.littleEndian(4)).map { .setReport(id: UInt32(truncatingIfNeeded: $0)) } ?? .other(number)
            default: .other(number)
            }
    }

    /// Parses 4096 bytes of data, two bytes with its length, and one with the report type.
    private static func output(_ reader: inout ByteReader) -> [UInt8]? {
        guard let data = try? reader.bytes(reportLimit), let size = try? reader.littleEndian(2) else { return nil }
        return size <= UInt64(reportLimit) ? Array(data.prefix(Int(size))) : nil
    }

    /// Encodes CREATE2, which creates the device.
    static func create(_ device: HIDDescription) -> [UInt8] {
        var writer = ByteWriter(capacity: limit)
        writer.littleEndian(11, 4)
        writer.append(text(device.name, 128))
        writer.append(text(device.place, 64))
        writer.append(text(device.serial, 64))
        writer.littleEndian(UInt64(device.descriptor.count), 2)
        writer.littleEndian(3, 2)
        writer.littleEndian(UInt64(device.vendor), 4)
        writer.littleEndian(UInt64(device.product), 4)
        writer.littleEndian(UInt64(device.version), 4)
        writer.littleEndian(0, 4)
        writer.append(device.descriptor)
        return writer.bytes
    }

    /// DESTROY, which removes the device.
    static var destroy: [UInt8] { number(1) }

    /// Encodes INPUT2, a report from the device.
    static func input(_ report: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 6 + report.count)
        writer.littleEndian(12, 4)
        writer.littleEndian(UInt64(report.count), 2)
        writer.append(report)
        return writer.bytes
    }

    /// The answer to a report request: no such report (EIO). `nil` for messages that need no answer.
    var refusal: [UInt8]? {
        var writer = ByteWriter(capacity: 12)
        switch self {
        case .getReport(let id):
            writer.littleEndian(10, 4)
            writer.littleEndian(UInt64(id), 4)
            writer.littleEndian(5, 2)
            writer.littleEndian(0, 2)
        case .setReport(let id):
            writer.littleEndian(14, 4)
            writer.littleEndian(UInt64(id), 4)
            writer.littleEndian(5, 2)
        default: return nil
        }
        return writer.bytes
    }

    private static func number(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 4)
        writer.littleEndian(number, 4)
        return writer.bytes
    }

    /// A string padded with at least one zero byte.
    private static func text(_ text: String, _ size: Int) -> [UInt8] {
        let bytes = Array(text.utf8.prefix(size - 1))
        return bytes + [UInt8](repeating: 0, count: size - bytes.count)
    }
}

/// Why the virtual key could not become a HID device of this machine.
public enum UHIDError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel lacks uhid or has not loaded it.
    case missing(path: String)
    /// This user may not create HID devices.
    case denied(path: String)
    /// Any other failure, with the error number.
    case failed(path: String, errno: Int32, String)
    /// The kernel removed the device.
    case gone

    /// What happened and what to do, in one line.
    public var description: String {
        switch self {
        case .missing(let path): "there is no \(path): the kernel's uhid module is not loaded"
        case .denied(let path): "no permission to create a HID device with \(path)"
        case .failed(let path, _, let reason): "\(path): \(reason)"
        case .gone: "the kernel removed the HID device"
        }
    }
}
