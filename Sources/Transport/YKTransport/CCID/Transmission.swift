// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// The protocol and speed with which a reader that carries only TPDUs talks to a card.
struct Transmission: Hashable {
    /// The protocol, T=0 or T=1.
    var protocolNumber: UInt8
    /// The speed, encoded as in TA1.
    var speed: UInt8
    /// Whether the protocol must first be negotiated with the card (PPS), with a fallback if it does not agree.
    var selection: Selection
    /// Whether the reader must be configured, because the card does not begin with the readers' defaults.
    var isUnusual: Bool

    /// Whether the card is asked to change protocol or speed.
    enum Selection: Hashable {
        /// No: the card begins with these.
        case none
        /// Yes, and it may decline.
        case optional
        /// Yes, and it must agree, since the reader carries no other protocol.
        case needed
    }

    /// Chooses what both card and reader support: protocol and speed only if the reader does not choose them itself.
    init(_ atr: ATR, _ descriptor: CCID.Descriptor) throws(LinkError) {
        let carried = descriptor.protocols & 3 == 0 ? 3 : descriptor.protocols
        func carries(_ number: UInt8) -> Bool { number < 2 && carried & (1 << UInt32(number)) != 0 }
        if let fixed = atr.fixed {
            guard fixed.protocolNumber < 2 else { throw Self.nothingInCommon }
            (protocolNumber, speed) = fixed
            (selection, isUnusual) = (.none, speed != ATR.firstSpeed)
            return
        }
        let first = atr.protocols.first ?? 0
        guard let number = carries(first) ? first : atr.protocols.first(where: carries) else {
            throw Self.nothingInCommon
        }
        protocolNumber = number
        let isOurs = descriptor.features.isDisjoint(with: [.selection, .negotiation])
        speed = isOurs && descriptor.manages(atr.speed) ? atr.speed : ATR.firstSpeed
        selection = !isOurs ? .none : number != first ? .needed : speed != ATR.firstSpeed ? .optional : .none
        isUnusual = number != first || speed != ATR.firstSpeed
    }

    private static let nothingInCommon = LinkError.unresponsive("the reader carries no protocol that the card speaks")

    /// The request to the card (PPS).
    var request: ProtocolSelection {
        ProtocolSelection(protocolNumber: protocolNumber, speed: speed == ATR.firstSpeed ? nil : speed)
    }

    /// Returns the parameters for the reader.
    func parameters(_ atr: ATR) -> CCID.Parameters {
        let inverse: UInt8 = atr.bytes.first == 0x3F ? 2 : 0
        let guardTime = atr.interfaceGroups.first?.c ?? 0
        guard protocolNumber == 1 else {
            let waiting = atr.interfaceGroups.dropFirst().first?.c ?? 10
            return .t0(speed: speed, convention: inverse, guardTime: guardTime, waiting: waiting, clockStop: 0)
        }
        var parameters = CCID.Parameters.T1(speed: speed, guardTime: guardTime)
        parameters.convention = 0x10 | inverse | (atr.t1?.c ?? 0) & 1
        parameters.waiting = atr.t1?.b ?? 0x4D
        parameters.blockSize = atr.t1?.a ?? 32
        return .t1(parameters)
    }
}

extension CCID.Descriptor {
    /// Whether the reader supports a speed at the clock frequency that it supplies to a card.
    fileprivate func manages(_ speed: UInt8) -> Bool {
        guard let (f, d) = ATR.cycles(of: speed) else { return false }
        return UInt64(clock) * 1000 * UInt64(d) / UInt64(f) <= UInt64(maxRate)
    }
}

/// Short APDUs over the transmission protocol T=0, for a reader that carries only TPDUs: the reader handles procedure
/// bytes, this type handles Le (ISO 7816-3 §12.2).
enum T0Exchange {
    /// The maximum number of responses collected for one command.
    private static let roundLimit = 256

    /// Sends a command APDU and returns the response APDU.
    static func exchange(
        _ command: [UInt8], _ carry: ([UInt8]) throws(LinkError) -> [UInt8]
    ) throws(LinkError) -> [UInt8] {
        guard command.count >= 4 else { throw .malformed(WireError(.truncated, at: 0, "a command without its header")) }
        guard command.count <= 261, command.count < 7 || command[4] != 0 else {
            throw .failed(code: 0, "this card accepts only short commands (T=0)")
        }
        let hasData = command.count > 5
        let head = command.count == 4 ? command + [0] : command
        // A command with data is sent without its Le.
        var reply = try carry(hasData ? Array(head.prefix(5 + Int(head[4]))) : head)
        if !hasData, let length = reply.exactLength {
            reply = try carry(Array(head.prefix(4)) + [length])
        }
        let isCase4 = hasData && command.count == 6 + Int(command[4])
        guard isCase4 else { return reply }
        return try collect(reply, class: command[0], carry)
    }

    /// Collects the response data of a command with data and an Le: 61xx gives its length.
    private static func collect(
        _ first: [UInt8], class: UInt8, _ carry: ([UInt8]) throws(LinkError) -> [UInt8]
    ) throws(LinkError) -> [UInt8] {
        guard first.count == 2, first[0] == 0x61 else { return first }
        var reply = try carry([`class`, ISO7816.getResponse, 0, 0, first[1]])
        var rounds = 0
        while reply.count == 2, let length = reply.exactLength, rounds < roundLimit {
            rounds += 1
            reply = try carry([`class`, ISO7816.getResponse, 0, 0, length])
        }
        return reply
    }
}

extension [UInt8] {
    /// The correct Le according to the card (6Cxx).
    fileprivate var exactLength: UInt8? { count == 2 && self[0] == 0x6C ? self[1] : nil }
}

/// APDUs over the transmission protocol T=1, for a reader that carries only blocks (ISO 7816-3 §11).
struct T1Exchange {
    /// The maximum information field sizes of the card and of this host.
    private(set) var cardSize: Int
    private(set) var ownSize = 32
    private let check: T1Block.Check
    private var sending: UInt8 = 0
    private var receiving: UInt8 = 0

    /// The maximum number of consecutive retries, and of blocks in an exchange.
    private static let faultLimit = 3
    private static let roundLimit = 10_000
    /// The longest response APDU.
    private static let responseLimit = 65_538

    /// Carries a block, with the factor for the card's extended waiting time.
    typealias Carry = (_ block: [UInt8], _ waiting: UInt8) throws(LinkError) -> [UInt8]

    /// Starts with the T=1 parameters in the answer to reset; by default 32 bytes and LRC.
    init(_ group: ATR.InterfaceGroup?) {
        cardSize = min(max(Int(group?.a ?? 32), 1), T1Block.informationLimit)
        check = (group?.c ?? 0) & 1 == 1 ? .crc : .lrc
    }

    /// Announces the host's block size; a card that does not answer stays at 32 bytes.
    mutating func offer(_ size: Int, _ carry: Carry) throws(LinkError) {
        let size = min(size, T1Block.informationLimit)
        guard size > ownSize else { return }
        let request = T1Block(.supervisory(.size, isResponse: false), [UInt8(size)])
        let bytes = try carry(request.encoded(check), 0)
        let response = try? T1Block(decoding: bytes, check: check)
        if response?.kind == .supervisory(.size, isResponse: true), response?.information == [UInt8(size)] {
            ownSize = size
        }
    }

    /// Sends a command APDU in as many blocks as needed, and returns the response APDU.
    mutating func exchange(_ command: [UInt8], _ carry: Carry) throws(LinkError) -> [UInt8] {
        var talk = Talk(rest: command[...])
        talk.next = part(&talk)
        talk.last = talk.next
        for _ in 0..<Self.roundLimit {
            let bytes = try carry(talk.next.encoded(check), talk.waiting)
            talk.waiting = 0
            guard let block = try? T1Block(decoding: bytes, check: check) else {
                try fault(&talk, T1Block(.ready(number: receiving, error: 1)))
                continue
            }
            if try take(block, &talk) { return talk.response }
        }
        throw .unresponsive("the card does not stop sending")
    }

    /// The state of a pending exchange.
    private struct Talk {
        var rest: ArraySlice<UInt8>
        var response: [UInt8] = []
        /// The next block to send, and the last one that was neither a request of ours nor a response to one.
        var next = T1Block(.ready(number: 0, error: 0))
        var last = T1Block(.ready(number: 0, error: 0))
        var waiting: UInt8 = 0
        var faults = 0
        /// Whether the whole command was sent, and whether the card has received it.
        var isSent = false
        var isTaken = false
    }

    private mutating func part(_ talk: inout Talk) -> T1Block {
        let data = Array(talk.rest.prefix(cardSize))
        talk.rest = talk.rest.dropFirst(cardSize)
        talk.isSent = talk.rest.isEmpty
        return T1Block(.information(number: sending, isMore: !talk.isSent), data)
    }

    /// Handles a block from the card and decides what to send next; returns true when the response is complete.
    private mutating func take(_ block: T1Block, _ talk: inout Talk) throws(LinkError) -> Bool {
        switch block.kind {
        case .information(let number, let isMore):
            guard talk.isSent, number == receiving else {
                try fault(&talk, T1Block(.ready(number: receiving, error: 2)))
                return false
            }
            if !talk.isTaken { sending ^= 1 }
            talk.isTaken = true
            talk.faults = 0
            receiving ^= 1
            talk.response += block.information
            guard talk.response.count <= Self.responseLimit else {
                throw .malformed(WireError(.tooLarge, at: 0, "the reply is longer than any response APDU"))
            }
            guard isMore else { return true }
            talk.next = T1Block(.ready(number: receiving, error: 0))
            talk.last = talk.next
        case .ready(let number, let error):
            if !talk.isSent, error == 0, number != sending {
                sending ^= 1
                talk.faults = 0
                talk.next = part(&talk)
                talk.last = talk.next
            } else {
                try fault(&talk, talk.last)
            }
        case .supervisory(let what, isResponse: false): try answer(what, block.information, &talk)
        case .supervisory(_, isResponse: true): try fault(&talk, talk.last)
        }
        return false
    }

    private mutating func answer(
        _ what: T1Block.Supervision, _ information: [UInt8], _ talk: inout Talk
    ) throws(LinkError) {
        switch what {
        case .moreTime where information.count == 1: talk.waiting = information[0]
        case .size where information.count == 1 && (1...0xFE).contains(information[0]): cardSize = Int(information[0])
        case .abort: throw .unresponsive("the card aborted the exchange")
        default: return try fault(&talk, T1Block(.ready(number: receiving, error: 2)))
        }
        talk.next = T1Block(.supervisory(what, isResponse: true), information)
    }

    private func fault(_ talk: inout Talk, _ next: T1Block) throws(LinkError) {
        talk.faults += 1
        guard talk.faults <= Self.faultLimit else {
            throw .unresponsive("card and reader do not understand each other")
        }
        talk.next = next
    }
}
