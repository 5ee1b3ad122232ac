// SPDX-License-Identifier: Apache-2.0

/// The values of a file's fields that an error may quote.
///
/// A misread file may have a password in any field, so free text is never quoted, only values that cannot be one.
enum Quotable {
    /// A number with few digits.
    static func number(_ text: some StringProtocol) -> String? {
        let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) || [0x20, 0x2B, 0x2D].contains($0) }
        return isNumber && text.utf8.count <= 20 ? String(text) : nil
    }

    /// A scheme (RFC 3986 §3.1).
    static func scheme(_ text: some StringProtocol) -> String? {
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        guard let first = text.utf8.first, isLetter(first), text.utf8.count <= 32,
            text.utf8.allSatisfy({
                isLetter($0) || (0x2D...0x2E).contains($0) || $0 == 0x2B || (0x30...0x39).contains($0)
            })
        else { return nil }
        return String(text)
    }

    /// The name of a type, an algorithm or an encoding that other programs know, or its number.
    static func name(_ text: some StringProtocol) -> String? {
        names.contains(text.lowercased()) ? String(text) : number(text)
    }

    private static let names: Set<String> = [
        "aes", "alphanumeric", "base64", "battlenet", "binary", "hexadecimal", "blizzard", "daypass", "gost",
        "hmac-md5", "hmacmd5", "md5", "mobileotp", "motp", "ocra",
        "pipush", "push", "ripemd160", "sha-224", "sha-384", "sha224", "sha3", "sha3-256", "sha384", "streebog", "tiqr",
        "yandex", "yaotp",
    ]

    /// A URI of the XML and PSKC standards, up to its fragment.
    static func identifier(_ text: String) -> String? {
        let isKnown = ["http://www.", "http://", "urn:ietf:"].contains { text.hasPrefix($0) }
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isKnown && isPlain && text.utf8.count <= 128 ? text : name(text)
    }
}
