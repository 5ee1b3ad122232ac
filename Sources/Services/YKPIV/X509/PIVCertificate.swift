// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// An X.509 certificate (RFC 5280 §4.1), parsed as far as needed here: unknown keys, names and extensions are accepted.
public struct PIVCertificate: Hashable, Sendable {
    /// The whole certificate, DER.
    public let der: [UInt8]
    /// The serial number, most significant byte first.
    public let serial: [UInt8]
    /// The issuer, in the form of RFC 4514.
    public var issuer: String { SubjectName.text(issuerDER) }
    /// The subject, in the form of RFC 4514.
    public var subject: String { SubjectName.text(subjectDER) }
    /// The start of its validity, in seconds since 1970.
    public let notBefore: Int64
    /// The end of its validity, in seconds since 1970.
    public let notAfter: Int64
    /// The public key; `nil` for unsupported kinds.
    public let publicKey: PublicKey?
    /// The SubjectPublicKeyInfo, DER.
    public let subjectPublicKeyInfo: [UInt8]
    /// The extensions' values, by object identifier in dotted form.
    public let extensions: [String: [UInt8]]
    /// Alternative names of the subject, as in `dns:example.com`.
    public var alternativeNames: [String] { extensions["2.5.29.17"].map(AlternativeName.texts) ?? [] }

    let signed: [UInt8]
    let signature: [UInt8]
    let signatureAlgorithm: SignatureAlgorithm?
    let issuerDER: [UInt8]
    let subjectDER: [UInt8]

    /// Reads a certificate, DER.
    ///
    /// - Throws: `notCertificate`.
    public init(der: [UInt8]) throws(PIVError) {
        do { self = try CertificateReader(der).read() } catch { throw .notCertificate(error.description) }
    }

    /// SHA-256 of the whole certificate.
    public var fingerprint: [UInt8] { HashAlgorithm.sha256.hash(der) }

    /// Returns whether it is signed with the private half of a key; false for unknown algorithms.
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
