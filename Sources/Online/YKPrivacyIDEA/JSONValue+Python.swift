// SPDX-License-Identifier: Apache-2.0

package import YKWire

extension JSONValue {
    /// The value as Python's `json.dumps(value, sort_keys=True)` writes it: members sorted by code point, separated by
    /// `", "` and `": "`, and non-ASCII characters written as `\u` with UTF-16 code units.
    package var pythonText: [UInt8] {
        var out: [UInt8] = []
        writePython(to: &out)
        return out
    }

    private func writePython(to out: inout [UInt8]) {
        switch self {
        case .string(let text): Self.writePython(text, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out += ", ".utf8 }
                element.writePython(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let object):
            out.append(UInt8(ascii: "{"))
            // UTF-8 sorts in code point order.
            let members = object.members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in members.enumerated() {
                if index > 0 { out += ", ".utf8 }
                Self.writePython(member.key, to: &out)
                out += ": ".utf8
                member.value.writePython(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        default: out += text.utf8
        }
    }

    private static func writePython(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: out += [0x5C, UInt8(unit)]
            case 0x08: out += "\\b".utf8
            case 0x09: out += "\\t".utf8
            case 0x0A: out += "\\n".utf8
            case 0x0C: out += "\\f".utf8
            case 0x0D: out += "\\r".utf8
            case 0x20...0x7E: out.append(UInt8(unit))
            default: out += ("\\u" + Hex.encode([UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)])).utf8
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
