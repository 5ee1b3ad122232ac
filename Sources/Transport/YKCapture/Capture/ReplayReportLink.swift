// SPDX-License-Identifier: Apache-2.0

public import YKTransport

extension CaptureReplay {
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
