// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The log of a tool that writes each command, reply or report into one line, after a mark.
struct TraceDialect {
    /// What the bytes after a mark look like.
    enum Form {
        /// Hexadecimal digits, with or without spaces.
        case hex
        /// A list of decimal numbers, `[0, 164]`.
        case list
        /// GlobalPlatformPro's: `T=1 (4+0008) 00A40400 08 …` and `(0018+2) (22ms) 6F10… 9000`.
        case counted
    }

    /// Text that a line must contain; any if empty.
    var module = ""
    /// Marks before what the host sends.
    let sent: [String]
    /// Marks before what the key sends.
    let received: [String]
    var form = Form.hex
    /// Whether the marks are at the start of the line's text.
    var isAtStart = false
}

/// Reads logs of one dialect. What begins with a channel and has a report's size is a report, everything else an APDU.
struct TraceLog: LogReader {
    private let dialects: [TraceDialect]
    private var talk = CardTalk()
    private var channels = HIDChannels()

    init(_ dialects: TraceDialect...) { self.dialects = dialects }

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        for dialect in dialects where dialect.module.isEmpty || line.text.has(dialect.module) {
            if let text = Self.text(line, dialect.sent, dialect) {
                return try take(line, text, dialect, isSent: true, &book)
            }
            if let text = Self.text(line, dialect.received, dialect) {
                return try take(line, text, dialect, isSent: false, &book)
            }
        }
    }

    private static func text(_ line: LogLine, _ marks: [String], _ dialect: TraceDialect) -> Substring? {
        for mark in marks {
            if dialect.isAtStart {
                let text = line.text.drop { $0 == " " || $0 == "\t" }
                if text.hasPrefix(mark) { return text.dropFirst(mark.count) }
            } else if let text = line.after(mark) {
                return text
            }
        }
        return nil
    }

    private mutating func take(
        _ line: LogLine, _ text: Substring, _ dialect: TraceDialect, isSent: Bool, _ book: inout SessionBook
    ) throws(CaptureError) {
        let text = text.drop { $0 == " " || $0 == "*" || $0 == "\t" }
        do {
            guard let bytes = try bytes(line, text, dialect, isSent: isSent) else { return }
            if let report = Self.report(bytes, line) {
                channels.take(isSent ? .written(report) : .delivered(report), report, nil, &book)
            } else if isSent {
                try talk.sent(bytes, line, &book)
            } else {
                try talk.received(bytes, line, &book)
            }
        } catch {
            if !isSent { talk.lost("the reply cannot be read", &book) }
            throw error
        }
    }

    /// The bytes; `nil` if the line only describes them.
    private func bytes(
        _ line: LogLine, _ text: Substring, _ dialect: TraceDialect, isSent: Bool
    ) throws(CaptureError) -> [UInt8]? {
        switch dialect.form {
        case .hex:
            let start = text.prefix(2)
            guard start.hexByte != nil || start == "b'" || start == "0x" else { return nil }
            guard text.dropFirst(2).first.map({ $0.isHexDigit || $0 == " " }) ?? false || start.hexByte == nil else {
                return nil
            }
            return try line.bytes(text, isSent ? "command" : "reply")
        case .list:
            guard let list = LogLine.list(text) else {
                throw CaptureError(line: line.number, "the \(isSent ? "command" : "reply") is cut off")
            }
            return list
        case .counted: return try Self.counted(line, text, isSent: isSent)
        }
    }

    private static func counted(_ line: LogLine, _ text: Substring, isSent: Bool) throws(CaptureError) -> [UInt8]? {
        let words = text.split(separator: " ")
        guard let count = words.first(where: { $0.hasPrefix("(") && $0.has("+") }) else { return nil }
        let numbers = count.dropFirst().dropLast().split(separator: "+").compactMap { Int($0) }
        let digits = words.filter { !$0.hasPrefix("(") && !$0.hasPrefix("T=") }.joined()
        let bytes = try line.bytes(digits, isSent ? "command" : "reply")
        guard numbers.count == 2 else { throw CaptureError(line: line.number, "a count that cannot be read") }
        let data = isSent ? (try? APDU(decoding: bytes))?.data.count : bytes.count - 2
        guard data == numbers[isSent ? 1 : 0] else {
            throw CaptureError(
                line: line.number, "the \(isSent ? "command" : "reply") does not have the announced bytes")
        }
        return bytes
    }

    /// A report of 64 bytes; some programs log the report number before it, and none of the padding.
    private static func report(_ bytes: [UInt8], _ line: LogLine) -> [UInt8]? {
        let isHID = ["hid", "HID", "usb", "USB"].contains { line.text.has($0) }
        var bytes = bytes
        if bytes.count == CTAPHID.reportSize + 1, bytes[0] == 0 { bytes.removeFirst() }
        guard bytes.count == CTAPHID.reportSize, isHID || bytes.starts(with: CTAPHID.Channel.broadcast.bytes) else {
            return nil
        }
        return bytes
    }
}
