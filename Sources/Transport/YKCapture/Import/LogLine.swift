// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A line of a log: its number, its text, and helpers to parse it.
struct LogLine {
    let number: Int
    let text: Substring

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
        let plain = String(decoding: digits.utf8.filter { $0 != 0x20 }, as: UTF8.self)
        if plain.utf8.reversed().starts(with: "...".utf8) {
            throw CaptureError(line: number, "the \(what) is truncated in the log")
        }
        return try lift({ (error: WireError) in CaptureError(line: number, "the \(what): \(error)") }) {
            () throws(WireError) in try Hex.decode(plain)
        }
    }
}

/// The lines of a log, without line ends and terminal colours. Each is decoded when it is read.
struct LogLines: Sequence {
    /// The maximum length of a line in bytes: the longest command or reply, in hexadecimal with spaces, and the
    /// surrounding text.
    private static let limit = 1 << 18

    private let log: [UInt8]

    /// - Throws: An error for the first line that is longer than any command or reply.
    init(_ log: [UInt8]) throws(CaptureError) {
        self.log = log
        var start = 0
        var number = 1
        while start < log.count {
            let end = log[start...].firstIndex(of: 0x0A) ?? log.count
            guard end - start <= Self.limit else {
                throw CaptureError(
                    line: number, "longer than \(Self.limit >> 10) KiB, the limit for commands and replies")
            }
            start = end + 1
            number += 1
        }
    }

    func makeIterator() -> Iterator { Iterator(log) }

    struct Iterator: IteratorProtocol {
        private let log: [UInt8]
        private var start = 0
        private var number = 0

        init(_ log: [UInt8]) { self.log = log }

        mutating func next() -> LogLine? {
            guard start <= log.count else { return nil }
            let end = log[start...].firstIndex(of: 0x0A) ?? log.count
            number += 1
            defer { start = end + 1 }
            return LogLine(number: number, text: Substring(Self.text(log[start..<end])))
        }

        private static func text(_ line: ArraySlice<UInt8>) -> String {
            guard line.contains(where: { $0 == 0x1B || $0 == 0x0D }) else {
                return String(decoding: line, as: UTF8.self)
            }
            var plain: [UInt8] = []
            plain.reserveCapacity(line.count)
            var isEscape = false
            for byte in line where byte != 0x0D {
                if isEscape {
                    isEscape = !(0x41...0x7A).contains(byte) || byte == 0x5B
                } else if byte == 0x1B {
                    isEscape = true
                } else {
                    plain.append(byte)
                }
            }
            return String(decoding: plain, as: UTF8.self)
        }
    }
}

extension Substring {
    /// Whether a string occurs in the text.
    func has(_ wanted: String) -> Bool { firstRange(of: wanted) != nil }

    /// The first occurrence of a string.
    func firstRange(of wanted: String) -> Range<Index>? {
        let pattern = Array(wanted.utf8)
        let found = utf8.withContiguousStorageIfAvailable { text -> Int? in
            guard let first = pattern.first else { return nil }
            var offset = 0
            while offset <= text.count - pattern.count {
                if text[offset] == first, text[offset...].starts(with: pattern) { return offset }
                offset += 1
            }
            return nil
        }
        guard let offset = found ?? nil else { return nil }
        let start = utf8.index(utf8.startIndex, offsetBy: offset)
        return start..<utf8.index(start, offsetBy: pattern.count)
    }

    /// The number at the start.
    var leadingNumber: Int? { Int(prefix { $0.isASCII && $0.isNumber }) }
}
