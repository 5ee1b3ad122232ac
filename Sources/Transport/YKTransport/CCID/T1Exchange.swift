// SPDX-License-Identifier: Apache-2.0

import YKWire

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
