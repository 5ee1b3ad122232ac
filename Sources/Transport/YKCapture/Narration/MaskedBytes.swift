// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Bytes of which some are secret; parts of it keep what is secret in them.
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
    /// Whether any of the bytes is a secret.
    var isSecret: Bool { !secrets.isEmpty }

    /// A part; what of the range sticks out is left away.
    subscript(_ range: Range<Int>) -> MaskedBytes {
        let part = range.clamped(to: 0..<count)
        let inside = secrets.map { $0.clamped(to: part) }
            .map { ($0.lowerBound - part.lowerBound)..<($0.upperBound - part.lowerBound) }
        return MaskedBytes(Array(bytes[part]), inside)
    }

    /// The byte at an index, 0 behind the end.
    subscript(_ index: Int) -> UInt8 { bytes.indices.contains(index) ? bytes[index] : 0 }

    func prefix(_ length: Int) -> MaskedBytes { self[0..<max(0, length)] }
    func dropFirst(_ length: Int) -> MaskedBytes { self[min(count, max(0, length))..<count] }

    static func + (first: MaskedBytes, second: MaskedBytes) -> MaskedBytes {
        let shifted = second.secrets.map { ($0.lowerBound + first.count)..<($0.upperBound + first.count) }
        return MaskedBytes(first.bytes + second.bytes, first.secrets + shifted)
    }

    /// The number that the bytes spell, most significant first; `nil` when it is a secret or of more than 8 bytes.
    var number: UInt64? {
        guard !isSecret, (1...8).contains(count) else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Hexadecimal digits, a secret run shown as such, what is longer than 48 bytes cut.
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

    /// The text in quotation marks, control characters escaped; hexadecimal digits when it is not UTF-8.
    var text: String {
        if isSecret { return hex }
        guard let text = String(validating: bytes, as: UTF8.self) else { return hex }
        return Self.quoted(text)
    }

    /// A text in quotation marks that is safe to show on a terminal.
    static func quoted(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where scalar.value >= 0x80, .format, .lineSeparator, .paragraphSeparator:
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return JSON.string(safe).text.replacingBackslashes
    }

    /// One BER-TLV data object.
    struct Field {
        let tag: UInt32
        let value: MaskedBytes
    }

    /// The data objects from the front, as far as they can be read whole, and what is left behind them.
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
            list.append(Field(tag: tag.rawValue, value: self[value..<reader.offset]))
        }
        return (list, dropFirst(count))
    }

    /// A line a data object, named by its tag; what cannot be read is shown in hexadecimal.
    func lines(_ name: (Field) -> String) -> [String] {
        let (list, rest) = fields
        return list.map(name) + (rest.isEmpty ? [] : ["not a data object: \(rest.hex)"])
    }
}

extension String {
    /// JSON escapes a backslash; the escapes made here are meant to be seen as they are.
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
