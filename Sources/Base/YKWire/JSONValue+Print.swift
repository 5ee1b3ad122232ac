// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The value on one line without spaces, in UTF-8.
    public var text: String {
        var out: [UInt8] = []
        write(to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// The value on several lines, indented by two spaces per level.
    public var prettyText: String {
        var out: [UInt8] = []
        write(to: &out, indent: 0)
        return String(decoding: out, as: UTF8.self)
    }

    private func write(to out: inout [UInt8], indent: Int? = nil) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .int(let number): out += String(number).utf8
        case .double(let number): out += (number.isFinite ? String(number) : "null").utf8
        case .string(let text): Self.write(text, to: &out)
        case .array(let elements):
            Self.write(elements, "[", "]", indent, to: &out) { element, out, indent in
                element.write(to: &out, indent: indent)
            }
        case .object(let object):
            Self.write(object.members, "{", "}", indent, to: &out) { member, out, indent in
                Self.write(member.key, to: &out)
                out += (indent == nil ? ":" : ": ").utf8
                member.value.write(to: &out, indent: indent)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ indent: Int?, to out: inout [UInt8],
        _ item: (Item, inout [UInt8], Int?) -> Void
    ) {
        out.append(UInt8(ascii: open))
        for (index, element) in items.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            if let indent { newLine(indent + 1, to: &out) }
            item(element, &out, indent.map { $0 + 1 })
        }
        if let indent, !items.isEmpty { newLine(indent, to: &out) }
        out.append(UInt8(ascii: close))
    }

    private static func newLine(_ level: Int, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\n"))
        out.append(contentsOf: repeatElement(UInt8(ascii: " "), count: level * 2))
    }

    private static func write(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        if text.utf8.contains(where: { $0 >= 0x80 }), text.unicodeScalars.contains(where: \.isHazardous) {
            for scalar in text.unicodeScalars { write(scalar, to: &out) }
        } else {
            writeVisible(text.utf8, to: &out)
        }
        out.append(UInt8(ascii: "\""))
    }

    /// Escapes characters that control a terminal as `\u` and the UTF-16 code units (RFC 8259 §7).
    private static func write(_ scalar: Unicode.Scalar, to out: inout [UInt8]) {
        guard scalar.value >= 0x80, scalar.isHazardous else { return writeVisible(Character(scalar).utf8, to: &out) }
        for unit in scalar.utf16 {
            out += ("\\u" + Hex.encode([UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)])).utf8
        }
    }

    private static func writeVisible(_ bytes: some Sequence<UInt8>, to out: inout [UInt8]) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): out += "\\n".utf8
            case UInt8(ascii: "\r"): out += "\\r".utf8
            case UInt8(ascii: "\t"): out += "\\t".utf8
            case 0..<0x20, 0x7F: out += ("\\u00" + Hex.encode([byte])).utf8
            default: out.append(byte)
            }
        }
    }
}
