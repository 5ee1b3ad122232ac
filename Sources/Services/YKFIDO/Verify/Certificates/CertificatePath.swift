// SPDX-License-Identifier: Apache-2.0

/// A chain of certificates, each signed by the next one (RFC 5280 §6.1): as much of path validation as attestation
/// needs. Policies and revocation are not looked at; a critical extension that is not known here breaks the path.
public struct CertificatePath: Sendable {
    /// The certificates, the end of the path first.
    public let certificates: [AttestationCertificate]
    /// Whether signatures with SHA-1 are good enough.
    public var allowsSHA1 = false

    /// The most certificates.
    static let limit = 8

    /// Takes certificates, the end of the path first.
    public init(_ certificates: [AttestationCertificate]) { self.certificates = certificates }

    /// Checks that the path leads to one of the anchors at a time, in seconds since 1970. An anchor can be one of the
    /// path's own certificates. Anchors that cannot be read are passed over.
    ///
    /// Throws `untrusted` when no anchor is met, `certificate` for what is wrong on the way.
    public func verify(anchors: [[UInt8]], at time: Int64) throws(VerificationProblem) {
        let anchors = anchors.compactMap { try? AttestationCertificate(der: $0) }
        guard certificates.count <= Self.limit else { throw .certificate("\(certificates.count) of them in a chain") }
        for (index, certificate) in certificates.enumerated() {
            if index > 0 { try certificate.checkAuthority(authoritiesBelow: index - 1) }
            try certificate.checkCurrent(time)
            if anchors.contains(where: { $0.der == certificate.der }) { return }
            if anchors.contains(where: { isSigned(certificate, by: $0) }) { return }
            guard index + 1 < certificates.count else { break }
            let issuer = certificates[index + 1]
            guard certificate.fields.issuer == issuer.fields.subject else {
                throw .certificate("the next certificate is not its issuer's")
            }
            try certificate.checkSignature(by: issuer, allowingSHA1: allowsSHA1)
        }
        throw .untrusted
    }

    private func isSigned(_ certificate: AttestationCertificate, by anchor: AttestationCertificate) -> Bool {
        certificate.fields.issuer == anchor.fields.subject
            && (try? certificate.checkSignature(by: anchor, allowingSHA1: allowsSHA1)) != nil
    }
}

extension AttestationCertificate {
    /// Extensions whose meaning is looked at, or does not matter for a path: key usage, alternative name, basic
    /// constraints, policies, extended key usage.
    private static let known: Set<String> = ["2.5.29.15", "2.5.29.17", "2.5.29.19", "2.5.29.32", "2.5.29.37"]

    fileprivate func checkCurrent(_ time: Int64) throws(VerificationProblem) {
        guard time >= notBefore else { throw .certificate("it is not valid yet") }
        guard time <= notAfter else { throw .certificate("it is not valid any more") }
        let unknown = fields.extensions.first { $0.value.isCritical && !Self.known.contains($0.key) }
        if let unknown { throw .certificate("the critical extension \(unknown.key)") }
    }

    /// RFC 5280 §4.2.1.3, §4.2.1.9: an authority, that may have so many others below it, and may sign certificates.
    fileprivate func checkAuthority(authoritiesBelow count: Int) throws(VerificationProblem) {
        guard version == 3, let constraints, constraints.isAuthority else {
            throw .certificate("the issuer is no certificate authority")
        }
        if let most = constraints.pathLength, count > most { throw .certificate("too many authorities in the chain") }
        guard let usage = value("2.5.29.15") else { return }
        // A bit string: 03, length, unused bits, then keyCertSign as bit 5.
        guard usage.count >= 4, usage[0] == 0x03, usage[3] & 0x04 != 0 else {
            throw .certificate("the issuer may not sign certificates")
        }
    }
}
