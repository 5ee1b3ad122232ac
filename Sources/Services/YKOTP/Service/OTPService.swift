// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The Yubico OTP application of a key: two slots that type a token when touched, or answer challenges.
///
/// Every method runs a whole exchange with the key on a thread of its own; two callers never mix on the key. What is
/// written is checked against the key's programming sequence, so that a change which did not happen is never taken for
/// one that did.
public actor OTPService {
    private let thread: ServiceThread
    let link: any OTPLink
    let waiting: @Sendable () -> Void
    /// The status after the last command that told it.
    public internal(set) var status: OTPStatus

    /// The thread the key is talked to on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(
        _ link: sending any OTPLink, _ status: OTPStatus, _ waiting: @escaping @Sendable () -> Void,
        on thread: ServiceThread
    ) {
        self.link = link
        self.status = status
        self.waiting = waiting
        self.thread = thread
    }

    /// Asks the application for its status, over HID (``HIDOTPLink``) or a card (``CardOTPLink``); `waiting` is called
    /// again and again while the key waits for a touch, on the service's thread.
    ///
    /// Throws `card(.appletMissing)` when the card has no OTP application, or it is switched off.
    public static func open(
        _ link: sending any OTPLink, waiting: @escaping @Sendable () -> Void = {}
    ) async throws(OTPError) -> OTPService {
        let thread: ServiceThread
        do { thread = try ServiceThread() } catch { throw .device(error) }
        let (link, status) = try await Opening(on: thread).status(of: link)
        return OTPService(link, status, waiting, on: thread)
    }

    /// The firmware version of the application.
    public var version: Version { status.version }
    /// How the application is reached.
    public var carrier: OTPCarrier { link.carrier }

    /// What the application tells of a slot.
    public func state(of slot: OTPSlot) -> OTPSlotState { OTPSlotState(status, slot) }

    /// Asks for the status anew.
    public func refresh() throws(OTPError) {
        let deadline = link.environment.deadline()
        status = try lift(OTPError.init) { () throws(OTPLinkError) in try link.status(deadline: deadline) }
    }

    /// The serial number. Throws `rejected` where the key's slots forbid it.
    public func serial() throws(OTPError) -> UInt32 {
        try require(.serial)
        return try query(.serial, [], .bytes(4)).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A page of device information as it came: a length byte, then data objects.
    public func deviceInfo(page: UInt8 = 0) throws(OTPError) -> [UInt8] { try query(.deviceInfo, [page], .counted) }

    /// Whether a FIPS key of series 4 is in its approved mode: both slots are protected with access codes.
    public func isInFIPSMode() throws(OTPError) -> Bool {
        try require(.fipsMode)
        return try query(.fipsMode, [], .bytes(1)) == [1]
    }

    /// Lets other programs use the key until the next operation.
    public func rest() { link.rest() }

    func require(_ feature: OTPFeature) throws(OTPError) {
        guard feature.isSupported(by: version) else {
            throw .unsupported(feature, needs: feature.firstVersion, has: version)
        }
    }

    func query(_ command: OTPCommand, _ payload: [UInt8], _ reply: OTPReplySize) throws(OTPError) -> [UInt8] {
        let deadline = link.environment.deadline()
        return try lift(OTPError.init) { () throws(OTPLinkError) in
            try link.query(command, payload, reply: reply, deadline: deadline, waiting: waiting)
        }
    }

    func write(_ command: OTPCommand, _ payload: [UInt8]) throws(OTPError) {
        let deadline = link.environment.deadline()
        status = try lift(OTPError.init) { () throws(OTPLinkError) in
            try link.write(command, payload, deadline: deadline)
        }
    }
}

/// Asks for the first status on the thread of the service that is to be.
private actor Opening {
    private let thread: ServiceThread

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(on thread: ServiceThread) { self.thread = thread }

    func status(of link: sending any OTPLink) throws(OTPError) -> sending (any OTPLink, OTPStatus) {
        let deadline = link.environment.deadline()
        let status = try lift(OTPError.init) { () throws(OTPLinkError) in try link.status(deadline: deadline) }
        return (link, status)
    }
}
