// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

extension CaptureReplay {
    /// How a HID report is transferred.
    enum ReportWay {
        /// Written to the device and delivered by it.
        case interrupt
        /// Set and got with control transfers.
        case feature
    }

    /// Moves past the next report from the host, which must match these bytes outside the masked ranges. Skips unread
    /// reports of the device: how long the host waits for a key may vary.
    func take(_ report: [UInt8], by way: ReportWay) throws(LinkError) {
        let sent = way.sending(report)
        try state.withLock { state throws(LinkError) in
            while let event = try nextEvent(&state) {
                state.position += 1
                guard let expected = way.sent(in: event) else { continue }
                guard expected.masked(event.commandMask) == report.masked(event.commandMask) else {
                    throw .replay(mismatch(at: state.position - 1, sent: sent, way.difference))
                }
                return
            }
            throw .replay(mismatch(atEnd: sent, "the host continues after the end of the recording"))
        }
    }

    /// The next report from the device. If the recording continues with a report from the host, this throws: for
    /// interrupt reports a timeout, for a feature report, which is always available, a mismatch for one read too many.
    func nextReport(by way: ReportWay) throws(LinkError) -> [UInt8] {
        try state.withLock { state throws(LinkError) in
            while let event = try nextEvent(&state) {
                if way.sent(in: event) != nil { throw way.nothing(self, at: state.position) }
                state.position += 1
                guard let report = way.given(in: event) else { continue }
                if way == .feature, !event.replyMask.isEmpty, !capture.header.keepsSecrets {
                    throw .replay(.overwritten("the reply to the challenge", line: event.line))
                }
                return report
            }
            throw .replay(mismatch(atEnd: nil, way.ending))
        }
    }

    /// The event at the position, `nil` at the end; throws and moves past it if the recorded link failed there.
    private func nextEvent(_ state: inout State) throws(LinkError) -> Capture.Event? {
        guard state.position < capture.events.count else { return nil }
        let event = capture.events[state.position]
        switch event.kind {
        case .http:
            let reason = "the host uses the key, but the recording continues with a request to a server"
            throw .replay(mismatch(at: state.position, sent: nil, reason))
        case .link(.removed, _):
            state.position += 1
            throw .removed
        case .link(.fail, let why):
            state.position += 1
            throw .failed(code: 0, why ?? "the recorded link failed here")
        default: return event
        }
    }
}

extension CaptureReplay.ReportWay {
    fileprivate func sending(_ report: [UInt8]) -> Capture.Event {
        Capture.Event(self == .interrupt ? .written(report) : .featureSet(report))
    }

    fileprivate func sent(in event: Capture.Event) -> [UInt8]? {
        switch (self, event.kind) {
        case (.interrupt, .written(let report)), (.feature, .featureSet(let report)): report
        default: nil
        }
    }

    fileprivate func given(in event: Capture.Event) -> [UInt8]? {
        switch (self, event.kind) {
        case (.interrupt, .delivered(let report)): report
        case (.feature, .featureGot(let report)): report
        default: nil
        }
    }

    fileprivate func nothing(_ replay: CaptureReplay, at index: Int) -> LinkError {
        switch self {
        case .interrupt: .timedOut("a report of the recording")
        case .feature:
            .replay(
                replay.mismatch(at: index, sent: nil, "the host gets a feature report, the recording sets one"))
        }
    }

    fileprivate var difference: String {
        switch self {
        case .interrupt: "the host writes a report other than the recorded one"
        case .feature: "the host sets a feature report other than the recorded one"
        }
    }

    fileprivate var ending: String {
        switch self {
        case .interrupt: "the host keeps reading after the end of the recording"
        case .feature: "the host gets a feature report after the end of the recording"
        }
    }
}
