// SPDX-License-Identifier: Apache-2.0

/// Base 32 (RFC 4648 §6), as secrets are commonly written.
public enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Encodes bytes in upper case, without padding or padded to a multiple of eight characters.
    public static func encode(_ bytes: [UInt8], padded: Bool = false) -> String {
        var text: [UInt8] = []
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(pending >> bits & 31)])
            }
            pending &= 1 << bits - 1
        }
        if bits > 0 { text.append(alphabet[Int(pending << (5 - bits) & 31)]) }
        if padded { text += Array(repeating: UInt8(ascii: "="), count: (8 - text.count % 8) % 8) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes either case, with or without padding; spaces and hyphens between groups are skipped.
    ///
    /// - Throws: `WireError` for any other character, or a number of characters that no number of bytes encodes to.
    public static func decode(_ text: some StringProtocol) throws(WireError) -> [UInt8] {
        try decode(text, droppingRest: false)
    }

    /// Decodes any number of characters; the bits of an incomplete byte at the end are dropped if the caller allows it.
    package static func decode(_ text: some StringProtocol, droppingRest: Bool) throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        var isPadding = false
        for (index, character) in text.utf8.enumerated() {
            if [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "-")].contains(character) { continue }
            if character == UInt8(ascii: "=") {
                isPadding = true
                continue
            }
            guard !isPadding, let value = value(of: character) else {
                throw WireError(.malformed, at: index, "not a base 32 character")
            }
            pending = (pending << 5 | UInt32(value)) & 0xFFF
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
            }
        }
        guard bits < 5 || droppingRest else { throw WireError(.truncated, at: text.utf8.count, "incomplete base 32") }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 0x41...0x5A: character - 0x41
        case 0x61...0x7A: character - 0x61
        case 0x32...0x37: character - 0x32 + 26
        default: nil
        }
    }
}
