// SPDX-License-Identifier: Apache-2.0

/// A command APDU (ISO 7816-4 §5.1): a header, data, and the expected response length.
public struct APDU: Hashable, Sendable {
    /// The expected response length.
    ///
    /// The choice is always explicit because cards differ on what an absent Le means: some firmware (CanoKey 3.0) then
    /// returns nothing and keeps answering 61xx.
    public enum Le: Hashable, Sendable {
        /// No Le field.
        case none
        /// As many bytes as are available: Le is 00 (short) or 0000 (extended).
        case max
        /// This many bytes, 1 to 65535.
        case bytes(UInt16)
    }

    /// The encoding of length fields.
    public enum Form: Hashable, Sendable {
        /// One-byte lengths: at most 255 bytes of data, 256 in the response.
        case short
        /// Three-byte lengths: at most 65535 bytes of data, 65536 in the response.
        case extended
    }

    /// The class byte; 0x10 marks command chaining, 0x04 secure messaging.
    public var cla: UInt8
    /// The instruction byte.
    public var ins: UInt8
    /// The first parameter.
    public var p1: UInt8
    /// The second parameter.
    public var p2: UInt8
    /// The data field; may be empty.
    public var data: [UInt8]
    /// The expected response length.
    public var le: Le

    /// Creates a command; Le defaults to ``Le/max``.
    public init(
        cla: UInt8 = 0, ins: UInt8, p1: UInt8 = 0, p2: UInt8 = 0, data: [UInt8] = [], le: Le = .max
    ) {
        self.cla = cla
        self.ins = ins
        self.p1 = p1
        self.p2 = p2
        self.data = data
        self.le = le
    }

    /// Creates a command whose P1 and P2 are one number.
    package init(cla: UInt8 = 0, ins: UInt8, parameters: UInt16, data: [UInt8] = [], le: Le = .max) {
        self.init(
            cla: cla, ins: ins, p1: UInt8(parameters >> 8), p2: UInt8(truncatingIfNeeded: parameters), data: data,
            le: le)
    }

    /// P1 and P2 as one number.
    package var parameters: UInt16 { UInt16(p1) << 8 | UInt16(p2) }

    /// SELECT by name, first or only occurrence (ISO 7816-4 §11.2.2).
    public static func select(_ aid: AID) -> APDU {
        APDU(ins: 0xA4, p1: 0x04, p2: 0x00, data: aid.rawValue)
    }
}

extension APDU {
    /// The most data that a short command can carry, in bytes.
    public static let shortDataLimit = 255

    /// Encodes the command (ISO 7816-4 §5.1, cases 1 to 4).
    ///
    /// - Throws: `tooLarge` when the data does not fit the form.
    public func encoded(_ form: Form) throws(WireError) -> [UInt8] {
        let limit = form == .short ? Self.shortDataLimit : 0xFFFF
        guard data.count <= limit else {
            throw WireError(.tooLarge, at: 4, "\(data.count) bytes of data, at most \(limit)")
        }
        var writer = ByteWriter(capacity: data.count + 9)
        writer.append([cla, ins, p1, p2])
        switch form {
        case .short: try writeShort(&writer)
        case .extended: try writeExtended(&writer)
        }
        return writer.bytes
    }

    private func writeShort(_ writer: inout ByteWriter) throws(WireError) {
        if !data.isEmpty {
            writer.byte(UInt8(truncatingIfNeeded: data.count))
            writer.append(data)
        }
        switch le {
        case .none: break
        case .max: writer.byte(0)
        case .bytes(let count):
            guard count > 0, count <= 256 else {
                throw WireError(.tooLarge, at: writer.bytes.count, "Le \(count) does not fit a short command")
            }
            writer.byte(UInt8(truncatingIfNeeded: count))
        }
    }

    private func writeExtended(_ writer: inout ByteWriter) throws(WireError) {
        guard le != .bytes(0) else {
            throw WireError(.malformed, at: writer.bytes.count, "Le of 0 bytes: use none or max")
        }
        if !data.isEmpty {
            writer.byte(0)
            writer.bigEndian(UInt64(data.count), 2)
            writer.append(data)
        }
        if le == .none { return }
        if data.isEmpty { writer.byte(0) }
        if case .bytes(let count) = le { writer.bigEndian(UInt64(count), 2) } else { writer.bigEndian(0, 2) }
    }

    /// Decodes a command in either form (ISO 7816-4 §5.1); every length must match exactly.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        cla = try reader.byte("CLA")
        ins = try reader.byte("INS")
        p1 = try reader.byte("P1")
        p2 = try reader.byte("P2")
        data = []
        le = .none
        guard let first = reader.peek else { return }
        if reader.remaining == 1 {
            le = Self.shortLe(try reader.byte())
        } else if first == 0 {
            try readExtended(&reader)
        } else {
            data = try reader.bytes(Int(try reader.byte("Lc")), "command data")
            if !reader.isAtEnd { le = Self.shortLe(try reader.byte("Le")) }
        }
        try reader.finish("the command")
    }

    private mutating func readExtended(_ reader: inout ByteReader) throws(WireError) {
        _ = try reader.byte("extended length marker")
        let length = try reader.uint16("extended length")
        if reader.isAtEnd {
            le = length == 0 ? .max : .bytes(length)
            return
        }
        guard length > 0 else { throw WireError(.malformed, at: 5, "an extended Lc of 0") }
        data = try reader.bytes(Int(length), "command data")
        if reader.isAtEnd { return }
        let expected = try reader.uint16("extended Le")
        le = expected == 0 ? .max : .bytes(expected)
    }

    private static func shortLe(_ byte: UInt8) -> Le { byte == 0 ? .max : .bytes(UInt16(byte)) }
}

/// A response APDU (ISO 7816-4 §5.1): data, then the status word.
public struct ResponseAPDU: Hashable, Sendable {
    /// The data field; may be empty.
    public var data: [UInt8]
    /// The status word.
    public var status: StatusWord

    /// Creates a response.
    public init(_ status: StatusWord, data: [UInt8] = []) {
        self.data = data
        self.status = status
    }

    /// Decodes a response.
    ///
    /// - Throws: `truncated` for fewer than two bytes.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count >= 2 else {
            throw WireError(.truncated, at: bytes.count, "a response has at least the two bytes of its status word")
        }
        data = Array(bytes.dropLast(2))
        status = StatusWord(UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1]))
    }

    /// The encoded response: data, then the status word, most significant byte first.
    public var encoded: [UInt8] { data + [status.sw1, status.sw2] }
}

/// An application identifier (ISO 7816-4 §8.2.1.2): 5 to 16 bytes that SELECT names.
/// YKProtocols has those of known applications.
public struct AID: OpenSet {
    /// The bytes of the identifier.
    public let rawValue: [UInt8]

    /// Wraps an identifier.
    public init(rawValue: [UInt8]) { self.rawValue = rawValue }

    /// Whether `other` names this application: one is a prefix of the other (ISO 7816-4 §8.2.1.2, partial selection).
    public func matches(_ other: [UInt8]) -> Bool {
        other.count >= 5 && (rawValue.starts(with: other) || other.starts(with: rawValue))
    }
}
