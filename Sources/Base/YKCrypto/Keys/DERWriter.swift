// SPDX-License-Identifier: Apache-2.0

/// Writes the few DER structures that wrap keys (X.690 §10).
enum DERWriter {
    static func object(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        let isShort = content.count < 0x80
        let head = isShort ? [UInt8(content.count)] : [0x80 | UInt8(truncatingIfNeeded: length.count)] + length
        return [tag] + head + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { object(0x30, Array(parts.joined())) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { object(0x04, bytes) }
    static func bits(_ bytes: [UInt8]) -> [UInt8] { object(0x03, [0] + bytes) }

    /// An unsigned number, most significant byte first.
    static func number(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        guard let first = digits.first else { return object(0x02, [0]) }
        return object(0x02, first & 0x80 != 0 ? [0] + digits : digits)
    }

    static let rsaEncryption: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]
    static let x25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E]
}

/// Reads DER structures front to back; lengths are checked against what is left.
struct DERReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }
    private init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

    var isAtEnd: Bool { rest.isEmpty }

    /// Returns the next byte; `nil` at the end.
    mutating func byte() -> UInt8? { rest.popFirst() }

    /// Returns the content of an object with this tag; `nil` when the next object has a different tag or is truncated.
    mutating func object(_ tag: UInt8) -> DERReader? {
        guard byte() == tag, let first = byte() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            guard (1...3).contains(first & 0x7F), rest.count >= Int(first & 0x7F) else { return nil }
            length = rest.prefix(Int(first & 0x7F)).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(Int(first & 0x7F))
        }
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return DERReader(rest.prefix(length))
    }

    /// Returns a number without its sign byte, most significant byte first.
    mutating func number() -> [UInt8]? { object(0x02).map { Array($0.rest.drop { $0 == 0 }) } }
}
