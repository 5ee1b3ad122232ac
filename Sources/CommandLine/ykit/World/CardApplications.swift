// SPDX-License-Identifier: Apache-2.0

import YKManagement
import YKTransport
import YKWire

/// What a card has, found out by selecting one application after the other.
enum CardApplications {
    /// Those that are looked for.
    static let all: [(aid: AID, capability: Capability)] = [
        (.otp, .otp), (.fido, .fido2), (.oath, .oath), (.piv, .piv), (.openPGP, .openPGP), (.hsmAuth, .hsmAuth),
    ]

    /// Those that can be selected, and those of which a recording does not tell. FIDO that answers SELECT with `U2F_V2`
    /// has U2F as well.
    static func found(on channel: CardChannel) throws(CardError) -> (found: Capability, untold: Capability) {
        var (found, untold): (Capability, Capability) = ([], [])
        for (aid, capability) in all {
            do throws(CardError) {
                let reply = try channel.select(aid)
                found.formUnion(capability)
                if aid == .fido, reply == Array("U2F_V2".utf8) { found.formUnion(.u2f) }
            } catch {
                switch error {
                case .appletMissing, .status: continue
                case .link(.replay): untold.formUnion(capability)
                default: throw error
                }
            }
        }
        return (found, untold)
    }
}
