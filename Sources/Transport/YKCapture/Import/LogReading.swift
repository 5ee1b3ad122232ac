// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Reads the lines of one tool's log. A line that has no mark of the tool is skipped silently, since other programs
/// write into the same log; one that has a mark but cannot be read is an error, after which reading goes on.
protocol LogReader {
    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError)
    /// Called after the last line.
    mutating func finish(_ last: Int, _ book: inout SessionBook) throws(CaptureError)
}

extension LogReader {
    mutating func finish(_ last: Int, _ book: inout SessionBook) throws(CaptureError) {}

    /// Reads a whole log; what cannot be read is noted in the book.
    mutating func read(_ lines: LogLines, into book: inout SessionBook) {
        var last = 0
        for line in lines {
            last = line.number
            do { try take(line, &book) } catch { book.skip(error) }
        }
        do { try finish(last, &book) } catch { book.skip(error) }
    }
}

/// Pairs the commands and replies of one card after another.
struct CardTalk {
    /// The session that exchanges belong to.
    var label: String
    private var command: [UInt8]?
    private var milliseconds: Double?

    init(_ label: String = "card") { self.label = label }

    /// Whether a command has no reply yet.
    var isWaiting: Bool { command != nil }

    /// Records a command; one before it without a reply becomes an event.
    mutating func sent(
        _ bytes: [UInt8], _ line: LogLine, at time: Double? = nil, _ book: inout SessionBook
    ) throws(CaptureError) {
        lost("no reply in the log", &book)
        guard bytes.count >= 4 else { throw CaptureError(line: line.number, "a command of \(bytes.count) bytes") }
        (command, milliseconds) = (bytes, time)
    }

    /// Records the reply to the command, with its status word.
    mutating func received(_ bytes: [UInt8], _ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        guard let command else { throw CaptureError(line: line.number, "a reply without a command before it") }
        guard bytes.count >= 2, bytes[bytes.count - 2].isFirstOfStatus else {
            lost("the reply in the log has no status word", &book)
            throw CaptureError(line: line.number, "the reply does not end with a status word")
        }
        book.exchange(label, command: command, reply: bytes, milliseconds: milliseconds)
        self.command = nil
    }

    /// Records that the reply to the command is missing.
    mutating func lost(_ why: String, _ book: inout SessionBook) {
        guard command != nil else { return }
        book.event(label, .fail, why: why, milliseconds: milliseconds)
        command = nil
    }
}

extension UInt8 {
    /// Whether this may be the first byte of a status word (ISO 7816-4 §5.6).
    var isFirstOfStatus: Bool { (0x61...0x6F).contains(self) || self >> 4 == 9 }
}

extension LogLine {
    /// The bytes of a dump's row that has exactly this many, with any text before it.
    ///
    /// - Parameter offset: The offset that the row must show in decimal; `nil` for rows without one.
    /// - Returns: `nil` if this is no such row.
    func row(of count: Int, at offset: Int?) -> [UInt8]? {
        var rest = text
        if let offset {
            let digits = String(offset)
            let mark = String(repeating: "0", count: max(0, 4 - digits.count)) + digits + ": "
            guard let place = text.lastRange(of: mark) else { return nil }
            let before = text[..<place.lowerBound].last
            guard before.map({ !$0.isHexDigit }) ?? true else { return nil }
            rest = text[place.upperBound...]
        }
        let words = rest.split(whereSeparator: { $0 == " " || $0 == "\t" })
        let bytes = words.suffix(count).compactMap(\.hexByte)
        guard bytes.count == count, let first = words.suffix(count).first else { return nil }
        if offset != nil { return words.count == count ? bytes : nil }
        let before = rest[..<first.startIndex]
        let isApart = before.trimmed.isEmpty || before.hasSuffix("  ") || before.trimmed.hasSuffix(":")
        return isApart && words.dropLast(count).last?.hexByte == nil ? bytes : nil
    }

    /// The bytes of a dump's row that shows them as text too, as `61 11 4F a.O`; `nil` if this is no such row.
    ///
    /// - Parameter count: The number of bytes in the row; `nil` if it is not known.
    func shownRow(of count: Int?) -> [UInt8]? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        // Dates before the row have numbers of two digits too.
        for start in words.indices.prefix(16) where words[start].hexByte != nil {
            let row = words[start...]
            let most = min(16, row.prefix { $0.hexByte != nil }.count)
            // The longest row whose text fits, since text may look like more bytes.
            for length in count.map({ [$0] }) ?? (1...most).reversed() where (1...most).contains(length) {
                let bytes = row.prefix(length).compactMap(\.hexByte)
                let shown = row.dropFirst(length).joined(separator: " ")
                if count ?? 1 > 1 || Self.isText(shown, of: bytes) { return bytes }
            }
        }
        return nil
    }

    /// Whether this is how bytes look as text; blanks at its ends may have been lost.
    private static func isText(_ shown: String, of bytes: [UInt8]) -> Bool {
        let expected = bytes.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
        let wanted = String(decoding: expected, as: UTF8.self).trimmed
        return shown.trimmed == wanted || String(shown.drop { $0 == " " || $0 == "|" }).trimmed == wanted
    }

    /// The bytes of a list such as `[0, 164, 4]` that begins the text; `nil` if there is none.
    static func list(_ text: Substring) -> [UInt8]? {
        guard text.first == "[", let end = text.firstIndex(of: "]") else { return nil }
        let numbers = text[text.index(after: text.startIndex)..<end].split(separator: ",")
        let bytes = numbers.compactMap { UInt8(String($0).trimmed) }
        return bytes.count == numbers.count ? bytes : nil
    }
}

extension Substring {
    /// The byte of two hexadecimal digits.
    var hexByte: UInt8? {
        guard utf8.count == 2, utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        return UInt8(self, radix: 16)
    }

    /// The last occurrence of a string.
    fileprivate func lastRange(of wanted: String) -> Range<Index>? {
        var found: Range<Index>?
        var rest = self
        while let place = rest.firstRange(of: wanted) {
            found = place
            rest = self[place.upperBound...]
        }
        return found
    }
}
