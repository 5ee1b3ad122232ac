// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKTransport

/// A card that answers from a recording.
final class ReplayLink: CardLink {
    private let replay: CaptureReplay
    let identity: CardIdentity

    init(replay: CaptureReplay) {
        self.replay = replay
        let header = replay.capture.header
        identity = CardIdentity(
            reader: header.reader ?? "replay", atr: header.atr ?? [], maxCommandLength: header.maxCommandLength)
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        switch replay.mode {
        case .strict: try replay.failingForGood { () throws(LinkError) in try replay.strictReply(to: command) }
        case .lookup: try replay.lookedUpReply(to: command)
        }
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { replay.takeReset() }
    func end() {}
    func close() {}

    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        guard replay.mode == .strict else { return }
        try replay.skip(to: .reset)
    }
}

extension CaptureReplay {
    /// Ends a strict replay at the first mismatch, regardless of how the service handles it.
    func failingForGood(_ body: () throws(LinkError) -> [UInt8]) throws(LinkError) -> [UInt8] {
        if let mismatch = state.withLock({ $0.mismatch }) { throw .replay(mismatch) }
        do { return try body() } catch {
            if case .replay(let mismatch) = error { state.withLock { $0.mismatch = mismatch } }
            throw error
        }
    }

    /// The reply of the next exchange, which must match these bytes outside the masked ranges.
    func strictReply(to command: [UInt8]) throws(LinkError) -> [UInt8] {
        try state.withLock { state throws(LinkError) in
            while state.position < capture.events.count {
                let event = capture.events[state.position]
                state.position += 1
                switch event.kind {
                case .exchange(let expected, let reply):
                    guard expected.masked(event.commandMask) == command.masked(event.commandMask) else {
                        if isRepeatedQuestion(state.position - 1) { continue }
                        let reason = "the host sends a command other than the recorded one"
                        throw .replay(mismatch(at: state.position - 1, actual: command, reason))
                    }
                    try requireResult(state.position - 1)
                    return reply
                case .http:
                    let reason = "the host sends a command, but the recording continues with a request to a server"
                    throw .replay(mismatch(at: state.position - 1, actual: command, reason))
                case .link(.removed, _): throw .removed
                case .link(.fail, let why): throw .failed(code: 0, why ?? "the recorded link failed here")
                default: continue
                }
            }
            let sent = Capture.Event(.exchange(command: command, reply: []))
            throw .replay(mismatch(atEnd: sent, "the host continues after the end of the recording"))
        }
    }

    /// Whether the card was powered on or reset, and thus lost its state, before the next recorded exchange.
    func takeReset() -> Bool {
        guard mode == .strict else { return false }
        return state.withLock { state in
            var isLost = false
            while state.position < capture.events.count, case .link(let what, _) = capture.events[state.position].kind,
                [.powerOn, .powerOff, .reset].contains(what)
            {
                isLost = isLost || what == .reset || capture.events.prefix(state.position).contains { !$0.isHTTP }
                state.position += 1
            }
            return isLost
        }
    }

    /// Skips to the next link event of this kind, which must come before the next exchange.
    func skip(to wanted: Capture.Event.LinkEvent) throws(LinkError) {
        try state.withLock { state throws(LinkError) in
            while state.position < capture.events.count {
                if capture.events[state.position].isExchange {
                    let reason = "the host does a \(wanted.rawValue), but the recording continues with an exchange"
                    throw .replay(mismatch(at: state.position, actual: nil, reason))
                }
                state.position += 1
                if case .link(wanted, _) = capture.events[state.position - 1].kind { return }
            }
            throw .replay(.init(line: 0, reason: "the host does a \(wanted.rawValue) after the end of the recording"))
        }
    }

    /// The recorded HID device as a link.
    public func reportLink() -> sending any ReportLink { ReplayReportLink(replay: self) }
}

/// A HID device that answers from a recording.
///
/// In strict mode, each report must be written where it is in the recording. In lookup mode, each message gets the
/// recorded answer, on any channel.
final class ReplayReportLink: ReportLink {
    private let replay: CaptureReplay
    private var lookup: ReportLookup
    private var features: FeatureLookup
    let identity: ReportIdentity

    init(replay: CaptureReplay) {
        self.replay = replay
        lookup = ReportLookup(replay.mode == .lookup ? replay.capture : Capture(header: replay.capture.header))
        features = FeatureLookup(replay.mode == .lookup ? replay.capture : Capture(header: replay.capture.header))
        identity = ReportIdentity(
            path: replay.capture.header.reader ?? "replay", name: replay.capture.header.device ?? "")
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        guard replay.mode == .strict else { return try lookup.write(report, replay) }
        try take(report, by: .interrupt)
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard replay.mode == .strict else { return try lookup.read() }
        return try replay.failingForGood { () throws(LinkError) in try replay.nextReport(by: .interrupt) }
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        guard replay.mode == .strict else { return try features.set(report, replay) }
        try take(report, by: .feature)
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard replay.mode == .strict else { return try features.next() }
        return try replay.failingForGood { () throws(LinkError) in try replay.nextReport(by: .feature) }
    }

    func close() {}

    /// Requires that a report was written next in the recording.
    private func take(_ report: [UInt8], by way: CaptureReplay.ReportWay) throws(LinkError) {
        _ = try replay.failingForGood { () throws(LinkError) in
            try replay.take(report, by: way)
            return []
        }
    }
}

extension Capture.Event {
    /// Whether this is a report that the host wrote.
    var isWritten: Bool { if case .written = kind { true } else { false } }

    /// Whether this is a request to a server.
    var isHTTP: Bool { if case .http = kind { true } else { false } }

    /// Whether this is an action of the host.
    var isDoneByHost: Bool {
        switch kind {
        case .exchange, .written, .featureSet, .http: true
        default: false
        }
    }
}
