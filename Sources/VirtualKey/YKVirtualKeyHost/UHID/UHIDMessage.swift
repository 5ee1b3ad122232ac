// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
import YKWire

/// What the kernel says to who plays a HID device (linux/uhid.h): a number of four bytes in the machine's byte order,
/// then a structure of the number's own.
enum UHIDMessage: Hashable, Sendable {
    /// The device exists.
    case start
    /// The device is gone.
    case stop
    /// The first program opened it.
    case open
    /// The last program closed it.
    case close
    /// A report for the device, with its report number first.
    case output([UInt8])
    /// A report is asked for; it has to be answered.
    case getReport(id: UInt32)
    /// A feature report for the device; it has to be answered.
    case setReport(id: UInt32)
    /// Something else, or something that makes no sense.
    case other(UInt32)

    /// The longest structure with its number, in bytes: that of CREATE2.
    static let limit = 4 + 276 + reportLimit
    /// The longest report, in bytes.
    private static let reportLimit = 4096

    /// Reads one message; whatever it is, it has a meaning.
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

    /// 4096 bytes of data, two bytes of its length, one of the kind of report.
    private static func output(_ reader: inout ByteReader) -> [UInt8]? {
        guard let data = try? reader.bytes(reportLimit), let size = try? reader.littleEndian(2) else { return nil }
        return size <= UInt64(reportLimit) ? Array(data.prefix(Int(size))) : nil
    }
}

extension UHIDMessage {
    /// CREATE2: makes the device.
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

    /// DESTROY: takes the device away.
    static var destroy: [UInt8] { number(1) }

    /// INPUT2: a report from the device.
    static func input(_ report: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 6 + report.count)
        writer.littleEndian(12, 4)
        writer.littleEndian(UInt64(report.count), 2)
        writer.append(report)
        return writer.bytes
    }

    /// The answer to a message that asks for one: there is no such report (EIO); `nil` when none is asked for.
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

    /// A text with at least one zero after it.
    private static func text(_ text: String, _ size: Int) -> [UInt8] {
        let bytes = Array(text.utf8.prefix(size - 1))
        return bytes + [UInt8](repeating: 0, count: size - bytes.count)
    }
}
