// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Why a capture file is invalid: the line and the reason.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, the header being line 1; 0 for an empty file.
    public let line: Int
    /// The reason.
    public let reason: String

    /// Creates an error.
    public init(line: Int, _ reason: String) {
        self.line = line
        self.reason = reason
    }

    /// The line and the reason, for display.
    public var description: String { line > 0 ? "line \(line): \(reason)" : reason }
}

extension Capture {
    /// Parses the text form.
    ///
    /// - Throws: `CaptureError` for the first line that is not a header or event.
    public init(parsing text: [UInt8]) throws(CaptureError) {
        var reader = CaptureReader()
        var events: [Event] = []
        try reader.take(text[...]) { events.append($1) }
        let header = try reader.finish { events.append($1) }
        self.init(header: header, events: events)
    }

    /// The text form: the header, then one event per line.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The text form in UTF-8, put together without a second copy.
    package var bytes: [UInt8] {
        var bytes = Array(header.text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        for event in events {
            bytes += event.text.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    fileprivate static func object(_ row: [UInt8], _ line: Int) throws(CaptureError) -> JSONValue.Object {
        let value = try lift({ (error: WireError) in CaptureError(line: line, "\(error)") }) { () throws(WireError) in
            try JSONValue(parsing: row)
        }
        guard let object = value.object else { throw CaptureError(line: line, "expected a JSON object") }
        return object
    }

    fileprivate static func header(_ object: JSONValue.Object, _ line: Int) throws(CaptureError) -> Header {
        guard let version = object["capture"]?.int else {
            throw CaptureError(line: line, "expected a header with \"capture\":1")
        }
        guard version == 1 else { throw CaptureError(line: line, "capture version \(version) is not known, only 1") }
        let header = Header(fields: object)
        guard [.card, .hid, .http].contains(header.link) else {
            throw CaptureError(line: line, "\"link\" is \(header.link.rawValue), expected card, hid or http")
        }
        for key in ["atr", "random", "secretRandom"] where object[key] != nil {
            _ = try Event.hex(object, key, line)
        }
        return header
    }
}

extension Capture.Header {
    /// The header as one line, without the line feed.
    package var text: String { JSONValue.object(fields).text }
}

/// Parses the text form of a capture in pieces of any size, and keeps no more than a line of it.
package struct CaptureReader {
    /// The header; `nil` until its line was parsed.
    package private(set) var header: Capture.Header?
    private var line = 0
    private var row: [UInt8] = []

    package init() {}

    /// Parses the next piece.
    ///
    /// - Parameters:
    ///   - piece: The bytes that follow those of the last call.
    ///   - give: Gets each event, with the header.
    /// - Throws: `CaptureError` for the first line that is not a header or event.
    package mutating func take(
        _ piece: ArraySlice<UInt8>, _ give: (Capture.Header, Capture.Event) -> Void
    ) throws(CaptureError) {
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
            row += piece[start..<end]
            try readRow(give)
            start = end + 1
        }
        row += piece[start...]
    }

    /// Parses the last line, which may lack a line feed.
    ///
    /// - Throws: `CaptureError` if it is not an event, or there was no header.
    package mutating func finish(_ give: (Capture.Header, Capture.Event) -> Void) throws(CaptureError) -> Capture.Header
    {
        try readRow(give)
        guard let header else { throw CaptureError(line: 1, "the file is empty, expected a header") }
        return header
    }

    private mutating func readRow(_ give: (Capture.Header, Capture.Event) -> Void) throws(CaptureError) {
        line += 1
        defer { row.removeAll(keepingCapacity: true) }
        if row.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        let object = try Capture.object(row, line)
        if let header {
            give(header, try Capture.Event(object, line: line))
        } else {
            header = try Capture.header(object, line)
        }
    }
}
