// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

/// The fields of an X.509 certificate (RFC 5280 §4.1) that attestation needs.
public struct AttestationCertificate: Sendable {
    /// The certificate as received.
    public let der: [UInt8]
    /// Version, 3 for a certificate with extensions.
    public let version: Int
    /// The subject's attributes by object identifier, such as `2.5.4.3`, in order.
    public let subject: [(type: String, value: String)]
    /// The start of its validity, in seconds since 1970-01-01 00:00 UTC.
    public let notBefore: Int64
    /// The end of its validity, in seconds since 1970-01-01 00:00 UTC.
    public let notAfter: Int64
    /// Its basic constraints (RFC 5280 §4.2.1.9); `nil` if it has none.
    public let constraints: BasicConstraints?
    let fields: CertificateFields

    /// Whether a certificate can issue others (RFC 5280 §4.2.1.9).
    public struct BasicConstraints: Hashable, Sendable {
        /// Whether it is a certificate authority.
        public let isAuthority: Bool
        /// Maximum number of further authorities below it in the path.
        public let pathLength: Int?
    }

    /// Reads a certificate; throws `certificate` if it is malformed.
    public init(der: [UInt8]) throws(VerificationProblem) {
        do {
            let fields = try CertificateFields(der)
            constraints = try fields.extensions["2.5.29.19"].map { try BasicConstraints($0.value) }
            version = fields.version
            subject = fields.subjectAttributes
            notBefore = fields.notBefore
            notAfter = fields.notAfter
            self.fields = fields
            self.der = der
        } catch {
            throw .certificate("cannot be read: \(error)")
        }
    }

    /// The value of an extension by object identifier.
    func value(_ type: String) -> [UInt8]? { fields.extensions[type]?.value }

    /// An attribute of the subject by object identifier.
    func attribute(_ type: String) -> String? { subject.first { $0.type == type }?.value }

    /// Checks that the extension id-fido-gen-ce-aaguid (WebAuthn Level 3 §8.2.1), if present, names this model.
    func checkModel(_ aaguid: [UInt8]) throws(VerificationProblem) {
        guard let model = fields.extensions["1.3.6.1.4.1.45724.1.1.4"] else { return }
        guard !model.isCritical, model.value == [0x04, 0x10] + aaguid else {
            throw .certificate("it is for another model of key")
        }
    }
}

extension AttestationCertificate.BasicConstraints {
    init(_ value: [UInt8]) throws {
        let parts = try DER.parse(value).children("the basic constraints")
        isAuthority = try parts.first.map { $0.identifier == .boolean ? try Bool(derEncoded: $0) : false } ?? false
        let length = parts.last.flatMap { $0.identifier == .integer ? $0 : nil }
        pathLength = try length.map { Int(try UInt16(derEncoded: $0)) }
    }
}
