// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
public import YKX509

extension PIVService {
    private static let day = Duration.seconds(86_400)
    /// The number of days for which a certificate can be valid.
    public static let validDays = 1...36500

    /// Returns a self-signed certificate of the key in a slot, valid from now on; it is not written to the card.
    ///
    /// - Parameters:
    ///   - slot: The slot of the key that signs.
    ///   - template: The contents.
    ///   - validity: How long the certificate is valid, in whole seconds: 1 to 36500 days.
    ///   - key: The slot's public key, read from the card if omitted.
    ///
    /// Throws as ``sign(_:_:hash:padding:algorithm:key:)`` does; `wrongSignature` if the signature does not verify with
    /// `key`.
    public func selfSignedCertificate(
        _ slot: PIVSlot, _ template: CertificateTemplate, validity: Duration, key: PublicKey? = nil
    ) throws(PIVError) -> X509Certificate {
        let days = Self.validDays
        guard (Self.day * days.lowerBound...Self.day * days.upperBound).contains(validity) else {
            throw .badInput("a certificate is valid for \(days.lowerBound) to \(days.upperBound) days")
        }
        let key = if let key { key } else { try publicKey(slot) }
        let algorithm = try signatureAlgorithm(key, template)
        var serial = try session.draw(16, secret: false)
        serial[0] = serial[0] & 0x7F | 0x40
        let now = session.channel.environment.clock.now
        let content = try template.certificateContent(
            key, algorithm, serial: serial, from: now, to: now + validity.components.seconds)
        let signature = try signature(of: content, slot, key, algorithm)
        return try X509Certificate(reading: CertificateTemplate.signed(content, algorithm, signature))
    }

    /// Returns a certificate request for the key in a slot (PKCS#10, RFC 2986), DER.
    ///
    /// Throws as ``selfSignedCertificate(_:_:validity:key:)`` does.
    public func certificateRequest(
        _ slot: PIVSlot, _ template: CertificateTemplate, key: PublicKey? = nil
    ) throws(PIVError) -> [UInt8] {
        let key = if let key { key } else { try publicKey(slot) }
        let algorithm = try signatureAlgorithm(key, template)
        let content = template.requestContent(key)
        let signature = try signature(of: content, slot, key, algorithm)
        return CertificateTemplate.signed(content, algorithm, signature)
    }

    private func signatureAlgorithm(
        _ key: PublicKey, _ template: CertificateTemplate
    ) throws(PIVError) -> SignatureAlgorithm {
        guard let algorithm = SignatureAlgorithm(key, template.hash) else { throw .unfit(.x25519, for: .sign) }
        return algorithm
    }

    private func signature(
        of content: [UInt8], _ slot: PIVSlot, _ key: PublicKey, _ algorithm: SignatureAlgorithm
    ) throws(PIVError) -> [UInt8] {
        let signature = try sign(.message(content), slot, hash: algorithm.hash, algorithm: PIVAlgorithm(key))
        guard key.isValid(signature, for: content, algorithm.hash) else { throw .wrongSignature(slot) }
        return signature
    }
}
