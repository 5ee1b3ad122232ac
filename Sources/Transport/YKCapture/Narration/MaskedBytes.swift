// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Bytes, some of which may be secret. A slice keeps track of its secret bytes.
struct MaskedBytes: Sendable {
    let bytes: [UInt8]
    private let secrets: [Range<Int>]

    init(_ bytes: [UInt8], masks: [Capture.Event.Mask] = []) {
        self.init(bytes, Redactor.joined(masks).map { min($0.offset, bytes.count)..<min($0.end, bytes.count) })
    }

    private init(_ bytes: [UInt8], _ secrets: [Range<Int>]) {
        self.bytes = bytes
        self.secrets = secrets.filter { !$0.isEmpty }
    }

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }
    /// Whether any byte is secret.
    var isSecret: Bool { !secrets.isEmpty }

    /// A slice; the range is clamped to the bounds.
    subscript(_ range: Range<Int>) -> MaskedBytes {
        let part = range.clamped(to: 0..<count)
        let inside = secrets.map { $0.clamped(to: part) }
            .map { ($0.lowerBound - part.lowerBound)..<($0.upperBound - part.lowerBound) }
        return MaskedBytes(Array(bytes[part]), inside)
    }

    /// The byte at an index; 0 past the end.
    subscript(_ index: Int) -> UInt8 { bytes.indices.contains(index) ? bytes[index] : 0 }

    func prefix(_ length: Int) -> MaskedBytes { self[0..<max(0, length)] }
    func dropFirst(_ length: Int) -> MaskedBytes { self[min(count, max(0, length))..<count] }

    static func + (first: MaskedBytes, second: MaskedBytes) -> MaskedBytes {
        let shifted = second.secrets.map { ($0.lowerBound + first.count)..<($0.upperBound + first.count) }
        return MaskedBytes(first.bytes + second.bytes, first.secrets + shifted)
    }

    /// The big-endian number in these bytes; `nil` if any byte is secret or there are more than 8.
    var number: UInt64? {
        guard !isSecret, (1...8).contains(count) else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Hexadecimal digits, with secret runs marked as such; truncated after 48 bytes.
    var hex: String { hex(limit: 48) }

    func hex(limit: Int) -> String {
        let shown = prefix(limit)
        var text = ""
        var position = 0
        for secret in shown.secrets {
            text += Hex.encode(shown.bytes[position..<secret.lowerBound]) + "‹secret›"
            position = secret.upperBound
        }
        text += Hex.encode(shown.bytes[position...])
        return count > limit ? text + "… (\(count) bytes)" : text
    }

    /// The text in quotation marks with control characters escaped, or hexadecimal digits if it is not UTF-8.
    var text: String {
        if isSecret { return hex }
        guard let text = String(validating: bytes, as: UTF8.self) else { return hex }
        return Self.quoted(text)
    }

    /// Quotes a text so that it is safe to show on a terminal.
    static func quoted(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where scalar.value >= 0x80, .format, .lineSeparator, .paragraphSeparator:
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return JSONValue.string(safe).text.replacingBackslashes
    }

    /// One BER-TLV data object.
    struct Field {
        let tag: TLV.Tag
        let value: MaskedBytes
    }

    /// The complete data objects at the start, and the bytes after them.
    var fields: (list: [Field], rest: MaskedBytes) {
        var reader = ByteReader(bytes)
        var list: [Field] = []
        while !reader.isAtEnd {
            let start = reader.offset
            guard let tag = try? reader.tlvTag(), let length = try? reader.tlvLength() else {
                return (list, dropFirst(start))
            }
            let value = reader.offset
            guard (try? reader.reader(length)) != nil else { return (list, dropFirst(start)) }
            list.append(Field(tag: tag, value: self[value..<reader.offset]))
        }
        return (list, dropFirst(count))
    }

    /// Formats one line per data object, named by its tag; data that cannot be parsed is shown in hexadecimal.
    func lines(_ name: (Field) -> String) -> [String] {
        let (list, rest) = fields
        return list.map(name) + (rest.isEmpty ? [] : ["not a data object: \(rest.hex)"])
    }
}

extension String {
    /// JSON escapes backslashes, but the escapes made here must appear unchanged.
    fileprivate var replacingBackslashes: String {
        var result = ""
        var wasBackslash = false
        for character in self {
            if wasBackslash, character == "\\" {
                wasBackslash = false
                continue
            }
            wasBackslash = character == "\\"
            result.append(character)
        }
        return result
    }
}
