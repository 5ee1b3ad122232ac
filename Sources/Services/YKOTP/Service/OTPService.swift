// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The Yubico OTP application of a key: two slots that type a token when touched, or answer challenges.
///
/// Every method runs a whole exchange with the key on the service's own thread; concurrent calls never interleave.
/// Writes are verified with the key's programming sequence, so that a change that was not made is never reported as
/// made. Over a card, firmware 5.0 to 5.2.4 reports neither the sequence nor the state of the slots.
public actor OTPService: KeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    let link: any OTPLink
    private let touch: TouchWait
    private var exchanges = 1
    /// The most recent status.
    public internal(set) var status: OTPStatus

    private init(
        _ opened: sending (link: any OTPLink, status: OTPStatus), _ touch: TouchWait, _ runtime: ServiceRuntime
    ) {
        link = opened.link
        status = opened.status
        self.touch = touch
        self.runtime = runtime
    }

    /// Reads the application's status, over HID (`HIDOTPLink`) or a card (`CardOTPLink`).
    ///
    /// `touch` runs while the key waits for a touch: it is called on the service's thread, which it must not block, and
    /// its task is cancelled when the wait ends.
    ///
    /// - Throws: `card(.appletMissing)` if the card has no OTP application, or it is disabled.
    public static func open(
        _ link: sending any OTPLink, touch: @escaping @Sendable () async -> Void = {}
    ) async throws(OTPError) -> OTPService {
        try await open(link, on: nil, touch: touch)
    }

    /// The same on the runtime that the link was opened on; `nil` for a new one.
    package static func open(
        _ link: sending any OTPLink, on runtime: ServiceRuntime?, touch: @escaping @Sendable () async -> Void
    ) async throws(OTPError) -> OTPService {
        let (runtime, opened) = try await ServiceRuntime.open(link, on: runtime, { OTPError.device($0) }) {
            link, _ throws(OTPError) -> sending (link: any OTPLink, status: OTPStatus) in
            let deadline = link.environment.deadline()
            let status = try lift(OTPError.init) { () throws(OTPLinkError) in try link.status(deadline: deadline) }
            return (link, status)
        }
        return OTPService(opened, TouchWait(touch), runtime)
    }

    /// The firmware version of the application; `nil` if the key does not report it.
    public var version: FirmwareVersion? {
        status.isReliable || status.version > FirmwareVersion(0, 0, 0) ? status.version : nil
    }
    /// The transport of the application.
    public var carrier: OTPCarrier { link.carrier }

    /// Returns the reported state of a slot.
    public func state(of slot: OTPSlot) -> OTPSlotState { OTPSlotState(status, slot) }

    /// Reads the status again.
    public func refresh() throws(OTPError) {
        status = try perform { deadline throws(OTPLinkError) in try link.status(deadline: deadline) }
    }

    /// Reads the serial number.
    ///
    /// - Throws: `rejected` if the key's slots forbid it.
    public func serial() throws(OTPError) -> UInt32 {
        try require(.serial)
        return try query(.serial, [], .bytes(4)).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads a page of device information unchanged: a length byte, then data objects.
    public func deviceInfo(page: UInt8 = 0) throws(OTPError) -> [UInt8] { try query(.deviceInfo, [page], .counted) }

    /// Returns whether a FIPS key of series 4 is in approved mode: both slots are protected with access codes.
    public func isInFIPSMode() throws(OTPError) -> Bool {
        try require(.fipsMode)
        return try query(.fipsMode, [], .bytes(1)) == [1]
    }

    /// Lets other programs use the key until the next operation.
    public func rest() {
        link.rest()
        runtime.rest()
    }

    /// Closes the connection to the key.
    public func close() {
        link.close()
        runtime.close()
    }

    /// The number of commands sent to the key.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: exchanges) }

    func require(_ feature: OTPFeature) throws(OTPError) {
        guard let version, !feature.isSupported(by: version) else { return }
        throw .unsupported(feature, needs: feature.firstVersion, has: version)
    }

    func query(_ command: OTPCommand, _ payload: [UInt8], _ reply: OTPReplySize) throws(OTPError) -> [UInt8] {
        try perform { deadline throws(OTPLinkError) in
            defer { touch.end() }
            return try link.query(command, payload, reply: reply, deadline: deadline, waiting: touch.begin)
        }
    }

    func write(_ command: OTPCommand, _ payload: [UInt8]) throws(OTPError) {
        status = try perform { deadline throws(OTPLinkError) in
            try link.write(command, payload, deadline: deadline)
        }
    }

    private func perform<Value>(_ body: (Deadline) throws(OTPLinkError) -> Value) throws(OTPError) -> Value {
        let deadline = link.environment.deadline()
        exchanges += 1
        return try lift(OTPError.init) { () throws(OTPLinkError) in
            try runtime.perform(OTPLinkError.device, cause: \.link) { () throws(OTPLinkError) in try body(deadline) }
        }
    }
}
