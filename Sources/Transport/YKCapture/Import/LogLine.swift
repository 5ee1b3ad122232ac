// SPDX-License-Identifier: Apache-2.0

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

    /// Parses hexadecimal digits, with or without spaces between the bytes; quotes as Python and Markdown write them
    /// may be around them.
    func bytes(_ digits: some StringProtocol, _ what: String) throws(CaptureError) -> [UInt8] {
        var plain = String(decoding: digits.utf8.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self)
        if plain.hasSuffix("...") || plain.hasSuffix("…") {
            throw CaptureError(line: number, "the \(what) is truncated in the log")
        }
        if plain.hasPrefix("b'") || plain.hasPrefix("b\"") { plain.removeFirst() }
        while let first = plain.first, "'\"`*".contains(first) { plain.removeFirst() }
        while let last = plain.last, "'\"`*".contains(last) { plain.removeLast() }
        if plain.hasPrefix("0x") || plain.hasPrefix("0X") { plain.removeFirst(2) }
        return try lift({ (error: WireError) in CaptureError(line: number, "the \(what): \(error)") }) {
            () throws(WireError) in try Hex.decode(plain)
        }
    }
}

/// The lines of a log, without line ends and terminal colors. Each is decoded when it is read.
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
        private let isQuoted: Bool
        private var start = 0
        private var number = 0
        /// The further records of the current line.
        private var records: [Substring] = []

        init(_ log: [UInt8]) {
            self.log = log
            isQuoted = Self.isQuoted(log)
        }

        mutating func next() -> LogLine? {
            if !records.isEmpty { return LogLine(number: number, text: records.removeFirst()) }
            guard start <= log.count else { return nil }
            let end = log[start...].firstIndex(of: 0x0A) ?? log.count
            number += 1
            defer { start = end + 1 }
            var text = Substring(Self.text(log[start..<end])).withoutEntities
            if isQuoted, let mark = text.firstIndex(of: ">") {
                text = text[mark...].dropFirst()
                if text.first == " " { text = text.dropFirst() }
            }
            records = text.records
            return LogLine(number: number, text: records.removeFirst())
        }

        /// Whether the whole log is quoted as in a mail: every line that is not blank begins with `>`.
        private static func isQuoted(_ log: [UInt8]) -> Bool {
            var isAtStart = true
            var count = 0
            for byte in log {
                if byte == 0x0A {
                    isAtStart = true
                } else if isAtStart, byte != 0x20, byte != 0x0D, byte != 0x09 {
                    guard byte == UInt8(ascii: ">") else { return false }
                    isAtStart = false
                    count += 1
                }
            }
            return count > 0
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

    /// The text with the entities of HTML replaced, as logs in `<pre>` have them.
    fileprivate var withoutEntities: Substring {
        guard utf8.contains(UInt8(ascii: "&")), utf8.contains(UInt8(ascii: ";")) else { return self }
        let entities: [([UInt8], UInt8)] = [
            (Array("&lt;".utf8), 0x3C), (Array("&gt;".utf8), 0x3E), (Array("&quot;".utf8), 0x22),
            (Array("&#39;".utf8), 0x27), (Array("&amp;".utf8), 0x26),
        ]
        let text = Array(utf8)
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let found = text[index] == 0x26 ? entities.first { text[index...].starts(with: $0.0) } : nil
            plain.append(found?.1 ?? text[index])
            index += found?.0.count ?? 1
        }
        return Substring(String(decoding: plain, as: UTF8.self))
    }

    /// The records in a line: pasting loses line ends, so that the next record begins in the same line.
    fileprivate var records: [Substring] {
        let starts = utf8.withContiguousStorageIfAvailable(Self.heads) ?? []
        var records: [Substring] = []
        var begin = startIndex
        for start in starts {
            let index = utf8.index(startIndex, offsetBy: start)
            records.append(self[begin..<index])
            begin = index
        }
        return records + [self[begin...]]
    }

    /// Where records begin after the start of a line: `[TRACE `, or the journal's `Nov 21 10:00:00 `.
    private static func heads(_ text: UnsafeBufferPointer<UInt8>) -> [Int] {
        var heads: [Int] = []
        for index in text.indices.dropFirst() {
            let isHead =
                switch text[index] {
                case UInt8(ascii: "["): levels.contains { text[index...].starts(with: $0.utf8) }
                case 0x41...0x53: isDate(text[index...].prefix(16))
                default: false
                }
            if isHead { heads.append(index) }
        }
        return heads
    }

    private static let levels = ["[TRACE ", "[DEBUG ", "[INFO "]

    private static func isDate(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let start = text.startIndex
        guard text.count == 16, text[start + 3] == 0x20, text[start + 6] == 0x20, text[start + 9] == 0x3A,
            text[start + 12] == 0x3A, text[start + 15] == 0x20
        else { return false }
        return months.contains(String(decoding: text.prefix(3), as: UTF8.self))
            && [5, 7, 8, 10, 11, 13, 14].allSatisfy { (0x30...0x39).contains(text[start + $0]) }
    }

    private static let months: Set<String> = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
