// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Parses exactly one value (RFC 8259), at most 64 levels deep; duplicate keys are an error.
    public init(parsing text: String) throws(WireError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// Parses exactly one value from UTF-8 text (RFC 8259), at most 64 levels deep; duplicate keys are an error.
    public init(parsing bytes: [UInt8]) throws(WireError) {
        var parser = Parser(bytes: bytes)
        self = try parser.whole()
    }

    /// Parses what another program wrote carelessly: U+FFFD replaces half of a surrogate pair, as in a name that was cut in
    /// the middle of an emoji, and of duplicate keys the last one counts.
    package init(repairing bytes: [UInt8]) throws(WireError) {
        var parser = Parser(bytes: bytes)
        parser.repairs = true
        self = try parser.whole()
    }

    private struct Parser {
        let bytes: [UInt8]
        var position = 0
        var repairs = false

        mutating func whole() throws(WireError) -> JSONValue {
            let value = try value(depth: 0)
            skipSpace()
            guard position == bytes.count else {
                throw WireError(.trailing, at: position, "text left over after the JSON value")
            }
            return value
        }

        var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        func fault(_ reason: String) -> WireError {
            WireError(next == nil ? .truncated : .malformed, at: position, reason)
        }

        mutating func skipSpace() {
            while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: scalar) else { return false }
            position += 1
            return true
        }

        mutating func value(depth: Int) throws(WireError) -> JSONValue {
            guard depth <= 64 else { throw WireError(.tooDeep, at: position, "JSON nested deeper than 64 levels") }
            skipSpace()
            switch next {
            case UInt8(ascii: "{"): return .object(try object(depth: depth))
            case UInt8(ascii: "["): return .array(try array(depth: depth))
            case UInt8(ascii: "\""): return .string(try string())
            case UInt8(ascii: "t"): return try word("true", .bool(true))
            case UInt8(ascii: "f"): return try word("false", .bool(false))
            case UInt8(ascii: "n"): return try word("null", .null)
            default: return try number()
            }
        }

        mutating func word(_ text: String, _ value: JSONValue) throws(WireError) -> JSONValue {
            for byte in text.utf8 {
                guard next == byte else { throw fault("expected \(text)") }
                position += 1
            }
            return value
        }

        mutating func array(depth: Int) throws(WireError) -> [JSONValue] {
            position += 1
            var elements: [JSONValue] = []
            skipSpace()
            if take("]") { return elements }
            while true {
                elements.append(try value(depth: depth + 1))
                skipSpace()
                if take("]") { return elements }
                guard take(",") else { throw fault("expected , or ]") }
            }
        }

        mutating func object(depth: Int) throws(WireError) -> Object {
            position += 1
            var members: [Object.Member] = []
            var keys: Set<String> = []
            skipSpace()
            if take("}") { return Object() }
            while true {
                skipSpace()
                let start = position
                let key = try string()
                if !keys.insert(key).inserted {
                    guard repairs else { throw WireError(.duplicate, at: start, "duplicate key \(key)") }
                    members.removeAll { $0.key == key }
                }
                skipSpace()
                guard take(":") else { throw fault("expected :") }
                members.append(.init(key: key, value: try value(depth: depth + 1)))
                skipSpace()
                if take("}") { return Object(members: members) }
                guard take(",") else { throw fault("expected , or }") }
            }
        }

        mutating func number() throws(WireError) -> JSONValue {
            let start = position
            var isInteger = true
            while let byte = next {
                switch byte {
                case 0x30...0x39, UInt8(ascii: "-"): break
                case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isInteger = false
                default: return try number(start, isInteger)
                }
                position += 1
            }
            return try number(start, isInteger)
        }

        func number(_ start: Int, _ isInteger: Bool) throws(WireError) -> JSONValue {
            let digits = String(decoding: bytes[start..<position], as: UTF8.self)
            let unsigned = digits.drop { $0 == "-" }
            let hasLeadingZero =
                unsigned.count > 1 && unsigned.first == "0" && unsigned.dropFirst().first?.isNumber == true
            guard !hasLeadingZero, let first = unsigned.first, first.isNumber else {
                throw WireError(start == bytes.count ? .truncated : .malformed, at: start, "expected a JSON value")
            }
            if isInteger, let integer = Int64(digits) { return .int(integer) }
            guard Self.hasDigitsAroundPoint(digits), let double = Double(digits), double.isFinite else {
                throw WireError(.malformed, at: start, "not a JSON number")
            }
            return .double(double)
        }

        /// Whether a digit follows the decimal point (RFC 8259 §6); the digit before it is checked elsewhere.
        static func hasDigitsAroundPoint(_ digits: String) -> Bool {
            guard let point = digits.firstIndex(of: ".") else { return true }
            return digits[digits.index(after: point)...].first?.isNumber == true
        }

        mutating func string() throws(WireError) -> String {
            guard take("\"") else { throw fault("expected a string") }
            let start = position
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let valid = String(validating: text, as: UTF8.self) else {
                        throw WireError(.malformed, at: start, "the string is not valid UTF-8")
                    }
                    return valid
                case UInt8(ascii: "\\"): text += try escape()
                case 0..<0x20: throw WireError(.malformed, at: position - 1, "control character in a string")
                default: text.append(byte)
                }
            }
            throw fault("the string does not end")
        }

        mutating func escape() throws(WireError) -> [UInt8] {
            guard let byte = next else { throw fault("the string does not end") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
            case UInt8(ascii: "b"): return [0x08]
            case UInt8(ascii: "f"): return [0x0C]
            case UInt8(ascii: "n"): return [0x0A]
            case UInt8(ascii: "r"): return [0x0D]
            case UInt8(ascii: "t"): return [0x09]
            case UInt8(ascii: "u"): return try unicodeEscape()
            default: throw WireError(.malformed, at: position - 1, "unknown escape in a string")
            }
        }

        mutating func unicodeEscape() throws(WireError) -> [UInt8] {
            let start = position - 2
            let unit = try codeUnit()
            let end = position
            if UTF16.isLeadSurrogate(unit), take("\\"), take("u") {
                let second = try codeUnit()
                if UTF16.isTrailSurrogate(second) {
                    return Array(String(decoding: [unit, second], as: UTF16.self).utf8)
                }
            }
            guard let scalar = Unicode.Scalar(unit) else {
                guard repairs else { throw WireError(.malformed, at: start, "lone surrogate in a string") }
                position = end
                return Array("\u{FFFD}".utf8)
            }
            return Array(String(Character(scalar)).utf8)
        }

        mutating func codeUnit() throws(WireError) -> UInt16 {
            guard bytes.count - position >= 4 else {
                position = bytes.count
                throw fault("the string does not end")
            }
            let digits = String(decoding: bytes[position..<(position + 4)], as: UTF8.self)
            guard let pair = try? Hex.decode(digits), pair.count == 2 else { throw fault("not a Unicode escape") }
            position += 4
            return UInt16(pair[0]) << 8 | UInt16(pair[1])
        }
    }
}
