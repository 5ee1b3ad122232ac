// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// An X.509 certificate (RFC 5280 §4.1), read as far as it is of use here: unknown keys, names and extensions are no
/// reason to refuse it.
public struct PIVCertificate: Hashable, Sendable {
    /// The whole certificate, DER.
    public let der: [UInt8]
    /// The serial number, most significant byte first.
    public let serial: [UInt8]
    /// Who signed it, as RFC 4514 writes names.
    public var issuer: String { SubjectName.text(issuerDER) }
    /// Whose it is, as RFC 4514 writes names.
    public var subject: String { SubjectName.text(subjectDER) }
    /// From when on it is valid, in seconds since 1970.
    public let notBefore: Int64
    /// Until when it is valid, in seconds since 1970.
    public let notAfter: Int64
    /// The public key; `nil` for kinds that are not used here.
    public let publicKey: PublicKey?
    /// The SubjectPublicKeyInfo, DER.
    public let subjectPublicKeyInfo: [UInt8]
    /// Names and their extensions' values, by object identifier in dotted numbers.
    public let extensions: [String: [UInt8]]
    /// Alternative names of the subject, as in `dns:example.com`.
    public var alternativeNames: [String] { extensions["2.5.29.17"].map(AlternativeName.texts) ?? [] }

    let signed: [UInt8]
    let signature: [UInt8]
    let signatureAlgorithm: SignatureAlgorithm?
    let issuerDER: [UInt8]
    let subjectDER: [UInt8]

    /// Reads a certificate, DER. Throws `notCertificate`.
    public init(der: [UInt8]) throws(PIVError) {
        do { self = try CertificateReader(der).read() } catch { throw .notCertificate(error.description) }
    }

    /// SHA-256 of the whole certificate.
    public var fingerprint: [UInt8] { HashAlgorithm.sha256.hash(der) }

    /// Whether it is signed with the private half of a key; false for algorithms that are not known here.
    public func isSigned(by key: PublicKey) -> Bool {
        guard let signatureAlgorithm else { return false }
        return key.isValid(signature, for: signed, signatureAlgorithm.hash)
    }

    init(
        der: [UInt8], serial: [UInt8], names: (issuer: [UInt8], subject: [UInt8]), validity: (Int64, Int64),
        key: [UInt8], extensions: [String: [UInt8]], signed: [UInt8], signature: [UInt8],
        signatureAlgorithm: SignatureAlgorithm?
    ) {
        self.der = der
        self.serial = serial
        issuerDER = names.issuer
        subjectDER = names.subject
        (notBefore, notAfter) = validity
        publicKey = try? PublicKey(subjectPublicKeyInfo: key)
        subjectPublicKeyInfo = key
        self.extensions = extensions
        self.signed = signed
        self.signature = signature
        self.signatureAlgorithm = signatureAlgorithm
    }
}
