// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Converts the logs of other tools to captures. Secrets are overwritten on import unless they are to be kept.
public enum CaptureImport {
    /// The tool that wrote the log.
    public enum Format: String, Sendable, CaseIterable {
        /// `pcscd --apdu` or `pcscd --debug --apdu`, from its standard output or the journal.
        case pcscd
        /// `pcsc-spy`, coloured or not, or the output of libpcscspy that it reads.
        case pcscSpy = "pcsc-spy"
        /// `ykman --log-level TRAFFIC`.
        case ykman
        /// libfido2 and its tools with `FIDO_DEBUG` or `-d`.
        case libfido2
        /// python-fido2 with its loggers at the traffic level, 5.
        case pythonFIDO2 = "python-fido2"
        /// usbmon packets captured with tcpdump or Wireshark: FIDO over HID, slot reports, and cards in CCID readers.
        case usbmon
    }

    /// The traffic of one card or HID device in a log.
    public struct Session: Sendable, Hashable {
        /// The name of the reader or device, or a substitute when the log has none.
        public let label: String
        /// The session.
        public let capture: Capture
    }

    /// Parses a log: one session for each card, device or HID channel, in order of first occurrence.
    ///
    /// - Parameters:
    ///   - log: The content of the log.
    ///   - format: The tool that wrote the log.
    ///   - keepsSecrets: Whether to keep secrets instead of overwriting them.
    /// - Throws: An error with the line or packet for an invalid command or reply, or when there is no exchange.
    public static func sessions(
        in log: [UInt8], from format: Format, keepsSecrets: Bool = false
    ) throws(CaptureError) -> [Session] {
        var book = SessionBook()
        try read(log, from: format, into: &book)
        let sessions = book.sessions(from: format, keepsSecrets: keepsSecrets)
        guard !sessions.isEmpty else {
            let reason = "no exchange with a card or device in this \(format.rawValue) log"
            throw CaptureError(line: format == .usbmon ? 0 : 1 + log.count { $0 == UInt8(ascii: "\n") }, reason)
        }
        return sessions
    }

    private static func read(
        _ log: [UInt8], from format: Format, into book: inout SessionBook
    ) throws(CaptureError) {
        switch format {
        case .pcscd: try PCSCDLog.read(LogLines(log), into: &book)
        case .pcscSpy: try SpyLog.read(LogLines(log), into: &book)
        case .ykman, .pythonFIDO2: try PythonLog.read(LogLines(log), into: &book)
        case .libfido2: try LibFIDO2Log.read(LogLines(log), into: &book)
        case .usbmon: try USBMonLog.read(log, into: &book)
        }
    }
}

extension Capture {
    /// Converts another tool's log to a capture.
    ///
    /// - Parameters:
    ///   - log: The content of the log.
    ///   - format: The tool that wrote the log.
    ///   - session: The number of the session to convert, counted from 1; required if the log has several.
    ///   - keepsSecrets: Whether to keep secrets instead of overwriting them.
    /// - Throws: An error with the line when the log is invalid, or when there is no session or no unique one.
    public init(
        importing log: [UInt8], from format: CaptureImport.Format, session: Int? = nil, keepsSecrets: Bool = false
    ) throws(CaptureError) {
        let sessions = try CaptureImport.sessions(in: log, from: format, keepsSecrets: keepsSecrets)
        let names = sessions.enumerated().map { "\($0.offset + 1) '\($0.element.label)'" }.joined(separator: ", ")
        guard let session else {
            guard sessions.count == 1 else {
                throw CaptureError(line: 1, "the log has \(sessions.count) \(sessions.nouns), choose one: \(names)")
            }
            self = sessions[0].capture
            return
        }
        guard session > 0, session <= sessions.count else {
            throw CaptureError(line: 1, "the log has no session \(session), only \(names)")
        }
        self = sessions[session - 1].capture
    }
}

extension [CaptureImport.Session] {
    /// A noun for the sources of the sessions.
    fileprivate var nouns: String {
        let links = Set(map(\.capture.header.link))
        return links == [.card] ? "cards" : links == [.hid] ? "HID devices or channels" : "cards and HID devices"
    }
}
