// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// What there is to say of a PIV application.
public struct PIVReport: Sendable {
    /// Which application it is.
    public let identity: PIVIdentity
    /// The serial number of the key, where it says it.
    public let serial: UInt32?
    /// Tries of the PIN.
    public let pin: PINMetadata?
    /// Tries of the PUK; `nil` on firmware before 5.3.
    public let puk: PINMetadata?
    /// The management key; `nil` on firmware before 5.3.
    public let managementKey: ManagementKeyMetadata?
    /// ykman's notes.
    public let administration: PIVAdministration
    /// The card's identifier; `nil` when there is none, or it is none.
    public let chuid: CHUID?
    /// The card's capability container; `nil` when there is none, or no identifier either.
    public let capability: [UInt8]?
    /// Which PINs there are, on cards that are no YubiKeys.
    public let discovery: DiscoveryObject?
    /// The slots that were looked at and have a key or a certificate.
    public let slots: [Slot]
    /// Whether the card tells which slots have a key, in metadata; otherwise certificates are all there is to see.
    public let tellsKeys: Bool
    /// Whether certificates were looked for in all slots.
    public let isComplete: Bool
    /// The objects that the recording that is played back does not have.
    public let unrecorded: Set<PIVObjectID>

    /// What is in a slot.
    public struct Slot: Sendable {
        /// Which.
        public let slot: PIVSlot
        /// The key; `nil` when there is none, or the card does not say.
        public let metadata: SlotMetadata?
        /// The certificate, or why it cannot be read; `nil` when there is none.
        public let certificate: Result<PIVCertificate, PIVError>?
    }

    /// PIN, PUK and management key that are still those of a new card.
    public var defaults: [Default] {
        var found: [Default] = []
        if pin?.isDefault == true { found.append(.pin) }
        if puk?.isDefault == true { found.append(.puk) }
        if managementKey?.isDefault == true { found.append(.managementKey) }
        return found
    }

    /// What everybody knows of a new card.
    public enum Default: String, Sendable, Hashable {
        /// The PIN 123456.
        case pin
        /// The PUK 12345678.
        case puk
        /// The management key 01 to 08, three times.
        case managementKey
    }
}

/// Which slots a report looks at.
public enum ReportScope: Sendable, Hashable {
    /// The four main slots, and the retired ones that have a key; on a card without metadata those with a certificate.
    case usual
    /// Key and certificate of all slots, with the attestation's.
    case all
}

extension PIVService {
    /// Everything that there is to say without PIN and management key, in at most 38 commands on a card whose retired
    /// slots are empty; 35 on a new YubiKey, of which 20 look for keys in retired slots.
    ///
    /// Commands are saved where the answer is known: a card without an identifier has no capability container, since
    /// programs write both; and ykman has notes only of a management key or a PUK that are not as in a new card.
    public func report(_ scope: ReportScope = .usual) throws(PIVError) -> PIVReport {
        var unrecorded: Set<PIVObjectID> = []
        let serial = try tolerant { () throws(PIVError) -> UInt32? in try self.serial() } ?? nil
        let pin = try tolerant { () throws(PIVError) in try tries(of: .pin) } ?? nil
        let puk = try tolerant { () throws(PIVError) in try metadata(of: .puk) } ?? nil
        let management = try tolerant { () throws(PIVError) in try managementKeyMetadata() } ?? nil
        let identifier = try contentOrNone(.chuid, &unrecorded)
        let (slots, tellsKeys) = try look(scope)
        let isNew = management?.isDefault == true && puk?.isBlocked == false
        let hasCapability = scope == .all || identifier != nil || !unrecorded.isEmpty
        let capability = hasCapability ? try contentOrNone(.capability, &unrecorded) : nil
        return PIVReport(
            identity: identity, serial: serial, pin: pin, puk: puk, managementKey: management,
            administration: isNew && scope == .usual ? PIVAdministration() : try notes(),
            chuid: identifier.flatMap { try? CHUID(decoding: $0) }, capability: capability,
            discovery: try discovery(), slots: slots, tellsKeys: tellsKeys, isComplete: scope == .all,
            unrecorded: unrecorded)
    }

    /// The content of an object; notes when a recording does not have it.
    private func contentOrNone(_ id: PIVObjectID, _ unrecorded: inout Set<PIVObjectID>) throws(PIVError) -> [UInt8]? {
        do { return try content(id) } catch {
            if error.endsSession { throw error }
            if error.isUnrecorded { unrecorded.insert(id) }
            return nil
        }
    }

    /// The slots that have something, and whether the card tells which have a key.
    private func look(_ scope: ReportScope) throws(PIVError) -> ([PIVReport.Slot], tellsKeys: Bool) {
        var found: [PIVReport.Slot] = []
        var tellsKeys = false
        let whole = scope == .all ? PIVSlot.main + PIVSlot.retired + [.attestation] : PIVSlot.main
        for slot in whole {
            let key = try keyState(slot)
            if key != .untold { tellsKeys = true }
            let certificate = try certificateState(slot)
            if key.metadata == nil, certificate == nil { continue }
            found.append(.init(slot: slot, metadata: key.metadata, certificate: certificate))
        }
        if scope == .all { return (found, tellsKeys) }
        for slot in PIVSlot.retired {
            let key: KeyState = tellsKeys ? try keyState(slot) : .untold
            if key == .absent { continue }
            let certificate = try certificateState(slot)
            if key.metadata == nil, certificate == nil { continue }
            if key.metadata == nil, case .failure(let error)? = certificate, error.isUnrecorded { continue }
            found.append(.init(slot: slot, metadata: key.metadata, certificate: certificate))
        }
        return (found, tellsKeys)
    }

    /// What metadata tell of the key in a slot.
    private enum KeyState: Equatable {
        case present(SlotMetadata)
        case absent
        case untold

        var metadata: SlotMetadata? { if case .present(let metadata) = self { metadata } else { nil } }
    }

    private func keyState(_ slot: PIVSlot) throws(PIVError) -> KeyState {
        do {
            return try metadata(of: slot).map(KeyState.present) ?? .untold
        } catch {
            if error.endsSession { throw error }
            if case .noKey = error { return .absent }
            return .untold
        }
    }

    private func certificateState(_ slot: PIVSlot) throws(PIVError) -> Result<PIVCertificate, PIVError>? {
        do { return .success(try certificate(slot)) } catch {
            if error.endsSession { throw error }
            if case .noSuchObject = error { return nil }
            return .failure(error)
        }
    }

    private func notes() throws(PIVError) -> PIVAdministration {
        try tolerant { () throws(PIVError) in try administration() } ?? PIVAdministration()
    }

    /// The discovery object of a card that is no YubiKey: on those it says nothing new.
    private func discovery() throws(PIVError) -> DiscoveryObject? {
        guard !identity.isYubiKey else { return nil }
        return try tolerant { () throws(PIVError) in
            try content(.discovery).map { content throws(PIVError) in
                try parse(.discovery, content) { bytes throws(WireError) in try DiscoveryObject(decoding: bytes) }
            }
        } ?? nil
    }

    /// One object that cannot be read is no reason to say nothing of the others.
    private func tolerant<Value>(_ body: () throws(PIVError) -> Value) throws(PIVError) -> Value? {
        do { return try body() } catch {
            if error.endsSession { throw error }
            return nil
        }
    }
}

extension PIVError {
    /// Whether nothing more can be asked of the card after this; a recording that lacks an exchange can still have
    /// others.
    var endsSession: Bool {
        guard case .card(.link(let cause)) = self else { return false }
        if case .replay = cause { return false }
        return true
    }

    /// Whether a recording does not have what was asked for.
    var isUnrecorded: Bool {
        if case .card(.link(.replay)) = self { true } else { false }
    }
}
