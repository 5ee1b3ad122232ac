// SPDX-License-Identifier: Apache-2.0

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
