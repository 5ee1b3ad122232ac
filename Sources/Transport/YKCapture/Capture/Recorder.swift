// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKTransport
import YKWire

/// Writes the traffic of a link, and the randomness and time that the host used, to a capture file.
public final class Recorder: Sendable {
    fileprivate struct State {
        var header: Capture.Header
        var file: CaptureFile?
        var redactor: Redactor?
        var random: [UInt8] = []
        /// The time of the latest event, in milliseconds.
        var latest = 0.0
        /// Why recording has stopped.
        var failure: LinkError?
    }

    /// The beginning of the error for a second kind of link.
    public static let oneLinkOnly = "a recording has one kind of link"

    private let path: String
    private let state: Mutex<State>
    private let start = ContinuousClock.now
    private let started: Int64

    /// Creates a recorder; the file is created when a key or server is first accessed.
    ///
    /// - Parameters:
    ///   - path: The capture file, which must not exist.
    ///   - keepsSecrets: Whether to keep secrets, which marks the header, instead of overwriting them.
    ///   - note: A note for the header.
    ///   - clock: The clock that the recording starts from.
    public init(path: String, keepsSecrets: Bool = false, note: String? = nil, clock: any WallClock = SystemClock()) {
        self.path = path
        started = clock.now
        var header = Capture.Header(link: .card)
        header.note = note
        header.clock = started
        header.keepsSecrets = keepsSecrets
        state = Mutex(State(header: header, redactor: keepsSecrets ? nil : Redactor()))
    }

    /// The environment with its randomness and clock recorded.
    public func recording(_ environment: ServiceEnvironment) -> ServiceEnvironment {
        var environment = environment
        environment.random = RecordedRandom(recorder: self, source: environment.random)
        environment.clock = RecordedClock(recorder: self)
        return environment
    }

    /// Why the recording is incomplete; `nil` while everything has been written.
    ///
    /// A full disk stops the recording, not the operation: the key has already acted, and its response still reaches
    /// the caller.
    public var problem: LinkError? { state.withLock { $0.failure } }

    /// Whether a key was accessed, so that there is a file.
    public var hasBegun: Bool { state.withLock { $0.file != nil } }

    /// Returns the link with its exchanges recorded. Creates the file, unless a key that was unplugged and plugged in
    /// again is already being recorded.
    public func recording(_ link: sending any CardLink) throws(LinkError) -> sending any CardLink {
        let identity = link.identity
        try begin(.card) { header in
            header.reader = identity.reader
            header.atr = identity.atr
            header.maxCommandLength = identity.maxCommandLength
        }
        try append(.init(.link(.powerOn, why: nil)))
        return RecordingLink(link: link, recorder: self)
    }

    /// Begins a capture of a HID device.
    func begin(_ identity: ReportIdentity) throws(LinkError) {
        try begin(.hid) { header in
            header.reader = identity.path
            header.device = identity.name
            if identity.vendor != 0 { header.usb = (identity.vendor, identity.product) }
        }
        try append(.init(.link(.powerOn, why: nil)))
    }

    /// Begins a capture of requests to servers, unless a capture of a key has begun.
    package func beginHTTP() throws(LinkError) { try begin(.http) { _ in } }

    /// Creates the file for a link; a recording has only one kind of link. Requests to servers can be added to either
    /// kind: if one came first, the header is completed.
    private func begin(_ kind: Capture.LinkKind, _ fill: (inout Capture.Header) -> Void) throws(LinkError) {
        try with { state throws(LinkError) in
            let link = state.header.link
            if state.file != nil, link == kind || kind == .http { return }
            guard state.file == nil || link == .http else {
                throw .capture("\(Self.oneLinkOnly), \(link.rawValue)")
            }
            state.header.fields["link"] = .string(kind.rawValue)
            fill(&state.header)
            let header = JSONValue.object(state.header.fields).text
            guard state.file == nil else {
                return state.write { file throws(LinkError) in try file.replaceHeader(header) }
            }
            state.file = try CaptureFile(creating: path, header: header)
        }
    }

    /// The time of day in the recorded session, in whole seconds. If it is later than the latest event implies, it is
    /// recorded as a separate event, so that a replay sees the same time.
    var now: Int64 {
        let elapsed = start.duration(to: .now) / .milliseconds(1)
        let isLater = state.withLock { (elapsed / 1000).rounded(.down) > ($0.latest / 1000).rounded(.down) }
        if isLater { try? append(.init(.link(.time, why: nil))) }
        return started + state.withLock { ($0.latest / 1000).int64 }
    }

    package func append(_ event: Capture.Event) throws(LinkError) {
        try with { state throws(LinkError) in
            var event = event
            let elapsed = start.duration(to: .now) / .milliseconds(1)
            event.milliseconds = elapsed
            state.latest = (elapsed * 1000).rounded() / 1000
            if let redacted = state.redactor?.redacted(event) { event = redacted }
            state.write { file throws(LinkError) in try file.append(event.text) }
        }
    }

    /// Records a failure of the link and rethrows it. A timeout or cancellation is not recorded while the host only
    /// waits for reports that may come.
    func noting<Value>(
        isWaiting: Bool = false, _ body: () throws(LinkError) -> Value
    ) throws(LinkError) -> Value {
        do { return try body() } catch {
            switch error {
            case .removed: try? append(.init(.link(.removed, why: nil)))
            case .capture: break
            case .cancelled where isWaiting, .timedOut where isWaiting: break
            default: try? append(.init(.link(.fail, why: "\(error)")))
            }
            throw error
        }
    }

    /// Records drawn random bytes: secret ones as zeros, and additionally in a separate list if secrets are kept.
    func note(random bytes: [UInt8], isSecret: Bool) throws(LinkError) {
        try with { state throws(LinkError) in
            state.random += isSecret ? [UInt8](repeating: 0, count: bytes.count) : bytes
            state.header.random = state.random
            if isSecret, state.redactor == nil {
                state.header.secretRandom = (state.header.secretRandom ?? []) + bytes
            }
            let header = JSONValue.object(state.header.fields).text
            state.write { file throws(LinkError) in try file.replaceHeader(header) }
        }
    }

    private func with(_ body: (inout State) throws(LinkError) -> Void) throws(LinkError) {
        try state.withLock { state throws(LinkError) in try body(&state) }
    }
}

extension Recorder.State {
    /// Writes to the file; does nothing after the first failure.
    fileprivate mutating func write(_ body: (CaptureFile) throws(LinkError) -> Void) {
        guard let file, failure == nil else { return }
        do { try body(file) } catch { failure = error }
    }
}

extension Double {
    fileprivate var int64: Int64 { Int64(exactly: self.rounded(.down)) ?? 0 }
}

private struct RecordedRandom: RandomSource {
    let recorder: Recorder
    let source: any RandomSource

    func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] {
        let bytes = try source.draw(count, secret: secret)
        try recorder.note(random: bytes, isSecret: secret)
        return bytes
    }
}

private struct RecordedClock: WallClock {
    let recorder: Recorder
    var now: Int64 { recorder.now }
}

/// A card link that records every exchange and every event of the underlying link in a capture.
final class RecordingLink: ForwardingCardLink {
    let link: any CardLink
    private let recorder: Recorder

    init(link: any CardLink, recorder: Recorder) {
        self.link = link
        self.recorder = recorder
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        let reply = try recorder.noting { () throws(LinkError) in try link.exchange(command, deadline: deadline) }
        try recorder.append(.init(.exchange(command: command, reply: reply)))
        return reply
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool {
        let isLost = try recorder.noting { () throws(LinkError) in try link.begin(deadline: deadline) }
        if isLost { try recorder.append(.init(.link(.reset, why: "another program could have used the card"))) }
        return isLost
    }

    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        try recorder.noting { () throws(LinkError) in try link.reset(kind, deadline: deadline) }
        try recorder.append(.init(.link(.reset, why: nil)))
    }

    func close() {
        link.close()
        try? recorder.append(.init(.link(.powerOff, why: nil)))
    }
}

extension Recorder {
    /// Returns the HID device with its reports recorded in both directions; creates the file.
    public func recording(_ link: sending any ReportLink) throws(LinkError) -> sending any ReportLink {
        try begin(link.identity)
        return RecordingReportLink(link: link, recorder: self)
    }
}

/// A HID device that records every report and every failure in a capture.
final class RecordingReportLink: ForwardingReportLink {
    let link: any ReportLink
    private let recorder: Recorder

    init(link: any ReportLink, recorder: Recorder) {
        self.link = link
        self.recorder = recorder
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try recorder.noting(isWaiting: true) { () throws(LinkError) in try link.write(report, deadline: deadline) }
        try recorder.append(.init(.written(report)))
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try recorder.noting(isWaiting: true) { () throws(LinkError) in try link.read(deadline: deadline) }
        try recorder.append(.init(.delivered(report)))
        return report
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try recorder.noting(isWaiting: true) { () throws(LinkError) in
            try link.setFeature(report, deadline: deadline)
        }
        try recorder.append(.init(.featureSet(report)))
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try recorder.noting(isWaiting: true) { () throws(LinkError) in
            try link.feature(deadline: deadline)
        }
        try recorder.append(.init(.featureGot(report)))
        return report
    }

    func close() {
        link.close()
        try? recorder.append(.init(.link(.powerOff, why: nil)))
    }
}
