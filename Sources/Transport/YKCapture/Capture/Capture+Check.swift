// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension Capture {
    /// A problem in a capture, or a sign of a broken or careless recording.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The line, the header being line 1.
        public let line: Int
        /// Whether the capture is invalid; otherwise it is only suspicious.
        public let isError: Bool
        /// The problem, in a few words.
        public let reason: String

        /// The line and the reason, for display.
        public var description: String { "line \(line): \(reason)" }
    }

    /// Checks every line for problems that parsing alone does not reject.
    public func check() -> [Finding] {
        var findings = checkHeader()
        var redactor = Redactor()
        var latest = 0.0
        for (index, event) in events.enumerated() {
            var event = event
            if event.line == 0 { event.line = index + 2 }
            findings += event.check(link: header.link)
            if let time = event.milliseconds {
                if time < latest { findings.append(event.finding("the time goes back, from \(latest) to \(time) ms")) }
                latest = max(latest, time)
            }
            let masks = redactor.masks(event)
            if !header.keepsSecrets, event.shows(masks) {
                findings.append(event.finding("a secret that is not overwritten; run `ykit capture redact`"))
            }
        }
        if !events.contains(where: { if case .link = $0.kind { false } else { true } }) {
            findings.append(Finding(line: 1, isError: false, reason: "nothing was exchanged"))
        }
        return findings
    }

    /// The capture with its secrets overwritten, and no longer marked as containing any.
    public func redacted() -> Capture {
        var redactor = Redactor()
        var capture = self
        capture.events = events.map { redactor.redacted($0) }
        capture.header = header.redacted
        return capture
    }

    private func checkHeader() -> [Finding] {
        var findings: [Finding] = []
        let add = { (isError: Bool, reason: String) in
            findings.append(Finding(line: 1, isError: isError, reason: reason))
        }
        if let atr = header.atr {
            do { _ = try ATR(decoding: atr) } catch { add(false, "\"atr\" is not well-formed: \(error)") }
            if (try? ATR(decoding: atr))?.isChecksumValid == false { add(false, "\"atr\": the check byte is wrong") }
        } else if header.link == .card {
            add(false, "no \"atr\": it is unknown whether the card accepts extended lengths")
        }
        for key in ["device", "firmware", "reader", "note"] {
            if let value = header.fields[key], value.string == nil { add(true, "\"\(key)\" is not a string") }
        }
        if let value = header.fields["clock"], value.int == nil { add(true, "\"clock\" is not a whole number") }
        if let clock = header.clock, clock < 0 { add(false, "the clock is before 1970") }
        if header.keepsSecrets { add(false, "the recording contains secrets; do not share it") }
        return findings
    }
}

extension Capture.Event {
    fileprivate func finding(_ reason: String, isError: Bool = false) -> Capture.Finding {
        .init(line: line, isError: isError, reason: reason)
    }

    fileprivate func check(link: Capture.LinkKind) -> [Capture.Finding] {
        var findings: [Capture.Finding] = []
        if let milliseconds, milliseconds < 0 { findings.append(finding("\"ms\" is below 0", isError: true)) }
        switch kind {
        case .exchange(let command, let reply):
            findings += check(command, commandMask, "cm") + check(reply, replyMask, "rm")
            if link != .card { findings.append(finding("an APDU on a HID link", isError: true)) }
            if command.count < 4 { findings.append(finding("a command has at least four bytes", isError: true)) }
            if reply.count < 2 { findings.append(finding("the reply has no status word", isError: true)) }
            if command.count >= 4 { findings += checkAPDU(command) }
        case .written(let report), .featureSet(let report):
            findings += check(report, commandMask, "cm") + checkReport(report, link)
        case .delivered(let report), .featureGot(let report):
            findings += check(report, replyMask, "rm") + checkReport(report, link)
        case .http(let exchange):
            if case .answer(let status, _, _) = exchange.outcome, !(100...599).contains(status) {
                findings.append(finding("\(status) is not an HTTP status", isError: true))
            }
        case .link(let what, _):
            let known: [LinkEvent] = [.powerOn, .powerOff, .reset, .removed, .fail, .time]
            if !known.contains(what) { findings.append(finding("unknown event \"\(what.rawValue)\"")) }
        }
        return findings
    }

    private func checkAPDU(_ command: [UInt8]) -> [Capture.Finding] {
        do {
            _ = try APDU(decoding: command)
            return []
        } catch { return [finding("the command is not an APDU: \(error)")] }
    }

    private func checkReport(_ report: [UInt8], _ link: Capture.LinkKind) -> [Capture.Finding] {
        guard link == .hid else { return [finding("a HID report on a card link", isError: true)] }
        let isFeature = if case .featureSet = kind { true } else if case .featureGot = kind { true } else { false }
        let expected = isFeature ? 8 : 64
        return report.count == expected ? [] : [finding("a report of \(report.count) bytes, \(expected) is usual")]
    }

    private func check(_ bytes: [UInt8], _ masks: [Mask], _ key: String) -> [Capture.Finding] {
        var findings: [Capture.Finding] = []
        for mask in masks {
            if mask.length == 0 { findings.append(finding("\"\(key)\" has an empty range")) }
            if mask.end > bytes.count {
                findings.append(finding("\"\(key)\" goes beyond the \(bytes.count) bytes", isError: true))
            }
        }
        if bytes.masked(masks) != bytes {
            findings.append(finding("\"\(key)\" marks a secret that is not overwritten", isError: true))
        }
        return findings
    }

    /// Whether any byte in these ranges is present in clear.
    fileprivate func shows(_ masks: (command: [Mask], reply: [Mask])) -> Bool {
        switch kind {
        case .exchange(let command, let reply):
            command.masked(masks.command) != command || reply.masked(masks.reply) != reply
        case .written(let report), .featureSet(let report): report.masked(masks.command) != report
        case .delivered(let report), .featureGot(let report): report.masked(masks.reply) != report
        case .http(let exchange): exchange.redacted() != exchange
        case .link: false
        }
    }
}

extension Capture.Header {
    /// The header of the same recording with its secrets overwritten.
    package var redacted: Self {
        var header = self
        header.keepsSecrets = false
        header.secretRandom = nil
        return header
    }
}
