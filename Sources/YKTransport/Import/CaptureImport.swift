// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Makes captures of what other tools log. Secrets are overwritten on the way in, unless they are asked for.
public enum CaptureImport {
    /// Whose log it is.
    public enum Format: String, Sendable, CaseIterable {
        /// `pcscd --apdu` or `pcscd --debug --apdu`, from its standard output or the journal.
        case pcscd
        /// `pcsc-spy`, in colour or not, and what it reads itself.
        case pcscSpy = "pcsc-spy"
        /// `ykman --log-level TRAFFIC`.
        case ykman
    }

    /// What passed over one card of a log.
    public struct Session: Sendable, Hashable {
        /// The reader's name, or another name where the log has none.
        public let label: String
        /// The session.
        public let capture: Capture
    }

    /// Reads a log: one session for each card in it, in the order in which it first names them.
    ///
    /// Throws with the line when a command or reply cannot be read, and when there is no exchange at all.
    public static func sessions(
        in log: [UInt8], from format: Format, keepsSecrets: Bool = false
    ) throws(CaptureError) -> [Session] {
        let lines = LogLine.lines(of: log)
        var book = SessionBook()
        switch format {
        case .pcscd: try PCSCDLog.read(lines, into: &book)
        case .pcscSpy: try SpyLog.read(lines, into: &book)
        case .ykman: try YkmanLog.read(lines, into: &book)
        }
        let sessions = book.sessions(from: format, keepsSecrets: keepsSecrets)
        guard !sessions.isEmpty else {
            throw CaptureError(line: max(1, lines.count), "no exchange with a card in this \(format.rawValue) log")
        }
        return sessions
    }
}

extension Capture {
    /// Makes a capture of another tool's log; `session` chooses, from 1, when several cards are in it.
    ///
    /// Throws with the line when the log cannot be read, and when there is nothing or too much to choose from.
    public init(
        importing log: [UInt8], from format: CaptureImport.Format, session: Int? = nil, keepsSecrets: Bool = false
    ) throws(CaptureError) {
        let sessions = try CaptureImport.sessions(in: log, from: format, keepsSecrets: keepsSecrets)
        let names = sessions.enumerated().map { "\($0.offset + 1) '\($0.element.label)'" }.joined(separator: ", ")
        guard let session else {
            guard sessions.count == 1 else {
                throw CaptureError(line: 1, "the log has \(sessions.count) cards, choose one: \(names)")
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
