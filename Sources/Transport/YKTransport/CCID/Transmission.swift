// SPDX-License-Identifier: Apache-2.0

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
