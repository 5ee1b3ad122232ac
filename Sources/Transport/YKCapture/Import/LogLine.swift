// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A line of a log: its number, its text, and helpers to parse it.
struct LogLine {
    let number: Int
    let text: Substring

    /// Splits a log into lines, without line ends and terminal colours.
    static func lines(of log: [UInt8]) -> [LogLine] {
        let plain = String(decoding: withoutColours(log), as: UTF8.self)
        return plain.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
            LogLine(number: $0.offset + 1, text: $0.element)
        }
    }

    private static func withoutColours(_ log: [UInt8]) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(log.count)
        var isEscape = false
        for byte in log where byte != 0x0D {
            if isEscape {
                isEscape = !(0x41...0x7A).contains(byte) || byte == 0x5B
            } else if byte == 0x1B {
                isEscape = true
            } else {
                plain.append(byte)
            }
        }
        return plain
    }

    /// The text after the first occurrence of a mark.
    func after(_ mark: String) -> Substring? {
        guard let place = text.firstRange(of: mark) else { return nil }
        return text[place.upperBound...]
    }

    /// The text between two marks.
    func between(_ start: String, _ end: String) -> Substring? {
        guard let rest = after(start) else { return nil }
        return rest.firstRange(of: end).map { rest[..<$0.lowerBound] }
    }

    /// Parses hexadecimal digits, with or without spaces between the bytes.
    func bytes(_ digits: some StringProtocol, _ what: String) throws(CaptureError) -> [UInt8] {
        let plain = String(digits.filter { $0 != " " })
        if plain.hasSuffix("...") { throw CaptureError(line: number, "the log has cut the \(what) off") }
        return try lift({ (error: WireError) in CaptureError(line: number, "the \(what): \(error)") }) {
            () throws(WireError) in try Hex.decode(plain)
        }
    }
}

extension Substring {
    /// The first occurrence of a string.
    func firstRange(of wanted: String) -> Range<Index>? {
        let pattern = Array(wanted.utf8)
        guard let first = pattern.first else { return nil }
        var start = utf8.startIndex
        while let place = utf8[start...].firstIndex(of: first) {
            if utf8[place...].starts(with: pattern) { return place..<utf8.index(place, offsetBy: pattern.count) }
            start = utf8.index(after: place)
        }
        return nil
    }

    /// The number at the start.
    var leadingNumber: Int? { Int(prefix { $0.isASCII && $0.isNumber }) }
}
