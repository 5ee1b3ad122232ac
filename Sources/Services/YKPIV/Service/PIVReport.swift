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
    /// The card's CHUID; `nil` if it is absent, or among the ``problems``.
    public let chuid: CHUID?
    /// The card's capability container; `nil` if it is absent, or there is no CHUID either.
    public let capability: [UInt8]?
    /// The supported PINs, on cards other than YubiKeys.
    public let discovery: DiscoveryObject?
    /// The examined slots that have a key or a certificate.
    public let slots: [Slot]
    /// Whether the card's metadata reports which slots have a key; otherwise only certificates are visible.
    public let tellsKeys: Bool
    /// The slots that were not read, other than F9.
    public let notLookedAt: [PIVSlot]
    /// Whether all slots were read, including F9.
    public let isComplete: Bool
    /// The objects that the replayed recording lacks.
    public let unrecorded: Set<PIVObjectID>
    /// The other facts that the replayed recording lacks.
    public let unrecordedFacts: Set<Fact>
    /// Why objects that may exist cannot be read.
    public let problems: [PIVObjectID: PIVError]

    /// A fact that is not in an object.
    public enum Fact: String, Sendable, Hashable {
        /// The version of the application.
        case version
        /// The serial number.
        case serial
        /// The state of the PIN.
        case pin
        /// The state of the PUK.
        case puk
        /// The management key.
        case managementKey
    }

    /// The content of a slot.
    public struct Slot: Sendable {
        /// The slot.
        public let slot: PIVSlot
        /// What the card reports about the key.
        public let key: PIVKeyState
        /// The key; `nil` if there is none, or the card does not report it.
        public var metadata: SlotMetadata? { key.metadata }
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
    /// The four main slots, and the retired ones in order, until four in a row have neither key nor certificate:
    /// programs fill them in order.
    case `default`
    /// All slots, including the attestation slot.
    case all
}

extension PIVService {
    /// The number of retired slots in a row without content after which ``ReportScope/usual`` ends the search.
    private static let gap = 4

    /// Reports everything that is readable without PIN and management key: on a new YubiKey in 23 commands, and two more
    /// for each retired slot in use.
    ///
    /// Skips commands whose answer is known: a card without a CHUID has no capability container, since programs write
    /// both; and ykman has administrative data only about a management key or a PUK that is not the default. An
    /// unexpected answer about one thing does not prevent the report of the others.
    public func report(_ scope: ReportScope = .default) throws(PIVError) -> PIVReport {
        var reading = ObjectReading()
        if session.isVersionUnrecorded { reading.facts.insert(.version) }
        let serial = reading.value(.serial, try askSerial())
        let pin = reading.value(.pin, try askTries(of: .pin))
        let puk = reading.value(.puk, try askMetadata(of: .puk))
        let management = reading.value(.managementKey, try askManagementKey())
        let identifier = try read(.chuid, &reading) { bytes throws(WireError) in try CHUID(decoding: bytes) }
        let looked = try look(scope)
        let isNew = management?.isDefault == true && puk?.isBlocked == false
        let hasCapability = scope == .all || identifier != nil || !reading.isClean
        let capability =
            hasCapability
            ? try read(.capability, &reading) { bytes throws(WireError) in
                _ = try CardCapability.identifier(decoding: bytes)
                return bytes
            } : nil
        let notes =
            isNew && scope == .default
            ? nil
            : try read(.administration, &reading) { bytes throws(WireError) in try PIVAdministration(decoding: bytes) }
        return PIVReport(
            identity: identity, serial: serial, pin: pin, puk: puk, managementKey: management,
            administration: notes ?? PIVAdministration(), chuid: identifier, capability: capability,
            discovery: identity.isYubiKey
                ? nil
                : try read(.discovery, &reading) { bytes throws(WireError) in try DiscoveryObject(decoding: bytes) },
            slots: looked.slots, tellsKeys: looked.tellsKeys, notLookedAt: looked.notLookedAt,
            isComplete: scope == .all, unrecorded: reading.unrecorded, unrecordedFacts: reading.facts,
            problems: reading.problems)
    }

    /// What could not be read.
    private struct ObjectReading {
        var unrecorded: Set<PIVObjectID> = []
        var facts: Set<PIVReport.Fact> = []
        var problems: [PIVObjectID: PIVError] = [:]
        var isClean: Bool { unrecorded.isEmpty && problems.isEmpty }

        mutating func value<Value>(_ fact: PIVReport.Fact, _ answer: CardAnswer<Value>) -> Value? {
            if case .unrecorded = answer { facts.insert(fact) }
            return answer.value
        }
    }

    /// Reads an object; `nil` if it is absent, or cannot be read.
    private func read<Value>(
        _ id: PIVObjectID, _ reading: inout ObjectReading, _ decode: ([UInt8]) throws(WireError) -> Value
    ) throws(PIVError) -> Value? {
        do throws(PIVError) {
            guard let bytes = try content(id) else { return nil }
            return try parse(id, bytes, decode)
        } catch {
            if error.endsSession { throw error }
            if error.isUnrecorded { reading.unrecorded.insert(id) } else { reading.problems[id] = error }
            return nil
        }
    }

    /// The slots with content, whether the card reports which have a key, and the slots that were not read.
    private func look(
        _ scope: ReportScope
    ) throws(PIVError) -> (slots: [PIVReport.Slot], tellsKeys: Bool, notLookedAt: [PIVSlot]) {
        var found: [PIVReport.Slot] = []
        var tellsKeys = false
        for slot in scope == .all ? PIVSlot.all : PIVSlot.main {
            let key = try keyState(of: slot)
            if case .untold = key {} else { tellsKeys = true }
            if let entry = try self.entry(slot, key) { found.append(entry) }
        }
        guard scope == .default else { return (found, tellsKeys, []) }
        var empty = 0
        for (index, slot) in PIVSlot.retired.enumerated() {
            guard empty < Self.gap else { return (found, tellsKeys, Array(PIVSlot.retired[index...])) }
            let entry = try self.entry(slot, tellsKeys ? try keyState(of: slot) : .untold(nil))
            empty = entry == nil ? empty + 1 : 0
            if let entry { found.append(entry) }
        }
        return (found, tellsKeys, [])
    }

    /// The entry of a slot; `nil` if it has neither key nor certificate, as far as the card or recording shows.
    private func entry(_ slot: PIVSlot, _ key: PIVKeyState) throws(PIVError) -> PIVReport.Slot? {
        var certificate: Result<X509Certificate, PIVError>?
        do { certificate = .success(try self.certificate(slot)) } catch {
            if error.endsSession { throw error }
            if case .noSuchObject = error {} else { certificate = .failure(error) }
        }
        let isRetired = slot.retiredNumber != nil
        switch (key, certificate) {
        case (.absent, nil), (.untold(nil), nil): return nil
        case (.absent, .failure(let error)?), (.untold(nil), .failure(let error)?):
            if isRetired, error.isUnrecorded { return nil }
        default: break
        }
        return PIVReport.Slot(slot: slot, key: key, certificate: certificate)
    }

    /// Ignores an error of one part, so that the others are still reported.
    func tolerant<Value>(_ body: () throws(PIVError) -> Value) throws(PIVError) -> Value? {
        do { return try body() } catch {
            if error.endsSession { throw error }
            return nil
        }
    }
}

extension PIVError {
    /// Whether the card can answer no further commands after this error; a recording that lacks one exchange may have
    /// others.
    public var endsSession: Bool {
        switch self {
        case .card(.link(let cause)): if case .replay = cause { false } else { true }
        case .card(.secureChannel): true
        default: false
        }
    }

    /// Whether a recording lacks the exchange.
    package var isUnrecorded: Bool {
        if case .card(.link(.replay)) = self { true } else { false }
    }
}
