// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The reason for declining a request; the server and its log distinguish the reasons.
public enum DeclineReason: String, Hashable, Sendable, CaseIterable {
    /// The user did not start the login: someone else may know the password.
    case unknownTrigger = "unknown_trigger"
    /// The user who started the login has cancelled it.
    case cancelled
}

/// The texts of privacyIDEA's push tokens that the account's key signs, using RSASSA-PKCS1-v1_5 with SHA-256 over their
/// UTF-8 form. The signature is in base 32 with padding.
public enum PushText {
    /// Fetches the open requests.
    ///
    /// - Parameter timestamp: RFC 3339; the server tolerates a difference of 60 seconds.
    public static func poll(serial: String, timestamp: String) -> String { "\(serial)|\(timestamp)" }

    /// Approves a request, with the chosen number if one is required.
    public static func approval(of nonce: String, serial: String, number: String? = nil) -> String {
        "\(nonce)|\(serial)" + (number.map { "|\($0)" } ?? "")
    }

    /// Declines a request.
    public static func decline(of nonce: String, serial: String, _ reason: DeclineReason? = nil) -> String {
        "\(nonce)|\(serial)|decline" + (reason.map { "|\($0.rawValue)" } ?? "")
    }

    /// Sets the delivery address of requests.
    ///
    /// - Parameter timestamp: RFC 3339; the server tolerates a difference of five minutes.
    public static func address(_ address: String, serial: String, timestamp: String) -> String {
        "\(address)|\(serial)|\(timestamp)"
    }

    /// Encodes a signature in upper case with padding, as the server requires.
    static func encoded(_ signature: [UInt8]) -> String { Base32.encode(signature, padded: true) }
}

/// JSON in its canonical form for signing (RFC 8785): members sorted by UTF-16 code units, no white space.
enum CanonicalJSON {
    /// Returns the text; `nil` for numbers with a fraction or an exponent, and for integers that a double cannot
    /// represent.
    static func text(_ value: JSONValue) -> String? {
        switch value {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .int(let number): return number.magnitude <= 1 << 53 ? String(number) : nil
        case .double: return nil
        case .string(let text): return quoted(text)
        case .array(let elements):
            var parts: [String] = []
            for element in elements {
                guard let part = text(element) else { return nil }
                parts.append(part)
            }
            return "[" + parts.joined(separator: ",") + "]"
        case .object(let object):
            var parts: [String] = []
            for member in object.members.sorted(by: { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }) {
                guard let part = text(member.value) else { return nil }
                parts.append(quoted(member.key) + ":" + part)
            }
            return "{" + parts.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\u{08}": out += "\\b"
            case "\t": out += "\\t"
            case "\n": out += "\\n"
            case "\u{0C}": out += "\\f"
            case "\r": out += "\\r"
            case "\u{00}"..<"\u{20}": out += "\\u00" + Hex.encode([UInt8(truncatingIfNeeded: scalar.value)])
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
