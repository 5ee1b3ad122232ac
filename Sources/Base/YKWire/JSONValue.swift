// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259) whose objects keep the order of their members.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction or exponent that fits 64 bits.
    case int(Int64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object with its members in order.
    case object(Object)

    /// The members of an object in order, with unique keys.
    public struct Object: Hashable, Sendable {
        /// One key and its value.
        public struct Member: Hashable, Sendable {
            /// The key.
            public let key: String
            /// The value.
            public var value: JSONValue
        }

        /// The members in order.
        public private(set) var members: [Member] = []

        /// Creates an empty object.
        public init() {}

        init(members: [Member]) { self.members = members }

        /// The value of a key; setting appends a new key at the end, setting `nil` removes it.
        public subscript(key: String) -> JSONValue? {
            get { members.first { $0.key == key }?.value }
            set {
                let index = members.firstIndex { $0.key == key }
                switch (index, newValue) {
                case (let index?, let value?): members[index].value = value
                case (let index?, nil): members.remove(at: index)
                case (nil, let value?): members.append(Member(key: key, value: value))
                case (nil, nil): break
                }
            }
        }
    }

    /// The value of a key, when this is an object that contains it.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The text, when this is a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, when this is an integer.
    public var int: Int64? { if case .int(let number) = self { number } else { nil } }
    /// The value, when this is a boolean.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements, when this is an array.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members, when this is an object.
    public var object: Object? { if case .object(let object) = self { object } else { nil } }
    /// The number, when this is any number.
    public var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object with its members in this order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = Object()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}

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
