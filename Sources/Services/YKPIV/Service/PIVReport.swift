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
    /// The four main slots, and as many retired ones as the key history of an issued card says are in use.
    case usual
    /// All slots, with the attestation's.
    case all
}

extension PIVService {
    /// Everything that there is to say without PIN and management key, in at most 18 commands on a card whose retired
    /// slots are not in use; 15 on a new YubiKey.
    ///
    /// Commands are saved where the answer is known: a card without an identifier has no capability container, since
    /// programs write both; ykman has notes only of a management key or a PUK that are not as in a new card; and a key
    /// history is written by issuers, who sign the identifier, so a YubiKey of nobody's is not asked for it.
    public func report(_ scope: ReportScope = .usual) throws(PIVError) -> PIVReport {
        let serial = try tolerant { () throws(PIVError) -> UInt32? in try self.serial() } ?? nil
        let pin = try tolerant { () throws(PIVError) in try tries(of: .pin) } ?? nil
        let puk = try tolerant { () throws(PIVError) in try metadata(of: .puk) } ?? nil
        let management = try tolerant { () throws(PIVError) in try managementKeyMetadata() } ?? nil
        let identifier = try tolerant { () throws(PIVError) in try content(.chuid) } ?? nil
        let chuid = identifier.flatMap { try? CHUID(decoding: $0) }
        let isIssued = !identity.isYubiKey || identifier != nil && chuid?.signature != []
        var slots: [PIVReport.Slot] = []
        for slot in try chosenSlots(scope, isIssued: isIssued) {
            let entry = try look(at: slot)
            if entry.metadata != nil || entry.certificate != nil { slots.append(entry) }
        }
        let isNew = management?.isDefault == true && puk?.isBlocked == false
        let hasCapability = scope == .all || identifier != nil
        return PIVReport(
            identity: identity, serial: serial, pin: pin, puk: puk, managementKey: management,
            administration: isNew && scope == .usual ? PIVAdministration() : try notes(), chuid: chuid,
            capability: hasCapability
                ? try tolerant { () throws(PIVError) in try content(.capability) } ?? nil : nil,
            discovery: try discovery(), slots: slots)
    }

    private func notes() throws(PIVError) -> PIVAdministration {
        try tolerant { () throws(PIVError) in try administration() } ?? PIVAdministration()
    }

    private func chosenSlots(_ scope: ReportScope, isIssued: Bool) throws(PIVError) -> [PIVSlot] {
        if scope == .all { return PIVSlot.main + PIVSlot.retired + [.attestation] }
        guard isIssued else { return PIVSlot.main }
        let history = try tolerant { () throws(PIVError) in
            try content(.keyHistory).map { content throws(PIVError) in
                try parse(.keyHistory, content) { bytes throws(WireError) in try KeyHistory(decoding: bytes) }
            }
        }
        let used = (history ?? nil).map { min(20, $0.onCard + $0.offCard) } ?? 0
        return PIVSlot.main + PIVSlot.retired.prefix(used)
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

    private func look(at slot: PIVSlot) throws(PIVError) -> PIVReport.Slot {
        let metadata: SlotMetadata?
        do { metadata = try self.metadata(of: slot) } catch {
            guard !error.endsSession else { throw error }
            metadata = nil
        }
        let certificate: Result<PIVCertificate, PIVError>?
        do { certificate = .success(try self.certificate(slot)) } catch {
            if error.endsSession { throw error }
            if case .noSuchObject = error { certificate = nil } else { certificate = .failure(error) }
        }
        return PIVReport.Slot(slot: slot, metadata: metadata, certificate: certificate)
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
}
