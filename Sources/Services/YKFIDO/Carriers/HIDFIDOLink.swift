// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// FIDO messages over HID reports (CTAP 2.2 §11.2), with its own channel on the key and one transaction at a time.
///
/// All programs that use a key see each other's reports: those of other channels, and answers to other nonces, are
/// ignored. An abandoned request is cancelled, and the channel is resynchronized before the next one.
public final class HIDFIDOLink: FIDOLink {
    /// How long to wait before retrying a busy key.
    static let busyInterval = Duration.milliseconds(100)
    /// How long a cancelled key may take to confirm the cancellation.
    var stopGrace = Duration.seconds(1)

    let link: any ReportLink
    var channel: CTAPHID.Channel = .broadcast
    private var isOutOfStep = false
    /// The link's environment.
    public let environment: ServiceEnvironment
    /// What the key reported when the channel was allocated.
    public internal(set) var profile: FIDOLinkProfile
    /// The number of channels allocated after the first.
    public private(set) var generation = 0

    /// Requests a channel from the key (CTAPHID_INIT).
    public init(
        _ link: sending any ReportLink, environment: ServiceEnvironment = ServiceEnvironment()
    ) throws(FIDOLinkError) {
        self.link = link
        self.environment = environment
        profile = FIDOLinkProfile(carrier: .hid, hasCTAP2: false, hasU2F: false)
        try allocate(environment.deadline())
    }

    deinit { link.close() }

    /// The device's identity.
    public var identity: ReportIdentity { link.identity }

    /// Lets programs that lock the device, as this one does, use it until the next message.
    public func rest() { link.rest() }

    /// Closes the device.
    public func close() { link.close() }

    /// Sends a message, and resends it until the deadline while the key is busy with another channel.
    public func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        if isOutOfStep { try resynchronise(deadline) }
        var isReallocated = false
        while true {
            do {
                return try transact(.init(command, on: channel, payload), deadline, keepalive)
            } catch .refused(.channelBusy) {
                try checked(deadline, "a busy key")
                environment.pause(Self.busyInterval, deadline)
            } catch .refused(.invalidChannel) where !isReallocated {
                isReallocated = true
                generation += 1
                try allocate(deadline)
            }
        }
    }

    private func transact(
        _ message: CTAPHID.Message, _ deadline: Deadline, _ keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        var status: FIDOKeepalive?
        do {
            try send(message, deadline)
            return try answer(to: message.command, deadline) {
                status = $0
                keepalive($0)
            }
        } catch {
            switch error {
            case .device(.timedOut) where status == .touchNeeded: return try stop(message.command, because: .notTouched)
            case .device(.cancelled), .device(.timedOut): return try stop(message.command, because: error)
            case .malformed: isOutOfStep = true
            default: break
            }
            throw error
        }
    }

    /// Cancels the request (CTAPHID_CANCEL) and waits briefly for its end; an answer already on its way is accepted.
    private func stop(
        _ command: CTAPHID.Command, because cause: FIDOLinkError
    ) throws(FIDOLinkError) -> [UInt8] {
        let grace = Deadline.after(stopGrace)
        isOutOfStep = true
        guard command == .cbor, (try? send(.init(.cancel, on: channel), grace)) != nil,
            let late = try? answer(to: command, grace, { _ in })
        else { throw cause }
        isOutOfStep = false
        guard late.first == 0 else { throw cause }
        return late
    }

    /// Resynchronizes the channel after an abandoned request (CTAP 2.2 §11.2.9.1.3) with INIT on the channel itself.
    private func resynchronise(_ deadline: Deadline) throws(FIDOLinkError) {
        do {
            _ = try initialise(on: channel, deadline)
        } catch .refused(.invalidChannel) {
            generation += 1
            try allocate(deadline)
        }
        isOutOfStep = false
    }

    func checked(_ deadline: Deadline, _ doing: String) throws(FIDOLinkError) {
        try lift(FIDOLinkError.device) { () throws(LinkError) in try deadline.check(doing) }
    }

    /// Sends bytes for the key to echo (CTAPHID_PING), and checks that they come back unchanged.
    public func ping(_ bytes: [UInt8]) throws(FIDOLinkError) {
        let echo = try call(.ping, bytes, deadline: environment.deadline(), keepalive: { _ in })
        guard echo == bytes else {
            throw .malformed(WireError(.malformed, at: 0, "PING returned \(echo.count) different bytes"))
        }
    }

    /// Makes the key blink, if it supports that (CTAPHID_WINK).
    public func wink() throws(FIDOLinkError) {
        guard profile.canWink else { throw .notCarried(.wink) }
        _ = try call(.wink, [], deadline: environment.deadline(), keepalive: { _ in })
    }

    /// Reserves the key for this channel (CTAPHID_LOCK).
    ///
    /// - Parameter duration: How long, in whole seconds, at most 10; zero releases the key.
    public func lock(for duration: Duration) throws(FIDOLinkError) {
        let seconds = UInt8(min(max(duration.components.seconds, 0), 10))
        _ = try call(.lock, [seconds], deadline: environment.deadline(), keepalive: { _ in })
    }
}

/// The answer to CTAPHID_INIT (CTAP 2.2 §11.2.9.1.3): the nonce, a channel, and the key's properties.
struct InitReply: Hashable, Sendable {
    let channel: CTAPHID.Channel
    let profile: FIDOLinkProfile

    /// Reads the answer; ignores fields that later protocol versions append.
    init(_ payload: [UInt8]) throws(WireError) {
        var reader = ByteReader(payload)
        _ = try reader.bytes(8, "the nonce")
        channel = CTAPHID.Channel(rawValue: try reader.uint32("the channel"))
        _ = try reader.byte("the version of the protocol")
        let major = try reader.byte("the device's version")
        let minor = try reader.byte("the device's version")
        let build = try reader.byte("the device's version")
        let capabilities = try reader.byte("the capabilities")
        profile = FIDOLinkProfile(
            carrier: .hid, hasCTAP2: capabilities & 0x04 != 0, hasU2F: capabilities & 0x08 == 0,
            canWink: capabilities & 0x01 != 0, deviceVersion: FirmwareVersion(major, minor, build))
    }
}
