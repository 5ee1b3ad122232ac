// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKX509

/// The key in a slot, as the card reports it.
public struct PIVSlotKey: Sendable, Hashable {
    /// The slot.
    public let slot: PIVSlot
    /// The public key.
    public let publicKey: PublicKey
    /// The key's policies; `nil` if the card does not report them.
    public let policies: KeyPolicies?
}

extension PIVService {
    /// Returns the keys in slots: from the card's metadata (firmware 5.3 and later, one command for each slot), or from
    /// certificates on a card that does not report keys. A certificate in a slot without a key is ignored.
    ///
    /// - Throws: ``PIVError`` if the session with the card ends.
    public func keys(in slots: [PIVSlot]) throws(PIVError) -> [PIVSlotKey] {
        var found: [PIVSlotKey] = []
        for slot in slots {
            if let key = try key(in: slot) { found.append(key) }
        }
        return found
    }

    private func key(in slot: PIVSlot) throws(PIVError) -> PIVSlotKey? {
        let state = try keyState(of: slot)
        if case .absent = state { return nil }
        let policies = state.metadata?.policies
        if let key = state.metadata?.publicKey { return PIVSlotKey(slot: slot, publicKey: key, policies: policies) }
        let key = try tolerant { () throws(PIVError) in try certifiedKey(slot) } ?? nil
        return key.map { PIVSlotKey(slot: slot, publicKey: $0, policies: policies) }
    }
}
