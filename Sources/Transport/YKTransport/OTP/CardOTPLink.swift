// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// The OTP application over a card: instruction 01 with the slot command in P1, instruction 03 for the status.
///
/// The status of some firmware is not one (see ``OTPStatus/isReliable``), so the version is that of the management
/// application, if the card has it.
public final class CardOTPLink: OTPLink {
    private let channel: CardChannel
    private var latest: OTPStatus?
    /// The version, if the status is known not to be one.
    private var unreliable: FirmwareVersion??
    /// Whether other programs may have written in the meantime.
    private var isStale = false

    /// Takes ownership of a card; the application is selected with the first command.
    public init(_ channel: sending CardChannel) { self.channel = channel }

    /// The environment of the link.
    public var environment: ServiceEnvironment { channel.environment }
    /// A smart card.
    public var carrier: OTPCarrier { .card }

    /// Returns the status: from SELECT the first time, then read on request.
    public func status(deadline: Deadline) throws(OTPLinkError) -> OTPStatus {
        if latest == nil { return try opened() }
        return try note(
            try transmit(APDU(cla: 0, ins: OTPProtocol.Instruction.status, p1: 0, p2: 0, le: .max), .init(rawValue: 0)))
    }

    private func opened() throws(OTPLinkError) -> OTPStatus {
        let managed = try lift(OTPLinkError.card) { () throws(CardError) in try channel.managementVersion() }
        let reply = try lift(OTPLinkError.card) { () throws(CardError) in try channel.select(.otp) }
        let told = try lift(OTPLinkError.malformed) { () throws(WireError) in try OTPStatus(decoding: reply) }
        if !told.isReliable(besides: managed) { unreliable = .some(managed) }
        let status = try note(reply)
        channel.adapt(to: status.version)
        return status
    }

    /// Sends a command and returns the data of the reply. A card gives no sign while it waits for a touch, so callers
    /// that ask for a touch prompt the user before.
    public func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8] {
        if latest == nil { _ = try status(deadline: deadline) }
        let data = try transmit(Self.apdu(command, payload), command)
        guard data.count == reply.count(of: data) else {
            if data.isEmpty { throw .rejected(command) }
            throw .malformed(WireError(.malformed, at: 0, "\(data.count) bytes in reply to \(command)"))
        }
        return data
    }

    /// Sends a command and compares the status before and after; some firmware does not return it in the reply. If the
    /// status is unreliable, only a status word other than 9000 shows that the change was not made.
    public func write(
        _ command: OTPCommand, _ payload: [UInt8], deadline: Deadline
    ) throws(OTPLinkError) -> OTPStatus {
        let before: OTPStatus
        if let latest, !isStale { before = latest } else { before = try status(deadline: deadline) }
        let reply = try transmit(Self.apdu(command, payload), command)
        if let unreliable { return .unreliable(unreliable) }
        let now = reply.isEmpty ? try status(deadline: deadline) : try note(reply)
        guard now.confirms(changeSince: before) else { throw .rejected(command) }
        return now
    }

    /// Lets other programs use the card until the next command.
    public func rest() {
        isStale = true
        channel.rest()
    }

    /// Lets other programs use the card, which is closed on deinit.
    public func close() { rest() }

    private static func apdu(_ command: OTPCommand, _ payload: [UInt8]) -> APDU {
        APDU(cla: 0, ins: OTPProtocol.Instruction.slot, p1: command.rawValue, p2: 0, data: payload, le: .max)
    }

    private func note(_ reply: [UInt8]) throws(OTPLinkError) -> OTPStatus {
        var status = try lift(OTPLinkError.malformed) { () throws(WireError) in try OTPStatus(decoding: reply) }
        if let unreliable { status = .unreliable(unreliable) }
        latest = status
        isStale = false
        return status
    }

    private func transmit(_ apdu: APDU, _ command: OTPCommand) throws(OTPLinkError) -> [UInt8] {
        let response = try lift(OTPLinkError.card) { () throws(CardError) in try channel.transmit(apdu) }
        switch response.status {
        case .ok: return response.data
        case .conditionsNotSatisfied, .securityStatusNotSatisfied, .dataInvalid, .wrongLength, .wrongParameters,
            .incorrectParameters, .commandNotAllowed:
            throw .rejected(command)
        case let status: throw .card(.status(status, during: "\(command)"))
        }
    }
}

extension OTPStatus {
    /// Whether the status of a card is one, given the version that its management application reports: a NEO's two
    /// versions differ, those of later keys are equal; without that application, only an impossible version can show
    /// it.
    fileprivate func isReliable(besides managed: FirmwareVersion?) -> Bool {
        guard let managed else { return (1...9).contains(version.major) }
        if managed.major == 3 { return version.major == 3 }
        return managed == version && !(FirmwareVersion(5, 0, 0)..<FirmwareVersion(5, 2, 5)).contains(managed)
    }
}
