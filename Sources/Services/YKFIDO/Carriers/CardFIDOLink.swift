// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
public import YKWire

/// FIDO messages over a smart card reader, with or without contacts (CTAP 2.2 §11.3).
public final class CardFIDOLink: FIDOLink {
    /// How long to wait before polling the key again.
    static let pollInterval = Duration.milliseconds(100)
    /// How long a cancelled key may take to confirm the cancellation.
    static let stopGrace = Duration.seconds(1)

    private let channel: CardChannel
    private var acceptsKeepalives = true
    /// The key's reply to SELECT.
    public private(set) var profile: FIDOLinkProfile
    /// The number of times that the application was reselected.
    public private(set) var generation = 0

    /// Selects the FIDO application. Keys that support U2F answer `U2F_V2`, whether or not they support CTAP2; keys
    /// with only CTAP2 answer `FIDO_2_0`.
    ///
    /// - Throws: `card(.appletMissing)` if the card has no such application.
    public init(_ channel: sending CardChannel) throws(FIDOLinkError) {
        let reply = try lift(FIDOLinkError.card) { () throws(CardError) in try channel.select(.fido) }
        let version = String(decoding: reply, as: UTF8.self)
        profile = FIDOLinkProfile(carrier: .card, hasCTAP2: true, hasU2F: version != "FIDO_2_0")
        self.channel = channel
        channel.onReselect = { [unowned self] _ throws(CardError) in generation += 1 }
    }

    /// The channel's environment.
    public var environment: ServiceEnvironment { channel.environment }

    /// Lets other programs use the card until the next message.
    public func rest() { channel.rest() }

    /// Closes the link and ends the exclusive use of the card; the card itself is released with the link.
    public func close() { channel.rest() }

    /// Sends a CTAP2 message, or a U2F command as an APDU.
    public func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        switch command {
        case .cbor: return try message(payload, deadline, keepalive)
        case .msg: return try u2f(payload)
        default: throw .notCarried(command)
        }
    }

    private func u2f(_ payload: [UInt8]) throws(FIDOLinkError) -> [UInt8] {
        let apdu = try lift(FIDOLinkError.malformed) { () throws(WireError) in try APDU(decoding: payload) }
        return try transmit(apdu).encoded
    }

    /// Polls until the key is done. A cancelled message that completes anyway counts as completed.
    private func message(
        _ payload: [UInt8], _ deadline: Deadline, _ keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        var response = try start(payload)
        var isCancelled = false
        var status: FIDOKeepalive?
        while response.status == .stillWorking {
            status = response.data.first.map(FIDOKeepalive.init(rawValue:))
            if let status { keepalive(status) }
            let mustStop = deadline.isCancelled || deadline.isOver
            if mustStop, isCancelled { break }
            if mustStop {
                // Sent with its own deadline, since the operation's has passed or was cancelled.
                response = try transmit(Self.poll(p1: 0x11), deadline: .after(Self.stopGrace))
                isCancelled = true
            } else {
                environment.pause(Self.pollInterval, deadline)
                // Cancelled before it was sent: the card is still waiting and must be told.
                do throws(FIDOLinkError) { response = try transmit(Self.poll(p1: 0x00)) } catch {
                    guard case .card(.link(.cancelled)) = error else { throw error }
                }
            }
        }
        if response.data.isEmpty, response.status.sw1 == 0x64, response.status.sw2 != 0 {
            // Some firmware has the CTAP status in the status word instead of the data.
            response = ResponseAPDU(.ok, data: [response.status.sw2])
        }
        if response.status == .ok, !isCancelled || response.data.first == 0 { return response.data }
        guard isCancelled else { throw .card(.status(response.status, during: "CTAP message")) }
        // A key that does not support cancelling, or does not finish, is still working: only resetting the card stops
        // it.
        if response.status != .ok { try? channel.reset(.warm) }
        if deadline.isCancelled { throw .card(.link(.cancelled)) }
        throw status == .touchNeeded ? .notTouched : .card(.link(.timedOut("CTAP message")))
    }

    /// Sends the message. Once the key has refused P1 80 (the host supports NFCCTAP_GETRESPONSE), P1 is always 00.
    private func start(_ payload: [UInt8]) throws(FIDOLinkError) -> ResponseAPDU {
        func command(_ p1: UInt8) -> APDU {
            APDU(cla: 0x80, ins: FIDOProtocol.Instruction.message, p1: p1, data: payload)
        }
        guard acceptsKeepalives else { return try transmit(command(0x00)) }
        let response = try transmit(command(0x80))
        let refusals: [StatusWord] = [.wrongParameters, .incorrectP1P2, .incorrectParameters, .functionNotSupported]
        guard refusals.contains(response.status) else { return response }
        acceptsKeepalives = false
        return try transmit(command(0x00))
    }

    /// NFCCTAP_GETRESPONSE (CTAP 2.2 §11.3.7.2); P1 11 cancels the command.
    private static func poll(p1: UInt8) -> APDU { APDU(cla: 0x80, ins: FIDOProtocol.Instruction.getResponse, p1: p1) }

    private func transmit(_ apdu: APDU, deadline: Deadline? = nil) throws(FIDOLinkError) -> ResponseAPDU {
        try lift(FIDOLinkError.card) { () throws(CardError) in
            try channel.transmit(apdu, deadline: deadline ?? environment.deadline())
        }
    }
}
