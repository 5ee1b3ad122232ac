// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Replay {
    /// The recorded HID device as a link.
    public func reportLink() -> sending any ReportLink { ReplayReportLink(replay: self) }
}

/// A HID device that answers from a recording.
///
/// In strict mode each report has to be written where the recording has it written. In lookup mode each message is
/// answered with what the recording has for it, on whatever channel.
final class ReplayReportLink: ReportLink {
    private let replay: Replay
    private var lookup: ReportLookup
    private var features: FeatureLookup
    let identity: ReportIdentity

    init(replay: Replay) {
        self.replay = replay
        lookup = ReportLookup(replay.mode == .lookup ? replay.capture : Capture(header: replay.capture.header))
        features = FeatureLookup(replay.mode == .lookup ? replay.capture : Capture(header: replay.capture.header))
        identity = ReportIdentity(
            path: replay.capture.header.reader ?? "replay", name: replay.capture.header.device ?? "")
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        guard replay.mode == .strict else { return try lookup.write(report, replay) }
        _ = try replay.failingForGood { () throws(LinkError) in
            try replay.take(written: report)
            return []
        }
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard replay.mode == .strict else { return try lookup.read() }
        return try replay.failingForGood { () throws(LinkError) in try replay.nextDelivered() }
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        guard replay.mode == .strict else { return try features.set(report, replay) }
        _ = try replay.failingForGood { () throws(LinkError) in
            try replay.take(featureSet: report)
            return []
        }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard replay.mode == .strict else { return try features.next() }
        return try replay.failingForGood { () throws(LinkError) in try replay.nextFeature() }
    }

    func close() {}
}

extension Replay {
    /// Goes past the next report, which has to be written with exactly these bytes outside what was masked. Reports
    /// that the device delivered before it and nobody read are passed over.
    func take(written report: [UInt8]) throws(LinkError) {
        try state.withLock { state throws(LinkError) in
            while state.position < capture.events.count {
                let event = capture.events[state.position]
                state.position += 1
                switch event.kind {
                case .written(let expected):
                    guard expected.masked(event.commandMask) == report.masked(event.commandMask) else {
                        let reason = "the host writes another report than the recording has"
                        throw .replay(mismatch(at: state.position - 1, written: report, reason))
                    }
                    return
                case .link(.removed, _): throw .removed
                case .link(.fail, let why): throw .failed(code: 0, why ?? "the recorded link failed here")
                default: continue
                }
            }
            throw .replay(
                mismatch(at: state.position, written: report, "the host goes on, the recording does not"))
        }
    }

    /// The next report that the device delivered; where the recording goes on with one that the host wrote, nothing
    /// came in time.
    func nextDelivered() throws(LinkError) -> [UInt8] {
        try state.withLock { state throws(LinkError) in
            while state.position < capture.events.count {
                switch capture.events[state.position].kind {
                case .delivered(let report):
                    state.position += 1
                    return report
                case .written: throw .timedOut("a report of the recording")
                case .link(.removed, _):
                    state.position += 1
                    throw .removed
                case .link(.fail, let why):
                    state.position += 1
                    throw .failed(code: 0, why ?? "the recorded link failed here")
                default: state.position += 1
                }
            }
            throw .replay(.init(line: 0, reason: "the host reads on, the recording has ended"))
        }
    }
}

extension Capture.Event {
    /// Whether this is a report that the host wrote.
    var isWritten: Bool { if case .written = kind { true } else { false } }

    /// Whether this is something that the host did.
    var isDoneByHost: Bool {
        switch kind {
        case .exchange, .written, .featureSet: true
        default: false
        }
    }
}
