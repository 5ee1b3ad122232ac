// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The OTP application over HID: 70-byte frames out and replies in, in eight-byte feature reports.
///
/// There are no channels: a later write overrides an earlier one. If another program left an operation unfinished, it
/// is aborted first.
public final class HIDOTPLink: OTPLink {
    /// The polling interval while the key is busy.
    private static let interval = Duration.milliseconds(20)
    /// The polling interval while the key waits for a touch.
    private static let touchInterval = Duration.milliseconds(100)
    /// The time limit for a key to accept a part. NEO and 4 do not answer for 3 s after their card was used
    /// ("reclaim").
    private static let patience = Duration.seconds(5)

    private let link: any ReportLink
    private var isFresh = false
    /// How many times unfinished work was aborted for the current command.
    private var abandonments = 0
    private static let abandonmentLimit = 3
    /// The environment of the link.
    public let environment: ServiceEnvironment
    /// Feature reports.
    public var carrier: OTPCarrier { .hid }
    /// The identity of the device.
    public var identity: ReportIdentity { link.identity }

    /// Takes ownership of a device; nothing is sent before the first command.
    public init(_ link: sending any ReportLink, environment: ServiceEnvironment = ServiceEnvironment()) {
        self.link = link
        self.environment = environment
    }

    deinit { link.close() }

    /// Does nothing: a HID device is shared.
    public func rest() {}
    /// Closes the device.
    public func close() { link.close() }

    /// Reads the status after aborting what another program left unfinished.
    public func status(deadline: Deadline) throws(OTPLinkError) -> OTPStatus {
        abandonments = 0
        while true {
            let report = try report(deadline)
            if case .status(let bytes) = report {
                return try lift(OTPLinkError.malformed) { () throws(WireError) in try OTPStatus(decoding: bytes) }
            }
            if report != .busy, abandonments < Self.abandonmentLimit {
                abandonments += 1
                try abandon(deadline)
            }
            try pause(Self.interval, deadline, "the key to be ready")
        }
    }

    /// Sends a frame and collects the reply.
    public func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8] {
        let before = try status(deadline: deadline)
        try send(command, payload, deadline)
        guard case .data(let data) = try answer(to: command, before, deadline, waiting) else {
            throw .rejected(command)
        }
        return try lift(OTPLinkError.malformed) { () throws(WireError) in
            try data.checked(reply.count(of: data.bytes))
        }
    }

    /// Sends a frame and waits for the status with the next sequence number.
    public func write(
        _ command: OTPCommand, _ payload: [UInt8], deadline: Deadline
    ) throws(OTPLinkError) -> OTPStatus {
        var before = try status(deadline: deadline)
        if before.version.major == 3, !isFresh {
            isFresh = true
            before = try refreshed(before, deadline)
        }
        try send(command, payload, deadline)
        guard case .changed(let status) = try answer(to: command, before, deadline, {}) else {
            throw .rejected(command)
        }
        return status
    }

    /// A NEO reports a stale programming sequence after its card was used, until a frame reaches the application: this
    /// sends a scan-code map of the wrong length, which the key refuses.
    private func refreshed(_ status: OTPStatus, _ deadline: Deadline) throws(OTPLinkError) -> OTPStatus {
        try send(.scanCodeMap, [UInt8](repeating: 0x63, count: 51), deadline)
        do { _ = try answer(to: .scanCodeMap, status, deadline, {}) } catch {
            guard case .rejected = error else { throw error }
        }
        return try self.status(deadline: deadline)
    }

    // MARK: - Frames out, replies in

    private enum Answer {
        case data(OTPReplyAssembler)
        case changed(OTPStatus)
    }

    /// Writes a frame part by part, each once the key has accepted the previous one.
    private func send(_ command: OTPCommand, _ payload: [UInt8], _ deadline: Deadline) throws(OTPLinkError) {
        let frame = try lift(OTPLinkError.malformed) { () throws(WireError) in try OTPFrame(command, payload) }
        for part in frame.reports {
            try awaitReady(deadline)
            try lift(OTPLinkError.device) { () throws(LinkError) in try link.setFeature(part, deadline: deadline) }
        }
    }

    private func awaitReady(_ deadline: Deadline) throws(OTPLinkError) {
        let patience = deadline.earlier(.after(Self.patience, cancellation: environment.cancellation))
        while try report(deadline) == .busy {
            try pause(Self.interval, patience, "the key to accept a part of a frame")
        }
    }

    private func answer(
        to command: OTPCommand, _ before: OTPStatus, _ deadline: Deadline, _ waiting: () -> Void
    ) throws(OTPLinkError) -> Answer {
        do {
            return try collect(command, before, deadline, waiting)
        } catch {
            switch error {
            case .device(.cancelled), .device(.timedOut), .malformed: try? abandon(.after(Self.patience))
            default: break
            }
            throw error
        }
    }

    private func collect(
        _ command: OTPCommand, _ before: OTPStatus, _ deadline: Deadline, _ waiting: () -> Void
    ) throws(OTPLinkError) -> Answer {
        var reply = OTPReplyAssembler()
        var hasWaited = false
        while true {
            switch try report(deadline) {
            case .reply(let number, let part):
                let isWhole = try lift(OTPLinkError.malformed) { () throws(WireError) in try reply.add(number, part) }
                try check(deadline, "the reply of the key")
                guard isWhole else { continue }
                try abandon(deadline)
                return .data(reply)
            case .status(let bytes):
                let now = try lift(OTPLinkError.malformed) { () throws(WireError) in try OTPStatus(decoding: bytes) }
                if !reply.bytes.isEmpty {
                    throw .malformed(WireError(.truncated, at: reply.bytes.count, "the reply breaks off"))
                }
                if now.confirms(changeSince: before) { return .changed(now) }
                throw hasWaited ? .notTouched : .rejected(command)
            case .waitingForTouch:
                hasWaited = true
                waiting()
                try pause(Self.touchInterval, deadline, "a touch of the key")
            case .busy: try pause(Self.interval, deadline, "the key to answer")
            }
        }
    }

    /// Makes the key abort the pending operation, or discard a reply that was read.
    private func abandon(_ deadline: Deadline) throws(OTPLinkError) {
        try lift(OTPLinkError.device) { () throws(LinkError) in
            try link.setFeature(OTPReport.abandonment, deadline: deadline)
        }
    }

    private func report(_ deadline: Deadline) throws(OTPLinkError) -> OTPReport {
        let bytes = try lift(OTPLinkError.device) { () throws(LinkError) in try link.feature(deadline: deadline) }
        return try lift(OTPLinkError.malformed) { () throws(WireError) in try OTPReport(decoding: bytes) }
    }

    private func check(_ deadline: Deadline, _ doing: String) throws(OTPLinkError) {
        try lift(OTPLinkError.device) { () throws(LinkError) in try deadline.check(doing) }
    }

    private func pause(_ time: Duration, _ deadline: Deadline, _ doing: String) throws(OTPLinkError) {
        try check(deadline, doing)
        environment.pause(time, deadline)
        try check(deadline, doing)
    }
}
