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

    /// Those that can be selected.
    static func found(on channel: CardChannel) throws(CardError) -> Capability {
        var found: Capability = []
        for (aid, capability) in all where try channel.has(aid) { found.formUnion(capability) }
        return found
    }
}
