// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

/// What a card reports about the key in a slot.
public enum PIVKeyState: Hashable, Sendable {
    /// A key with these properties.
    case present(SlotMetadata)
    /// No key.
    case absent
    /// No usable answer: `nil` if the card does not have the command, otherwise the unexpected answer.
    case untold(PIVError?)

    /// The properties of the key, if reported.
    public var metadata: SlotMetadata? { if case .present(let metadata) = self { metadata } else { nil } }
}

extension PIVService {
    /// Returns metadata of the PIN or PUK (GET METADATA); `nil` if the card does not report them.
    public func metadata(of reference: PIVReference) throws(PIVError) -> PINMetadata? {
        try askMetadata(of: reference).value
    }

    func askMetadata(of reference: PIVReference) throws(PIVError) -> CardAnswer<PINMetadata> {
        try look(up: reference.rawValue) { objects throws(WireError) in try PINMetadata(objects) }
    }

    /// Returns metadata of the key in a slot (GET METADATA); `nil` if the card does not report it.
    ///
    /// - Throws: `noKey` if the slot is empty.
    public func metadata(of slot: PIVSlot) throws(PIVError) -> SlotMetadata? {
        let state = try keyState(of: slot)
        if case .absent = state { throw .noKey(slot) }
        return state.metadata
    }

    /// Returns what the card reports about the key in a slot (GET METADATA); does not throw for any answer from the
    /// card.
    public func keyState(of slot: PIVSlot) throws(PIVError) -> PIVKeyState {
        switch try look(up: slot.rawValue, { objects throws(WireError) in try SlotMetadata(objects) }) {
        case .answered(let metadata?) where metadata.origin.map(\.isKnown) ?? true || identity.isYubiKey:
            .present(metadata)
        case .answered(let metadata?):  // Swissbit's iShield Key 2 has the same words for every slot.
            .untold(
                .card(
                    .malformed(
                        WireError(.malformed, at: 0, "metadata with the \(metadata.origin?.description ?? "")"),
                        during: GetMetadata.name)))
        case .answered(nil), .refused(.referenceNotFound), .refused(.notFound): .absent
        case .refused(let status):
            .untold(PIVError.isUnknown(status) ? nil : .card(.status(status, during: GetMetadata.name)))
        case .malformed(let error): .untold(.card(.malformed(error, during: GetMetadata.name)))
        case .unrecorded: .untold(nil)
        }
    }

    /// Returns metadata of the management key (GET METADATA); `nil` if the card does not report it.
    public func managementKeyMetadata() throws(PIVError) -> ManagementKeyMetadata? {
        try askManagementKey().value
    }

    func askManagementKey() throws(PIVError) -> CardAnswer<ManagementKeyMetadata> {
        let answer = try look(up: PIVSlot.management.rawValue) { objects throws(WireError) in
            try ManagementKeyMetadata(objects)
        }
        if let metadata = answer.value { session.managementKeyType = metadata.type }
        return answer
    }

    /// Returns metadata of fingerprints (GET METADATA); `nil` if there is none.
    public func fingerprintMetadata() throws(PIVError) -> FingerprintMetadata? {
        try look(up: PIVReference.fingerprint.rawValue) { objects throws(WireError) in
            try FingerprintMetadata(objects)
        }.value
    }

    private func look<Metadata>(
        up reference: UInt8, _ read: ([TLV]) throws(WireError) -> Metadata
    ) throws(PIVError) -> CardAnswer<Metadata> {
        if identity.supports(.metadata) == false { return .refused(.unknownInstruction) }
        return try session.ask(GetMetadata(reference)).map(read)
    }
}

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
