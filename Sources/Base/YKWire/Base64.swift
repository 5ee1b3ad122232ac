// SPDX-License-Identifier: Apache-2.0

/// Base 64, standard and URL-safe (RFC 4648 §4 and §5).
public enum Base64 {
    private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafe = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes bytes in the URL-safe alphabet without padding.
    public static func encodeURL(_ bytes: [UInt8]) -> String { encode(bytes, urlSafe, padded: false) }

    /// Encodes bytes in the standard alphabet, by default padded with `=` to a multiple of four.
    public static func encode(_ bytes: [UInt8], padded: Bool = true) -> String {
        encode(bytes, standard, padded: padded)
    }

    /// Decodes either alphabet, with or without padding.
    ///
    /// - Throws: `WireError` for other characters, stray bits and impossible lengths.
    public static func decode(_ text: String) throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        var pending: UInt32 = 0
        var bits = 0
        var padding = 0
        var index = -1
        for character in text.utf8 {
            index += 1
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: character) else {
                throw WireError(.malformed, at: index, "not a base64 character")
            }
            pending = pending << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        guard bits < 6, pending & (1 << UInt32(bits) - 1) == 0 else {
            throw WireError(.truncated, at: text.utf8.count, "incomplete base64")
        }
        guard padding == 0 || padding < 3 && (text.utf8.count).isMultiple(of: 4) else {
            throw WireError(.malformed, at: text.utf8.count, "wrong base64 padding")
        }
        return bytes
    }

    /// Decodes either alphabet, with or without padding.
    ///
    /// - Throws: `WireError` for other characters, stray bits and impossible lengths.
    public static func decode(_ text: Substring) throws(WireError) -> [UInt8] { try decode(String(text)) }

    private static func encode(_ bytes: [UInt8], _ alphabet: [UInt8], padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32((3 - group.count) * 8)
            for position in 0...group.count {
                text.append(alphabet[Int(word >> UInt32(18 - 6 * position) & 63)])
            }
            if padded { text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - group.count)) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 0x41...0x5A: character - 0x41
        case 0x61...0x7A: character - 0x61 + 26
        case 0x30...0x39: character - 0x30 + 52
        case 0x2B, 0x2D: 62
        case 0x2F, 0x5F: 63
        default: nil
        }
    }
}

/// Percent-encoding (RFC 3986 §2.1).
public enum PercentEncoding {
    /// Keeps unreserved characters and `@`, and encodes every other byte of the UTF-8 text.
    public static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(contentsOf: Hex.encode([byte]).uppercased().utf8)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes a text; `nil` for an incomplete percent sequence, or bytes that are not UTF-8.
    public static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let pair = try? Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)) else {
                return nil
            }
            bytes += pair
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~@".utf8.contains(byte)
        }
    }
}
