// SPDX-License-Identifier: Apache-2.0

import YKTransport
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
        var line = 0
        var header: Header?
        var events: [Event] = []
        for row in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            line += 1
            if row.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            let object = try Self.object(Array(row), line)
            if header == nil {
                header = try Self.header(object, line)
            } else {
                events.append(try Event(object, line: line))
            }
        }
        guard let header else { throw CaptureError(line: 1, "the file is empty, expected a header") }
        self.init(header: header, events: events)
    }

    /// The text form: the header, then one event per line.
    public var text: String {
        ([JSON.object(header.fields).text] + events.map(\.text)).joined(separator: "\n") + "\n"
    }

    private static func object(_ row: [UInt8], _ line: Int) throws(CaptureError) -> JSON.Object {
        let value = try lift({ (error: WireError) in CaptureError(line: line, "\(error)") }) { () throws(WireError) in
            try JSON(parsing: row)
        }
        guard let object = value.object else { throw CaptureError(line: line, "expected a JSON object") }
        return object
    }

    private static func header(_ object: JSON.Object, _ line: Int) throws(CaptureError) -> Header {
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
