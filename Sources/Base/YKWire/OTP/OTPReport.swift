// SPDX-License-Identifier: Apache-2.0

/// A feature report of the OTP application as the host reads it: seven bytes and a flag byte.
public enum OTPReport: Hashable, Sendable {
    /// The status of the application, six bytes: version 3, programming sequence, touch level 2.
    case status([UInt8])
    /// A part of a reply, and its number.
    case reply(number: UInt8, [UInt8])
    /// The key waits for a touch.
    case waitingForTouch
    /// The key has not accepted the data yet, or is processing it.
    case busy

    /// The size of a feature report, in bytes.
    public static let size = 8
    /// The number of reports that a frame is split into.
    public static let partsOfFrame = 10
    /// Flag: set by the host with each part it writes, cleared by the key when it has accepted the part.
    static let write: UInt8 = 0x80
    /// Flag: a part of a reply.
    static let pending: UInt8 = 0x40
    /// Flag: the key waits for a touch.
    static let touch: UInt8 = 0x20
    /// The number of a part.
    static let numberMask: UInt8 = 0x1F
    /// The flags of the report that makes the key abort the pending operation.
    static let reset: UInt8 = 0x8F

    /// The report that makes the key abort the pending operation.
    public static let abandonment: [UInt8] = [0, 0, 0, 0, 0, 0, 0, reset]

    /// Decodes a report.
    ///
    /// - Throws: `malformed` unless it has eight bytes.
    public init(decoding report: [UInt8]) throws(WireError) {
        guard report.count == Self.size else {
            throw WireError(.malformed, at: 0, "a feature report of \(report.count) bytes, expected 8")
        }
        let flags = report[7]
        if flags & Self.pending != 0 {
            self = .reply(number: flags & Self.numberMask, Array(report[..<7]))
        } else if flags & Self.touch != 0 {
            self = .waitingForTouch
        } else if flags != 0 {
            self = .busy
        } else {
            self = .status(Array(report[1..<7]))
        }
    }

    /// The eight bytes.
    public var encoded: [UInt8] {
        switch self {
        case .status(let status): Self.filled([0] + status) + [0]
        case .reply(let number, let part): Self.filled(part) + [Self.pending | number & Self.numberMask]
        case .waitingForTouch: Self.filled([]) + [Self.touch]
        case .busy: Self.filled([]) + [Self.write]
        }
    }

    private static func filled(_ bytes: [UInt8]) -> [UInt8] {
        Array((bytes + [UInt8](repeating: 0, count: 7)).prefix(7))
    }

    /// The reports that carry a reply with its CRC-16, numbered from 0; a report with number 0 ends it.
    public static func reports(reply data: [UInt8]) -> [[UInt8]] {
        let bytes = data + CRC16.trailer(data)
        let parts = stride(from: 0, to: bytes.count, by: 7).map { start in
            reply(number: UInt8(truncatingIfNeeded: start / 7) & numberMask, Array(bytes[start...].prefix(7)))
        }
        return (parts + [.reply(number: 0, [])]).map(\.encoded)
    }
}

/// Reassembles a reply of the OTP application on the host's side.
public struct OTPReplyAssembler: Sendable {
    /// The bytes received so far.
    public private(set) var bytes: [UInt8] = []
    private var next: UInt8 = 0

    /// The maximum reply size that the numbers allow, in bytes.
    public static let limit = 32 * 7

    /// Creates an empty assembler.
    public init() {}

    /// Adds the next part; returns true once the reply is complete. A repeated part is ignored; a part out of order
    /// throws.
    public mutating func add(_ number: UInt8, _ part: [UInt8]) throws(WireError) -> Bool {
        if number == 0, next > 0 { return true }
        guard number == next, bytes.count + part.count <= Self.limit else {
            if next > 0, number == next - 1, bytes.suffix(part.count) == part[...] { return false }
            throw WireError(.malformed, at: bytes.count, "part \(number) of a reply, expected part \(next)")
        }
        bytes += part
        next += 1
        return false
    }

    /// The first `count` bytes, after checking the CRC-16 that follows them.
    ///
    /// - Throws: `malformed` for a wrong CRC.
    public func checked(_ count: Int) throws(WireError) -> [UInt8] {
        guard count >= 0, count <= bytes.count - 2 else {
            throw WireError(.truncated, at: bytes.count, "a reply of \(count) bytes with its CRC, got \(bytes.count)")
        }
        guard CRC16.isValid(bytes.prefix(count + 2)) else {
            throw WireError(.malformed, at: count, "the CRC of a reply is wrong")
        }
        return Array(bytes.prefix(count))
    }
}
