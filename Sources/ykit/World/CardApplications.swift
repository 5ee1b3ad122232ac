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

    /// Whether an application can be selected; throws when the card is lost.
    static func isThere(_ aid: AID, _ channel: CardChannel) throws(CardError) -> Bool {
        do throws(CardError) {
            _ = try channel.select(aid)
            return true
        } catch {
            switch error {
            case .appletMissing, .status: return false
            default: throw error
            }
        }
    }

    /// Those that can be selected.
    static func found(on channel: CardChannel) throws(CardError) -> Capability {
        var found: Capability = []
        for (aid, capability) in all where try isThere(aid, channel) { found.formUnion(capability) }
        return found
    }
}
