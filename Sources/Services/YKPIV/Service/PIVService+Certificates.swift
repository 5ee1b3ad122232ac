// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire
public import YKX509

extension PIVService {
    /// Reads the certificate of a slot, DER (GET DATA), decompressed if necessary.
    ///
    /// - Throws: `noSuchObject`, `malformedObject`, `notInflated`, or `notCertificate`.
    public func certificate(_ slot: PIVSlot) throws(PIVError) -> X509Certificate {
        try X509Certificate(reading: try storedCertificate(slot))
    }

    /// The public key in the certificate of a slot, which need not be readable otherwise; `nil` if it is of an unsupported
    /// kind.
    ///
    /// - Throws: As ``certificate(_:)``.
    public func certifiedKey(_ slot: PIVSlot) throws(PIVError) -> PublicKey? {
        let der = try storedCertificate(slot)
        guard let info = try? SubjectPublicKeyInfo(certificate: der) else {
            return try X509Certificate(reading: der).publicKey
        }
        return try? PublicKey(subjectPublicKeyInfo: info.encoded)
    }

    /// Reads what a slot stores as its certificate (GET DATA), decompressed if necessary but not parsed.
    ///
    /// - Throws: `noSuchObject`, `malformedObject`, or `notInflated`.
    public func storedCertificate(_ slot: PIVSlot) throws(PIVError) -> [UInt8] {
        guard let id = slot.certificateObject else { throw .unusableSlot(slot) }
        let content = try object(id)
        if content.isEmpty { throw .noSuchObject(id) }
        let stored = try parse(id, content) { bytes throws(WireError) in try CertificateObject(decoding: bytes) }
        if stored.stored.isEmpty { throw .noSuchObject(id) }
        return try stored.certificate()
    }

    /// Writes a certificate to a slot (PUT DATA), compressed with gzip if requested, and gives the CHUID a new GUID if
    /// requested (``updateCHUID()``). Requires the management key.
    ///
    /// - Throws: `notCertificate` and `mismatch` before anything is written: if the card reports the key in the slot
    ///   and `checking` is on, the certificate must match it.
    public func putCertificate(
        _ der: [UInt8], _ slot: PIVSlot, compressed: Bool = false, checking: Bool = false, updatingCHUID: Bool = false
    ) throws(PIVError) {
        guard let id = slot.certificateObject else { throw .unusableSlot(slot) }
        let certificate = try X509Certificate(reading: der)
        if checking { try check(certificate, belongsTo: slot) }
        let content = try CertificateObject(certificate: der, compressed: compressed).encoded
        do { try putObject(id, content) } catch { throw error.whileChanging(.certificate(slot)) }
        guard updatingCHUID else { return }
        do { _ = try updateCHUID() } catch { throw .unfinished(.certificate(slot), error) }
    }

    /// Removes the certificate of a slot (PUT DATA). Requires the management key.
    public func deleteCertificate(_ slot: PIVSlot, updatingCHUID: Bool = false) throws(PIVError) {
        guard let id = slot.certificateObject else { throw .unusableSlot(slot) }
        do { try putObject(id, []) } catch { throw error.whileChanging(.certificate(slot)) }
        guard updatingCHUID else { return }
        do { _ = try updateCHUID() } catch { throw .unfinished(.certificate(slot), error) }
    }

    /// Checks whether a certificate matches the key in a slot: by the card's metadata; on older firmware by the key's
    /// attestation, otherwise by a signature, for which the PIN may be required.
    ///
    /// - Throws: `mismatch` if it does not.
    public func check(_ certificate: X509Certificate, belongsTo slot: PIVSlot) throws(PIVError) {
        try check(certificate, slot, known: try cardPublicKey(slot))
    }

    /// Finds the certificate in a file that belongs to the key in a slot (``KeyFile/certificate(for:)``), and checks it as
    /// ``check(_:belongsTo:)`` does.
    ///
    /// - Returns: `nil` if the file has no certificate.
    /// - Throws: `mismatch` if none belongs to the key; `invalidFile` if the card does not report the key, and more
    ///   than one is possible.
    public func certificate(in file: KeyFile, belongingTo slot: PIVSlot) throws(PIVError) -> X509Certificate? {
        let known = try cardPublicKey(slot)
        guard let certificate = try file.certificate(for: known) else { return nil }
        try check(certificate, slot, known: known)
        return certificate
    }

    private func check(_ certificate: X509Certificate, _ slot: PIVSlot, known: PublicKey?) throws(PIVError) {
        guard let key = certificate.publicKey else { throw .mismatch(slot) }
        if let known {
            guard known == key else { throw .mismatch(slot) }
            return
        }
        try prove(key, slot)
    }

    /// Reads the content of a data object (GET DATA).
    ///
    /// - Throws: `noSuchObject`, or `pinRequired` for objects that require it.
    public func object(_ id: PIVObjectID) throws(PIVError) -> [UInt8] {
        try session.send(GetPIVData(id)) { status in
            switch status {
            case .notFound, .referenceNotFound, .noInputData: .noSuchObject(id)
            case .securityStatusNotSatisfied: .pinRequired
            default: nil
            }
        }
    }

    /// Writes a data object (PUT DATA); empty content removes it. Requires the management key.
    ///
    /// - Throws: `managementKeyRequired`, `full`, or `refusedLength`.
    public func putObject(_ id: PIVObjectID, _ content: [UInt8]) throws(PIVError) {
        try session.manage(PutPIVData(object: id, content: content)) { $0 == .wrongLength ? .refusedLength(id) : nil }
    }

    /// Reads the card's CHUID; `nil` if it has none.
    public func chuid() throws(PIVError) -> CHUID? {
        guard let content = try content(.chuid) else { return nil }
        return try parse(.chuid, content) { bytes throws(WireError) in try CHUID(decoding: bytes) }
    }

    /// Writes a new CHUID with a random GUID (RFC 4122, version 4) and no signature. Requires the management key.
    public func makeCHUID() throws(PIVError) -> CHUID {
        let chuid = CHUID(guid: try newGUID())
        try putObject(.chuid, chuid.encoded)
        return chuid
    }

    /// Gives the CHUID a new GUID and keeps the rest, so that programs that cache a card's certificates read them
    /// again; creates a CHUID if there is none, and leaves one that is signed by an issuer unchanged. Requires the
    /// management key.
    public func updateCHUID() throws(PIVError) -> CHUID {
        let old: CHUID?
        do { old = try chuid() } catch {
            guard case .malformedObject = error else { throw error }
            old = nil
        }
        guard var chuid = old else { return try makeCHUID() }
        guard chuid.signature.isEmpty else { return chuid }
        chuid.guid = try newGUID()
        try putObject(.chuid, chuid.encoded)
        return chuid
    }

    /// A random GUID (RFC 4122, version 4).
    private func newGUID() throws(PIVError) -> [UInt8] {
        var guid = try session.draw(16, secret: false)
        guid[6] = guid[6] & 0x0F | 0x40
        guid[8] = guid[8] & 0x3F | 0x80
        return guid
    }

    /// Writes a new card capability container. Requires the management key.
    public func makeCapability() throws(PIVError) {
        try putObject(.capability, CardCapability.encoded(identifier: try session.draw(14, secret: false)))
    }

    /// The content of an object; `nil` if it is absent or empty.
    func content(_ id: PIVObjectID) throws(PIVError) -> [UInt8]? {
        do {
            let content = try object(id)
            return content.isEmpty ? nil : content
        } catch {
            guard case .noSuchObject = error else { throw error }
            return nil
        }
    }

    func parse<Value>(
        _ id: PIVObjectID, _ bytes: [UInt8], _ read: ([UInt8]) throws(WireError) -> Value
    ) throws(PIVError) -> Value {
        do { return try read(bytes) } catch { throw .malformedObject(id, error) }
    }
}
