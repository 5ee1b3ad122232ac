// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire
public import YKX509

/// A report on a PIV application.
public struct PIVReport: Sendable {
    /// The application's identity.
    public let identity: PIVIdentity
    /// The serial number of the key, if reported.
    public let serial: UInt32?
    /// The PIN's metadata.
    public let pin: PINMetadata?
    /// The PUK's metadata; `nil` on firmware before 5.3.
    public let puk: PINMetadata?
    /// The management key; `nil` on firmware before 5.3.
    public let managementKey: ManagementKeyMetadata?
    /// ykman's administrative data.
    public let administration: PIVAdministration
    /// The card's CHUID; `nil` if it is absent or malformed.
    public let chuid: CHUID?
    /// The card's capability container; `nil` if it is absent, or there is no CHUID either.
    public let capability: [UInt8]?
    /// The supported PINs, on cards other than YubiKeys.
    public let discovery: DiscoveryObject?
    /// The examined slots that have a key or a certificate.
    public let slots: [Slot]
    /// Whether the card's metadata reports which slots have a key; otherwise only certificates are visible.
    public let tellsKeys: Bool
    /// Whether all slots were searched for certificates.
    public let isComplete: Bool
    /// The objects that the replayed recording lacks.
    public let unrecorded: Set<PIVObjectID>

    /// The content of a slot.
    public struct Slot: Sendable {
        /// The slot.
        public let slot: PIVSlot
        /// The key; `nil` if there is none, or the card does not report it.
        public let metadata: SlotMetadata?
        /// The certificate, or why it cannot be read; `nil` if there is none.
        public let certificate: Result<X509Certificate, PIVError>?
    }

    /// Which of PIN, PUK and management key still have their defaults.
    public var defaults: [Default] {
        var found: [Default] = []
        if pin?.isDefault == true { found.append(.pin) }
        if puk?.isDefault == true { found.append(.puk) }
        if managementKey?.isDefault == true { found.append(.managementKey) }
        return found
    }

    /// A default of a new card.
    public enum Default: String, Sendable, Hashable {
        /// The PIN 123456.
        case pin
        /// The PUK 12345678.
        case puk
        /// The management key 01 to 08, three times.
        case managementKey
    }
}

/// The slots that a report covers.
public enum ReportScope: Sendable, Hashable {
    /// The four main slots, and the retired ones that have a key, or on a card without metadata those with a
    /// certificate.
    case usual
    /// Key and certificate of all slots, including the attestation slot.
    case all
}

extension PIVService {
    /// Reports everything that is readable without PIN and management key, in at most 38 commands on a card whose
    /// retired slots are empty; 35 on a new YubiKey, of which 20 look for keys in retired slots.
    ///
    /// Skips commands whose answer is known: a card without a CHUID has no capability container, since programs write
    /// both; and ykman has administrative data only about a management key or a PUK that is not the default.
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

    /// The content of an object; records its absence from a recording.
    private func contentOrNone(_ id: PIVObjectID, _ unrecorded: inout Set<PIVObjectID>) throws(PIVError) -> [UInt8]? {
        do { return try content(id) } catch {
            if error.endsSession { throw error }
            if error.isUnrecorded { unrecorded.insert(id) }
            return nil
        }
    }

    /// The slots with content, and whether the card reports which have a key.
    private func look(_ scope: ReportScope) throws(PIVError) -> ([PIVReport.Slot], tellsKeys: Bool) {
        var found: [PIVReport.Slot] = []
        var tellsKeys = false
        let whole = scope == .all ? PIVSlot.all : PIVSlot.main
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

    /// The state of a slot's key according to its metadata.
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

    private func certificateState(_ slot: PIVSlot) throws(PIVError) -> Result<X509Certificate, PIVError>? {
        do { return .success(try certificate(slot)) } catch {
            if error.endsSession { throw error }
            if case .noSuchObject = error { return nil }
            return .failure(error)
        }
    }

    private func notes() throws(PIVError) -> PIVAdministration {
        try tolerant { () throws(PIVError) in try administration() } ?? PIVAdministration()
    }

    /// The discovery object of a card other than a YubiKey; on YubiKeys it adds nothing.
    private func discovery() throws(PIVError) -> DiscoveryObject? {
        guard !identity.isYubiKey else { return nil }
        return try tolerant { () throws(PIVError) in
            try content(.discovery).map { content throws(PIVError) in
                try parse(.discovery, content) { bytes throws(WireError) in try DiscoveryObject(decoding: bytes) }
            }
        } ?? nil
    }

    /// Ignores an error of one object, so that the others are still reported.
    private func tolerant<Value>(_ body: () throws(PIVError) -> Value) throws(PIVError) -> Value? {
        do { return try body() } catch {
            if error.endsSession { throw error }
            return nil
        }
    }
}

extension PIVError {
    /// Whether the card can answer no further commands after this error; a recording that lacks one exchange may have
    /// others.
    var endsSession: Bool {
        guard case .card(.link(let cause)) = self else { return false }
        if case .replay = cause { return false }
        return true
    }

    /// Whether a recording lacks the exchange.
    var isUnrecorded: Bool {
        if case .card(.link(.replay)) = self { true } else { false }
    }
}
