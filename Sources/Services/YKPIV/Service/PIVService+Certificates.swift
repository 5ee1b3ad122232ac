// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension PIVService {
    /// The certificate of a slot, DER (GET DATA), inflated where it is stored compressed.
    ///
    /// Throws `noSuchObject`, `malformedObject`, `notInflated`, or `notCertificate` when the bytes are none.
    public func certificate(_ slot: PIVSlot) throws(PIVError) -> PIVCertificate {
        guard let id = slot.certificateObject else { throw .unusableSlot(slot) }
        let content = try object(id)
        if content.isEmpty { throw .noSuchObject(id) }
        let stored = try parse(id, content) { bytes throws(WireError) in try CertificateObject(decoding: bytes) }
        return try PIVCertificate(der: try stored.certificate())
    }

    /// Puts a certificate into a slot (PUT DATA), compressed with gzip where that is asked for, and on request gives
    /// the card's identifier a new GUID (``updateCHUID()``). Needs the management key.
    ///
    /// Throws `notCertificate` and `mismatch` before anything is written: where the card tells which key is in the
    /// slot and `checking` is on, the certificate has to belong to it.
    public func putCertificate(
        _ der: [UInt8], _ slot: PIVSlot, compressed: Bool = false, checking: Bool = false, updatingCHUID: Bool = false
    ) throws(PIVError) {
        guard let id = slot.certificateObject else { throw .unusableSlot(slot) }
        let certificate = try PIVCertificate(der: der)
        if checking { try check(certificate, belongsTo: slot) }
        let content = try CertificateObject(certificate: der, compressed: compressed).encoded
        do { try putObject(id, content) } catch { throw error.whileChanging(.certificate(slot)) }
        guard updatingCHUID else { return }
        do { _ = try updateCHUID() } catch { throw .unfinished(.certificate(slot), error) }
    }

    /// Removes the certificate of a slot (PUT DATA). Needs the management key.
    public func deleteCertificate(_ slot: PIVSlot, updatingCHUID: Bool = false) throws(PIVError) {
        guard let id = slot.certificateObject else { throw .unusableSlot(slot) }
        do { try putObject(id, []) } catch { throw error.whileChanging(.certificate(slot)) }
        guard updatingCHUID else { return }
        do { _ = try updateCHUID() } catch { throw .unfinished(.certificate(slot), error) }
    }

    /// Whether a certificate belongs to the key in a slot. The card's metadata tell; on older firmware the key's
    /// attestation tells, else it signs something, for which the PIN may be needed.
    ///
    /// Throws `mismatch` when it does not.
    public func check(_ certificate: PIVCertificate, belongsTo slot: PIVSlot) throws(PIVError) {
        guard let key = certificate.publicKey else { throw .mismatch(slot) }
        if let known = try cardPublicKey(slot) {
            guard known == key else { throw .mismatch(slot) }
            return
        }
        try prove(key, slot)
    }
}
