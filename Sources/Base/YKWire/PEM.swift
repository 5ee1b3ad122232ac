// SPDX-License-Identifier: Apache-2.0

/// A PEM block (RFC 7468): a label around base64.
public struct PEM: Hashable, Sendable {
    /// The label after BEGIN.
    public let label: String
    /// The block as it appears, with its header lines.
    package let text: [UInt8]
    /// The decoded bytes; still encrypted in an encrypted block of the traditional format.
    public let content: [UInt8]
    /// Whether a password is required.
    package let isEncrypted: Bool

    /// Encodes bytes as PEM, 64 characters per line.
    public static func encode(_ label: String, _ bytes: [UInt8]) -> String { encode(label, bytes, width: 64) }

    /// Encodes bytes as PEM, in lines of this many characters: 64 in RFC 7468, 70 in files of OpenSSH.
    package static func encode(_ label: String, _ bytes: [UInt8], width: Int) -> String {
        let lines = String(decoding: lines(Array(Base64.encode(bytes).utf8), width), as: UTF8.self)
        return "-----BEGIN \(label)-----\n\(lines)-----END \(label)-----\n"
    }

    /// The blocks in a text, at most 64; text between them and invalid blocks are skipped. The text may be UTF-8 or UTF-16,
    /// with a byte order mark or without.
    public static func blocks(_ bytes: [UInt8]) -> [PEM] {
        let isMarked = bytes.first == 0xEF || TextFile.isUTF16(bytes)
        return blocks(plain: isMarked ? TextFile.utf8(bytes) ?? bytes : bytes)
    }

    private static func blocks(plain bytes: [UInt8]) -> [PEM] {
        var found: [PEM] = []
        var lines: [ArraySlice<UInt8>] = []
        var label: String?
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) where found.count < 64 {
            let line = line.drop { $0 == 0x20 || $0 == 0x09 }
            if let begun = Self.label(line, "BEGIN") {
                label = begun
                lines = []
            } else if let name = label, Self.label(line, "END") == name {
                if let block = PEM(name, lines) { found.append(block) }
                label = nil
            } else {
                lines.append(line)
            }
        }
        return found
    }

    /// The contents of the blocks with this label, in order.
    public static func contents(_ label: String, in bytes: [UInt8]) -> [[UInt8]] {
        blocks(bytes).filter { $0.label == label }.map { $0.content }
    }

    private init?(_ label: String, _ lines: [ArraySlice<UInt8>]) {
        let headers = lines.filter { $0.contains(UInt8(ascii: ":")) }
        let digits = lines.filter { !$0.contains(UInt8(ascii: ":")) }.joined().filter { $0 != 0x20 && $0 != 0x09 }
        guard let content = try? Base64.decode(String(decoding: digits, as: UTF8.self)) else { return nil }
        self.label = label
        self.content = content
        let isOld = headers.contains { String(decoding: $0, as: UTF8.self).contains(bytesOf: "ENCRYPTED") }
        isEncrypted = isOld || label.hasPrefix("ENCRYPTED ")
        let head =
            headers.isEmpty ? "" : String(decoding: Array(headers.joined(separator: [0x0A])), as: UTF8.self) + "\n\n"
        text =
            Array("-----BEGIN \(label)-----\n\(head)".utf8) + Self.lines(digits, 64)
            + Array("-----END \(label)-----\n".utf8)
    }

    private static func lines(_ digits: [UInt8], _ width: Int) -> [UInt8] {
        stride(from: 0, to: digits.count, by: width).flatMap { digits[$0..<min($0 + width, digits.count)] + [0x0A] }
    }

    private static func label(_ line: ArraySlice<UInt8>, _ word: String) -> String? {
        let text = String(decoding: line, as: UTF8.self)
        let head = "-----\(word) "
        guard text.hasPrefix(head), let end = text.dropFirst(head.count).firstIndex(of: "-") else { return nil }
        let label = text.dropFirst(head.count)[..<end]
        return text[end...].hasPrefix("-----") ? String(label) : nil
    }
}
