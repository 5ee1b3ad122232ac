// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKManagement
import YKProtocols
import YKTransport
import YKWire

/// The applications of a card, found by selecting each of them.
enum CardApplications {
    /// The applications to look for.
    static let all: [(aid: AID, capability: Capability)] = [
        (.otp, .otp), (.fido, .fido2), (.oath, .oath), (.piv, .piv), (.openPGP, .openPGP), (.hsmAuth, .hsmAuth),
    ]

    /// Returns the applications that can be selected, and those about which a recording contains nothing.
    static func found(on channel: CardChannel) throws(CardError) -> (found: Capability, untold: Capability) {
        var (found, untold): (Capability, Capability) = ([], [])
        for (aid, capability) in all {
            do throws(CardError) {
                let answer = try answer(of: aid, on: channel)
                found.formUnion(answer.found)
                untold.formUnion(answer.untold)
            } catch {
                guard case .link(.replay) = error else { throw error }
                untold.formUnion(capability)
            }
        }
        return (found, untold)
    }

    /// Returns the capability of an application that can be selected, or nothing if it cannot. A FIDO application that
    /// answers SELECT with `U2F_V2` supports U2F, and FIDO2 only if it answers getInfo, which a recording may lack.
    static func answer(
        of aid: AID, on channel: CardChannel
    ) throws(CardError) -> (found: Capability, untold: Capability) {
        do throws(CardError) {
            let reply = try channel.select(aid)
            let capability = all.first { $0.aid == aid }?.capability ?? []
            guard aid == .fido, reply == Array("U2F_V2".utf8) else { return (capability, []) }
            guard let supports = try supportsCTAP2(channel) else { return (.u2f, .fido2) }
            return (supports ? [.u2f, .fido2] : .u2f, [])
        } catch {
            switch error {
            case .appletMissing, .status: return ([], [])
            default: throw error
            }
        }
    }

    /// Whether the selected FIDO application answers getInfo; `nil` for a recording that does not have it.
    private static func supportsCTAP2(_ channel: CardChannel) throws(CardError) -> Bool? {
        let getInfo = APDU(
            cla: 0x80, ins: FIDOProtocol.Instruction.message, p1: 0, data: [CTAPProtocol.Command.getInfo])
        do throws(CardError) {
            return try !CTAPError.noCTAP2.contains(channel.transmit(getInfo).status)
        } catch {
            guard case .link(.replay) = error else { throw error }
            return nil
        }
    }
}
