// SPDX-License-Identifier: Apache-2.0

/// Converts the logs of other tools to captures. Secrets are overwritten on import unless they are to be kept.
public enum CaptureImport {
    /// The traffic of one card or HID device in a log.
    public struct Session: Sendable, Hashable {
        /// The name of the reader or device, or a substitute when the log has none.
        public let label: String
        /// The session.
        public let capture: Capture
    }

    /// A log that was read.
    public struct Log: Sendable {
        /// The tool that wrote it.
        public let format: Format
        /// One session for each card, device or HID channel, in order of first occurrence.
        public let sessions: [Session]
        /// The pieces that could not be read, with their lines and why; at most 100.
        public let skipped: [CaptureError]
    }

    /// Reads a log. Whatever is not the tool's traffic is passed over; a piece of its traffic that cannot be read is
    /// among the skipped ones.
    ///
    /// - Parameters:
    ///   - log: The content of the log.
    ///   - format: The tool that wrote the log; by default the one whose traffic most of the log is.
    ///   - keepsSecrets: Whether to keep secrets instead of overwriting them.
    /// - Throws: An error with the line or packet when there is no exchange that can be read.
    public static func read(
        _ log: [UInt8], from format: Format? = nil, keepsSecrets: Bool = false
    ) throws(CaptureError) -> Log {
        var (format, book) = try format == nil ? recognized(log) : (format ?? .pcscd, Self.book(log, format ?? .pcscd))
        let skipped = book.skipped
        let sessions = book.sessions(from: format, keepsSecrets: keepsSecrets)
        guard !sessions.isEmpty else {
            if let first = skipped.first { throw first }
            let reason = "no exchange with a card or device in this \(format.rawValue) log"
            throw CaptureError(line: format == .usbmon ? 0 : lineCount(log), reason)
        }
        return Log(format: format, sessions: sessions, skipped: skipped)
    }

    /// Parses a log: one session for each card, device or HID channel, in order of first occurrence.
    ///
    /// - Parameters:
    ///   - log: The content of the log.
    ///   - format: The tool that wrote the log.
    ///   - keepsSecrets: Whether to keep secrets instead of overwriting them.
    /// - Throws: An error with the line or packet when there is no exchange that can be read.
    public static func sessions(
        in log: [UInt8], from format: Format, keepsSecrets: Bool = false
    ) throws(CaptureError) -> [Session] {
        try read(log, from: format, keepsSecrets: keepsSecrets).sessions
    }

    private static func lineCount(_ log: [UInt8]) -> Int { 1 + log.count { $0 == UInt8(ascii: "\n") } }

    private static func book(_ log: [UInt8], _ format: Format) throws(CaptureError) -> SessionBook {
        var book = SessionBook()
        let lines = format == .usbmon ? nil : try LogLines(log)
        if let lines, var reader = format.reader(lines) {
            reader.read(lines, into: &book)
        } else {
            try USBMonLog.read(log, into: &book)
        }
        return book
    }

    /// The format with the most traffic in a log.
    private static func recognized(_ log: [UInt8]) throws(CaptureError) -> (Format, SessionBook) {
        if PacketFile.isOne(log) { return (.usbmon, try book(log, .usbmon)) }
        var best: (format: Format, book: SessionBook)?
        var refused: [CaptureError] = []
        for format in Format.allCases where format.marks.contains(where: { log.has($0) }) {
            let found = try book(log, format)
            if found.eventCount > best?.book.eventCount ?? 0 { best = (format, found) }
            if found.skipped.count > refused.count { refused = found.skipped }
        }
        guard let best else {
            throw refused.first
                ?? CaptureError(line: lineCount(log), "no exchange with a card or device in any known format")
        }
        let isPython = best.format == .ykman && !log.has("ykman")
        return (isPython ? .pythonFIDO2 : best.format, best.book)
    }
}

extension CaptureImport.Log {
    /// One of the sessions.
    ///
    /// - Parameter number: Its number, counted from 1; required if the log has several.
    /// - Throws: When there is no such session or no unique one.
    public func session(_ number: Int?) throws(CaptureError) -> Capture {
        let names = sessions.enumerated().map { "\($0.offset + 1) '\($0.element.label)'" }.joined(separator: ", ")
        guard let number else {
            guard sessions.count == 1 else {
                throw CaptureError(line: 1, "the log has \(sessions.count) \(sessions.nouns), choose one: \(names)")
            }
            return sessions[0].capture
        }
        guard number > 0, number <= sessions.count else {
            throw CaptureError(line: 1, "the log has no session \(number), only \(names)")
        }
        return sessions[number - 1].capture
    }
}

extension Capture {
    /// Converts another tool's log to a capture.
    ///
    /// - Parameters:
    ///   - log: The content of the log.
    ///   - format: The tool that wrote the log; by default it is recognized.
    ///   - session: The number of the session to convert, counted from 1; required if the log has several.
    ///   - keepsSecrets: Whether to keep secrets instead of overwriting them.
    /// - Throws: An error with the line when there is no exchange that can be read, and when there is no session or no
    ///   unique one.
    public init(
        importing log: [UInt8], from format: CaptureImport.Format? = nil, session: Int? = nil,
        keepsSecrets: Bool = false
    ) throws(CaptureError) {
        self = try CaptureImport.read(log, from: format, keepsSecrets: keepsSecrets).session(session)
    }
}

extension [CaptureImport.Session] {
    /// A noun for the sources of the sessions.
    fileprivate var nouns: String {
        let links = Set(map(\.capture.header.link))
        return links == [.card] ? "cards" : links == [.hid] ? "HID devices or channels" : "cards and HID devices"
    }
}

extension [UInt8] {
    /// Whether a text occurs in a log.
    fileprivate func has(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard let first = wanted.first else { return true }
        var index = startIndex
        while let place = self[index...].firstIndex(of: first) {
            if self[place...].starts(with: wanted) { return true }
            index = place + 1
        }
        return false
    }
}
