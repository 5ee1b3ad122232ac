// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

extension OpenPGPService {
    /// Maximum size of a certificate in bytes.
    private static let limit = 0xFFFF

    /// Reads the certificate of a slot, DER (GET DATA 7F21, FC).
    ///
    /// - Throws: `noCertificate`, `unsupported`.
    public func certificate(_ slot: OpenPGPSlot) throws(OpenPGPError) -> [UInt8] {
        let tag = try selectCertificate(slot)
        let bytes: [UInt8]
        do { bytes = try read(tag) { $0 } } catch {
            guard case .card(.status(.referenceNotFound, _)) = error else { throw error }
            throw .noCertificate(slot)
        }
        guard !bytes.isEmpty else { throw .noCertificate(slot) }
        return bytes
    }

    /// Writes the certificate of a slot, DER; the admin PIN must be verified.
    public func putCertificate(_ der: [UInt8], _ slot: OpenPGPSlot) throws(OpenPGPError) {
        try checkRoom(for: der)
        try put(try selectCertificate(slot), der)
    }

    /// Checks whether the card has room for a certificate, before the admin PIN is verified.
    ///
    /// - Throws: `badInput`; `unsupported` for a card without room for any.
    public func checkRoom(for der: [UInt8]) throws(OpenPGPError) {
        guard !der.isEmpty, der.count <= Self.limit else { throw .badInput("a certificate of \(der.count) bytes") }
        let capabilities = try cardFacts().status.capabilities
        let room = capabilities.count > 5 ? Int(capabilities[4]) << 8 | Int(capabilities[5]) : Self.limit
        guard room > 0 else { throw .unsupported("certificates") }
        guard der.count <= room else {
            throw .badInput("the certificate has \(der.count) bytes, the card has room for \(room)")
        }
    }

    /// Deletes the certificate of a slot; the admin PIN must be verified.
    public func deleteCertificate(_ slot: OpenPGPSlot) throws(OpenPGPError) {
        try put(try selectCertificate(slot), [])
    }

    /// Attests the key of a slot (GET ATTESTATION, YubiKeys from firmware 5.2.1 on), which overwrites the slot's
    /// certificate, and reads the attestation. The user PIN must be verified for signing.
    ///
    /// - Returns: The attestation, DER; its issuer's certificate is that of the attestation slot.
    /// - Throws: `notAttestable` for imported keys and empty slots, `touchTimeout`, `pinRequired`;
    ///   `unchecked` if it cannot be read afterwards.
    public func attest(_ slot: OpenPGPSlot) throws(OpenPGPError) -> [UInt8] {
        guard try hasAttestation() else { throw .unsupported("attestation") }
        guard slot != .attestation else { throw .notAttestable(slot) }
        do { try channel.send(GetAttestation(slot: slot)) } catch {
            guard case .status(let status, _) = error else { throw .card(error) }
            switch status {
            case .securityStatusNotSatisfied:
                throw verified.contains(.signing) ? .touchTimeout(.attestation) : .pinRequired(.user)
            case .securityRelated: throw .touchTimeout(.attestation)
            case .conditionsNotSatisfied, .referenceNotFound, .incorrectParameters: throw .notAttestable(slot)
            default: throw .card(error)
            }
        }
        do { return try certificate(slot) } catch { throw .unchecked("the attestation", error) }
    }

    /// Selects the certificate of a slot, and returns the tag for reading and writing it.
    private func selectCertificate(_ slot: OpenPGPSlot) throws(OpenPGPError) -> TLV.Tag {
        let facts = try cardFacts()
        if slot == .attestation {
            guard try hasAttestation() else { throw .unsupported("the attestation slot") }
            return Tag.attestationCertificate
        }
        let hasLength = try firmware().map { $0 <= FirmwareVersion(5, 4, 3) } ?? false
        do {
            try channel.send(SelectCertificate(occurrence: facts.occurrence(of: slot), hasLength: hasLength))
        } catch {
            guard case .status(let status, _) = error, Self.absent.contains(status) else { throw .card(error) }
            // Cards before version 3 have one certificate.
            guard slot == .authentication else { throw .unsupported("a certificate of the \(slot) key") }
        }
        return Tag.certificate
    }
}
