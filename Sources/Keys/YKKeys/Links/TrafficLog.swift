// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKTransport
import YKWire

/// Logs the traffic on links in words and in bytes, with secrets overwritten.
public struct TrafficLog: Sendable {
    /// The level of detail of a line.
    public enum Level: Sendable, Hashable {
        /// A link was opened, or failed.
        case info
        /// An exchange, in one line.
        case debug
        /// The details, and the bytes.
        case traffic
    }

    fileprivate let write: @Sendable (Level, String) -> Void

    /// Creates a log.
    ///
    /// - Parameter write: Receives each line, on the thread that uses the link.
    public init(_ write: @escaping @Sendable (Level, String) -> Void) { self.write = write }
}

/// The logging state of one link.
private struct LinkLog {
    private let log: TrafficLog
    private var redactor = Redactor()
    private var narrator = Narrator()

    /// Logs the name of the link's target first.
    init(_ log: TrafficLog, to name: String) {
        self.log = log
        log.write(.info, "connected to '\(name)'")
    }

    /// Logs an event.
    mutating func note(_ kind: Capture.Event.Kind) {
        let event = Capture.Event(kind)
        let narration = narrator.narrate(event)
        log.write(.debug, narration.summary)
        narration.details.forEach { log.write(.traffic, "  " + $0) }
        for line in redactor.redacted(event).kind.lines { log.write(.traffic, line) }
    }

    /// Logs why a command got no answer.
    mutating func fail(_ command: [UInt8], _ error: LinkError) {
        fail(narrator.narrate(command: command).summary, error)
    }

    /// Logs a failure and its cause.
    func fail(_ what: String, _ error: LinkError) { log.write(.info, "\(what): \(error)") }
}

/// A card link that logs its traffic.
final class LoggingLink: ForwardingCardLink {
    let link: any CardLink
    private var log: LinkLog

    init(_ link: any CardLink, _ log: TrafficLog) {
        self.log = LinkLog(log, to: link.identity.reader)
        self.link = link
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        let reply: [UInt8]
        do { reply = try link.exchange(command, deadline: deadline) } catch {
            log.fail(command, error)
            throw error
        }
        log.note(.exchange(command: command, reply: reply))
        return reply
    }
}

/// A HID link that logs its traffic.
final class LoggingReportLink: ForwardingReportLink {
    let link: any ReportLink
    private var log: LinkLog

    init(_ link: any ReportLink, _ log: TrafficLog) {
        self.log = LinkLog(log, to: link.identity.path)
        self.link = link
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        log.note(.written(report))
        try logging("writing a report") { () throws(LinkError) in try link.write(report, deadline: deadline) }
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try logging("reading a report") { () throws(LinkError) in try link.read(deadline: deadline) }
        log.note(.delivered(report))
        return report
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        log.note(.featureSet(report))
        try logging("setting a feature report") { () throws(LinkError) in
            try link.setFeature(report, deadline: deadline)
        }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try logging("getting a feature report") { () throws(LinkError) in
            try link.feature(deadline: deadline)
        }
        log.note(.featureGot(report))
        return report
    }

    private func logging<Value>(
        _ what: String, _ body: () throws(LinkError) -> Value
    ) throws(LinkError) -> Value {
        do { return try body() } catch {
            log.fail(what, error)
            throw error
        }
    }
}

extension Capture.Event.Kind {
    /// The bytes after an arrow that shows the direction.
    fileprivate var lines: [String] {
        switch self {
        case .exchange(let command, let reply): ["> \(Hex.encode(command))", "< \(Hex.encode(reply))"]
        case .written(let report): ["> \(Hex.encode(report))"]
        case .delivered(let report): ["< \(Hex.encode(report))"]
        case .featureSet(let report): ["> \(Hex.encode(report)) (feature)"]
        case .featureGot(let report): ["< \(Hex.encode(report)) (feature)"]
        case .http, .link: []
        }
    }
}
