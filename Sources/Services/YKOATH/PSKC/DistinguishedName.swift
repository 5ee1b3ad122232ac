// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The string form of a distinguished name (RFC 4514), as far as user identifiers of key containers need it.
enum DistinguishedName {
    /// The value of the first `CN` attribute; `nil` when there is none.
    static func commonName(_ text: String) -> String? {
        for part in split(text) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2, String(halves[0]).trimmed.uppercased() == "CN" { return unescape(String(halves[1])) }
        }
        return nil
    }

    /// Returns `CN=` and the name with its special characters escaped (RFC 4514 §2.4); leading and trailing spaces are
    /// `\20`, because XML readers drop them.
    static func text(commonName name: String) -> String {
        var escaped = ""
        for (index, character) in name.enumerated() {
            let isEdge = index == 0 || index == name.count - 1
            if isEdge, character == " " {
                escaped += "\\20"
                continue
            }
            if "\\\",+;<>".contains(character) || index == 0 && character == "#" { escaped.append("\\") }
            escaped.append(character)
        }
        return "CN=\(escaped)"
    }

    /// The attributes, split at unescaped commas and plus signs.
    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if !isEscaped, ",+".contains(character) {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
            isEscaped = !isEscaped && character == "\\"
        }
        return parts
    }

    /// A backslash precedes a special character, or two hexadecimal digits that are a byte of UTF-8.
    private static func unescape(_ text: String) -> String {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            if rest.count >= 2, let pair = try? Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)) {
                result += pair
                rest = rest.dropFirst(2)
            } else if let escaped = rest.popFirst() {
                result.append(escaped)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
