// SPDX-License-Identifier: Apache-2.0

/// Why a string is not an `otpauth://` URI: the field, and what is wrong with it. Never contains the secret.
public struct OtpauthError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part of the URI.
    public enum Field: String, Hashable, Sendable, CaseIterable {
        case scheme, type, label, issuer, secret, algorithm, digits, period, counter, query
    }

    /// What is wrong with a field.
    public enum Reason: Hashable, Sendable {
        /// The field is missing.
        case missing
        /// The field is repeated.
        case duplicate
        /// The field is empty.
        case empty
        /// The field has an unsupported value; `nil` for one that is not quoted, because it could be a secret.
        case notUnderstood(String?)
        /// The field is a number outside these bounds; `nil` if it is not a number.
        case outOfRange(String?, ClosedRange<Int64>)
        /// A percent sign is not followed by two hexadecimal digits, or the bytes are not UTF-8.
        case badEncoding
        /// The field is not base 32.
        case badBase32
        /// The field is base 32 with a character missing or too many.
        case incompleteBase32
        /// The field contains a character that ends a name for some programs.
        case zeroCharacter
        /// The row of a table has this number of fields instead of the header's, so its columns are shifted.
        case shiftedRow(fields: Int, columns: Int)
        /// The secret is only the server's half: the device contributes the other (privacyIDEA's two-step enrollment).
        case twoStep
    }

    /// The field.
    public let field: Field
    /// What is wrong with it.
    public let reason: Reason

    /// Creates an error.
    public init(_ field: Field, _ reason: Reason) {
        self.field = field
        self.reason = reason
    }

    /// Field and reason in a few words.
    public var description: String {
        switch reason {
        case .missing: "\(field.rawValue) is missing"
        case .duplicate: "\(field.rawValue) occurs twice"
        case .empty: "\(field.rawValue) is empty"
        case .notUnderstood(nil): "\(field.rawValue) is not understood"
        case .notUnderstood(let value?): "\(field.rawValue) \"\(value)\" is not understood"
        case .outOfRange(let value, let range):
            field.rawValue + (value.map { " \"\($0)\"" } ?? "")
                + " is not a number from \(range.lowerBound) to \(range.upperBound)"
        case .badEncoding: "\(field.rawValue) is not percent-encoded UTF-8"
        case .badBase32: "\(field.rawValue) is not base 32"
        case .incompleteBase32: "\(field.rawValue) is base 32 with a character missing or too many"
        case .zeroCharacter: "\(field.rawValue) contains a zero character"
        case .shiftedRow(let fields, let columns):
            "\(field.rawValue) is in an unknown column: the row has \(fields) fields, the header \(columns)"
        case .twoStep: "\(field.rawValue) is only half of the secret: this is a two-step enrollment"
        }
    }
}

/// The values of a file's fields that an error may quote.
///
/// A misread file may have a password in any field, so free text is never quoted, only values that cannot be one.
package enum Quotable {
    /// A number with few digits.
    package static func number(_ text: some StringProtocol) -> String? {
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
    package static func name(_ text: some StringProtocol) -> String? {
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
