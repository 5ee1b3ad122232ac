// SPDX-License-Identifier: Apache-2.0

/// A 70-byte frame that the host sends to the OTP application over HID: a payload of up to 64 bytes and a command.
public struct OTPFrame: Hashable, Sendable {
    /// The command.
    public var command: OTPCommand
    /// The payload, padded with zeros to 64 bytes when sent.
    public let payload: [UInt8]

    /// The maximum payload size, in bytes.
    public static let payloadSize = 64
    /// The size of a frame in bytes: payload, command, CRC-16 of the payload with the least significant byte first,
    /// three zeros.
    public static let size = 70

    /// Creates a frame.
    ///
    /// - Throws: `tooLarge` for a payload of more than 64 bytes.
    public init(_ command: OTPCommand, _ payload: [UInt8] = []) throws(WireError) {
        guard payload.count <= Self.payloadSize else {
            throw WireError(.tooLarge, at: Self.payloadSize, "a payload of \(payload.count) bytes, 64 fit")
        }
        self.command = command
        self.payload = payload + [UInt8](repeating: 0, count: Self.payloadSize - payload.count)
    }

    /// Decodes a whole frame.
    ///
    /// - Throws: `malformed` for a wrong CRC.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        payload = try reader.bytes(Self.payloadSize, "the payload")
        command = OTPCommand(rawValue: try reader.byte("the slot command"))
        let crc = UInt16(truncatingIfNeeded: try reader.littleEndian(2, "the CRC"))
        guard crc == CRC16.remainder(payload) else {
            throw WireError(.malformed, at: Self.payloadSize + 1, "the CRC of a slot frame is wrong")
        }
        _ = try reader.bytes(3, "the filler")
        try reader.finish("a slot frame")
    }

    /// The 70 bytes.
    public var encoded: [UInt8] {
        let crc = CRC16.remainder(payload)
        return payload + [command.rawValue, UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8), 0, 0, 0]
    }

    /// The feature reports that carry the frame: seven bytes, then 80 and the number. Reports with only zeros are
    /// omitted, except the first and the last.
    public var reports: [[UInt8]] {
        let bytes = encoded
        return (0..<OTPReport.partsOfFrame).compactMap { number in
            let part = bytes[(number * 7)..<(number * 7 + 7)]
            let isNeeded = number == 0 || number == OTPReport.partsOfFrame - 1 || part.contains { $0 != 0 }
            return isNeeded ? part + [OTPReport.write | UInt8(number)] : nil
        }
    }

    /// Reassembles frames on the key's side, from the reports that a host sets.
    public struct Assembler: Sendable {
        private var bytes = [UInt8](repeating: 0, count: OTPFrame.size)

        /// Creates an empty assembler.
        public init() {}

        /// The effect of a report.
        public enum Progress: Hashable, Sendable {
            /// More reports follow.
            case part
            /// The last part: a complete frame, not yet checked.
            case whole([UInt8])
            /// The host aborts its frame or stops waiting for a reply.
            case reset
        }

        /// Adds one report. A report of the wrong length throws and changes nothing. A number above 9 makes the key
        /// abort: hosts use 15 or, like ykman after each reply, 31.
        public mutating func add(_ report: [UInt8]) throws(WireError) -> Progress {
            guard report.count == OTPReport.size else {
                throw WireError(.malformed, at: 0, "a feature report of \(report.count) bytes, expected 8")
            }
            let flags = report[7]
            let number = Int(flags & OTPReport.numberMask)
            guard flags & OTPReport.write != 0, number < OTPReport.partsOfFrame else {
                self = Assembler()
                return .reset
            }
            bytes.replaceSubrange((number * 7)..<(number * 7 + 7), with: report[..<7])
            guard number == OTPReport.partsOfFrame - 1 else { return .part }
            defer { self = Assembler() }
            return .whole(bytes)
        }
    }
}

/// The CRC-16 of the Yubico OTP application and its tokens (ISO 13239): polynomial 8408 reflected, start FFFF.
public enum CRC16 {
    /// The remainder of a message followed by its CRC.
    public static let residue: UInt16 = 0xF0B8

    /// The remainder of the bytes, not complemented.
    public static func remainder(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0xFFFF) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x8408 }
        }
    }

    /// The two bytes that end a message so that ``isValid(_:)`` holds: the complemented remainder, least significant
    /// byte first.
    public static func trailer(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let crc = ~remainder(bytes)
        return [UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8)]
    }

    /// Whether the last two bytes are the correct trailer for the bytes before them.
    public static func isValid(_ bytes: some Sequence<UInt8>) -> Bool { remainder(bytes) == residue }
}
