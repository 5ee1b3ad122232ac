// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A card in a reader's slot: power, parameters, and APDUs at the reader's exchange level (CCID 1.1 §3).
package final class CCIDCard {
    /// The longest response APDU, in bytes, and the maximum number of messages for it.
    private static let responseLimit = 65_538
    private static let partLimit = 8192

    let slot: CCIDSlot
    private(set) var atr: [UInt8] = []
    private(set) var isPowered = false
    private let voltage: CCID.Voltage?
    private var t1: T1Exchange?

    /// Prepares to power the card with `voltage`; by default reader and card choose.
    package init(_ slot: CCIDSlot, voltage: CCID.Voltage? = nil) {
        self.slot = slot
        self.voltage = voltage
    }

    private var descriptor: CCID.Descriptor { slot.descriptor }

    /// The longest command APDU that reader and card accept, in bytes.
    var maxCommandLength: Int {
        switch descriptor.level {
        case .extendedAPDU: CCID.dataLimit
        case .tpdu where t1 != nil: CCID.dataLimit
        default: 261
        }
    }

    /// Powers or resets the card, and negotiates the protocol.
    func powerOn(deadline: Deadline) throws(LinkError) {
        guard descriptor.level != .character else {
            throw .unresponsive("the reader exchanges single characters, which only pcscd supports (--link pcsc)")
        }
        isPowered = false
        var trouble: LinkError?
        for choice in voltage.map({ [$0] }) ?? descriptor.powerChoices {
            let reply = try slot.send(.powerOn(choice), deadline: deadline)
            if reply.outcome != .failed {
                if try begin(reply.data, deadline) { return }
                // A card that does not respond to a selection stays silent until it is reset (ISO 7816-3 §9.1).
                _ = try slot.send(.init(.powerOff), deadline: deadline)
                let again = try slot.send(.powerOn(choice), deadline: deadline)
                guard again.outcome != .failed else { throw explain(again) }
                _ = try begin(again.data, deadline, isAsking: false)
                return
            }
            trouble = explain(reply)
            if reply.card == .absent { break }
            _ = try slot.send(.init(.powerOff), deadline: deadline)
        }
        throw trouble ?? .unresponsive("the card cannot be powered")
    }

    /// Negotiates the protocol; returns false when the card refuses and must be reset.
    private func begin(_ atr: [UInt8], _ deadline: Deadline, isAsking: Bool = true) throws(LinkError) -> Bool {
        self.atr = atr
        t1 = nil
        if descriptor.level == .tpdu, try !agree(deadline, isAsking) { return false }
        isPowered = true
        return true
    }

    /// For a reader that carries only TPDUs: negotiates protocol, speed, their parameters, and the block size.
    private func agree(_ deadline: Deadline, _ isAsking: Bool) throws(LinkError) -> Bool {
        guard let parsed = try? ATR(decoding: atr) else {
            throw .unresponsive("the card's answer to reset is invalid")
        }
        var transmission = try Transmission(parsed, descriptor)
        if transmission.selection != .none {
            if isAsking {
                guard try select(&transmission, deadline) else { return false }
            } else {
                guard transmission.selection == .optional else {
                    let number = transmission.protocolNumber
                    throw .unresponsive("the card does not agree to T=\(number), and the reader carries nothing else")
                }
                transmission.speed = ATR.firstSpeed
            }
        }
        try set(transmission, parsed, deadline)
        guard transmission.protocolNumber == 1 else { return true }
        var exchange = T1Exchange(parsed.t1)
        if !descriptor.features.contains(.blockSize) {
            try exchange.offer(Int(clamping: descriptor.maxBlockSize), carrier(deadline))
        }
        t1 = exchange
        return true
    }

    /// Requests protocol and speed from the card (PPS); returns false when it refuses.
    private func select(_ transmission: inout Transmission, _ deadline: Deadline) throws(LinkError) -> Bool {
        let reply = try slot.send(.transfer(.whole, transmission.request.encoded), deadline: deadline)
        if reply.outcome == .failed, reply.card == .absent { throw .removed }
        guard reply.outcome == .done, let answer = try? ProtocolSelection(decoding: reply.data),
            answer.agrees(to: transmission.request)
        else { return false }
        transmission.speed = answer.speed ?? ATR.firstSpeed
        return true
    }

    /// Tells the reader what was negotiated, unless it already knows.
    private func set(_ transmission: Transmission, _ parsed: ATR, _ deadline: Deadline) throws(LinkError) {
        let isKnown = !descriptor.features.isDisjoint(with: [.parametersByATR, .negotiation])
        guard
            transmission.selection != .none || !isKnown && (transmission.protocolNumber == 1 || transmission.isUnusual)
        else { return }
        let reply = try slot.send(.set(transmission.parameters(parsed)), deadline: deadline)
        let isFirst = transmission.speed == ATR.firstSpeed
        if reply.outcome == .failed, reply.error != .unsupported || !isFirst { throw explain(reply) }
    }

    /// Powers the card off; failures are ignored.
    func powerOff(deadline: Deadline) {
        guard isPowered else { return }
        isPowered = false
        _ = try? slot.send(.init(.powerOff), deadline: deadline)
    }

    /// Whether the card is still powered; a removed or replaced card is not.
    func keepsPower(deadline: Deadline) throws(LinkError) -> Bool {
        guard try slot.takeNews() else { return true }
        return try slot.send(.init(.slotStatus), deadline: deadline).card == .active
    }

    /// Reads the current parameters.
    func parameters(deadline: Deadline) throws(LinkError) -> CCID.Parameters {
        let reply = try slot.send(.init(.getParameters), deadline: deadline)
        guard reply.outcome == .done else { throw explain(reply) }
        return try lift(LinkError.malformed) { () throws(WireError) in
            try CCID.Parameters(reply.choice, decoding: reply.data)
        }
    }

    /// Sends a vendor-specific command to the reader (PC_to_RDR_Escape, CCID 1.1 §6.1.8); the card need not be powered.
    func escape(_ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard bytes.count <= descriptor.maxDataLength else {
            throw .failed(code: 0, "the reader accepts messages of at most \(descriptor.maxDataLength) bytes")
        }
        let reply = try slot.send(.init(.escape, data: bytes), deadline: deadline)
        if reply.outcome == .done, reply.kind == .escape { return reply.data }
        throw reply.error == .unsupported ? .unsupportedFeature : .unresponsive(reply.error.description)
    }

    /// The protocol in use, 0 or 1; if the reader handles the protocol, the first one that the card offers.
    var protocolNumber: Int {
        if descriptor.level == .tpdu { return t1 == nil ? 0 : 1 }
        return (try? ATR(decoding: atr))?.protocols.first.map(Int.init) ?? 1
    }

    // MARK: APDUs

    /// Sends a command APDU and returns the response APDU.
    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard descriptor.level == .tpdu else {
            guard command.count <= maxCommandLength else {
                throw .failed(code: 0, "the reader accepts commands of at most \(maxCommandLength) bytes")
            }
            return try chained(command, deadline)
        }
        guard t1 != nil else {
            return try T0Exchange.exchange(command) { tpdu throws(LinkError) in
                try block(.transfer(.whole, tpdu), deadline).data
            }
        }
        guard var exchange = t1 else { return [] }
        defer { t1 = exchange }
        return try exchange.exchange(command, carrier(deadline))
    }

    private func carrier(_ deadline: Deadline) -> T1Exchange.Carry {
        { [self] bytes, waiting throws(LinkError) in
            var message = CCID.Command.transfer(.whole, bytes)
            message.choice = waiting
            return try block(message, deadline).data
        }
    }

    /// Sends a command in one message or a chain, and receives its response likewise (CCID 1.1 §6.1.4, §6.2.1).
    private func chained(_ command: [UInt8], _ deadline: Deadline) throws(LinkError) -> [UInt8] {
        var reply = try send(command, deadline)
        var response = reply.data
        for _ in 0..<Self.partLimit {
            switch reply.chain {
            case .whole, .end: return response
            case .begin, .middle: break
            case .proceed, nil:
                throw .malformed(WireError(.malformed, at: 9, "chain parameter \(reply.choice) of a response"))
            }
            reply = try block(.transfer(.proceed, []), deadline)
            response += reply.data
            guard response.count <= Self.responseLimit else {
                throw .malformed(WireError(.tooLarge, at: 0, "the reply is longer than any response APDU"))
            }
        }
        throw .malformed(WireError(.tooLarge, at: 0, "a response in more than \(Self.partLimit) parts"))
    }

    /// The last message of a command is answered with the response or its beginning, earlier ones with no data.
    private func send(_ command: [UInt8], _ deadline: Deadline) throws(LinkError) -> CCID.Reply {
        let room = descriptor.maxDataLength
        guard command.count > room else { return try block(.transfer(.whole, command), deadline) }
        var chain = CCID.Chain.begin
        var rest = command[...]
        while rest.count > room {
            let reply = try block(.transfer(chain, Array(rest.prefix(room))), deadline)
            guard reply.data.isEmpty else {
                throw .malformed(WireError(.malformed, at: 1, "a response before the command is complete"))
            }
            rest = rest.dropFirst(room)
            chain = .middle
        }
        return try block(.transfer(.end, Array(rest)), deadline)
    }

    private func block(_ command: CCID.Command, _ deadline: Deadline) throws(LinkError) -> CCID.Reply {
        let reply = try slot.send(command, deadline: deadline)
        guard reply.outcome == .failed else { return reply }
        throw reply.card == .absent ? .removed : explain(reply)
    }

    private func explain(_ reply: CCID.Reply) -> LinkError {
        switch (reply.card, reply.error) {
        case (.absent?, _): .noCard(reader: "")
        case (_, .slotBusy), (_, .busy): .unresponsive("the reader is busy with something else")
        case (_, let error): .unresponsive(error.description)
        }
    }
}

extension LinkError {
    /// SCARD_E_UNSUPPORTED_FEATURE, with pcsc-lite's number.
    package static let unsupportedFeature = LinkError.failed(code: 0x8010_001F, "the reader does not support this")
}
