// SPDX-License-Identifier: Apache-2.0

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
