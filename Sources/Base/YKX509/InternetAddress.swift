// SPDX-License-Identifier: Apache-2.0

import YKWire

/// IP addresses as text and as the 4 or 16 bytes of certificates.
enum InternetAddress {
    /// Parses a dotted IPv4 address or RFC 4291 §2.2 text; `nil` for anything else.
    static func bytes(_ text: String) -> [UInt8]? { text.contains(bytesOf: ":") ? six(text) : four(text) }

    /// Dotted numbers, or eight groups of hexadecimal digits.
    static func text(_ bytes: [UInt8]) -> String {
        switch bytes.count {
        case 4: return bytes.map { String($0) }.listed(by: ".")
        case 16:
            return stride(from: 0, to: 16, by: 2)
                .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.listed(by: ":")
        default: return Hex.encode(bytes)
        }
    }

    private static func four(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8($0) : nil }
        return parts.count == 4 && numbers.count == 4 ? numbers : nil
    }

    private static func six(_ text: String) -> [UInt8]? {
        guard let text = withoutDots(text) else { return nil }
        let halves = halves(text)
        guard let first = groups(halves.0) else { return nil }
        guard let second = halves.1 else { return first.count == 16 ? first : nil }
        guard let last = groups(second), first.count + last.count <= 14 else { return nil }
        return first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
    }

    /// Writes an IPv4 address at the end as two groups (RFC 4291 §2.2, the third form); `nil` if it is malformed.
    private static func withoutDots(_ text: String) -> String? {
        guard text.contains(bytesOf: "."), let colon = text.lastIndex(of: ":") else { return text }
        guard let end = four(String(text[text.index(after: colon)...])) else { return nil }
        return String(text[...colon]) + Hex.encode(Array(end[..<2])) + ":" + Hex.encode(Array(end[2...]))
    }

    /// The parts before and after the two colons that stand for zeros.
    private static func halves(_ text: String) -> (String, String?) {
        let characters = Array(text)
        for index in characters.indices.dropLast() where characters[index] == ":" && characters[index + 1] == ":" {
            return (String(characters[..<index]), String(characters[(index + 2)...]))
        }
        return (text, nil)
    }

    private static func groups(_ text: String) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        for group in text.split(separator: ":", omittingEmptySubsequences: false) {
            guard (1...4).contains(group.count), let number = UInt16(group, radix: 16), group.first != "+" else {
                return nil
            }
            bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
        }
        return bytes
    }
}
