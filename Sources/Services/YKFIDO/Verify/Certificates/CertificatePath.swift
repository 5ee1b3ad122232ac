// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire
public import YKX509

/// A certificate, and others that may lead from it to a trusted one, in any order: some may be unneeded or repeated.
/// Policies and revocation are not checked; an unknown critical extension invalidates the path.
public struct CertificatePath: Sendable {
    /// The certificates, the end entity's first.
    public let certificates: [X509Certificate]
    /// Whether signatures with SHA-1 are accepted.
    public var allowsSHA1 = false
    /// Maximum number of certificates.
    static let limit = 8

    /// Creates a path from certificates, the end entity's first, the others in any order.
    public init(_ certificates: [X509Certificate]) { self.certificates = certificates }

    /// Checks that the path leads to one of the anchors (RFC 5280 §6.1). An anchor need not be a root, and can be one
    /// of the path's own certificates. Unless it is the first of them, it must be a certificate authority that is valid
    /// at the time and may sign certificates. Anchors that cannot be read are ignored.
    ///
    /// - Parameters:
    ///   - anchors: the trusted certificates, DER.
    ///   - time: seconds since 1970-01-01 00:00 UTC.
    /// - Throws: `untrusted` when no anchor is reached, `certificate` if a certificate on the path is invalid.
    public func verify(anchors: [[UInt8]], at time: Int64) throws(VerificationProblem) {
        guard certificates.count <= Self.limit else {
            throw .certificate("the chain has \(certificates.count) certificates")
        }
        guard let first = certificates.first else { throw .untrusted }
        let readable = anchors.filter { (try? X509Certificate(der: $0)) != nil }
        var check = CertificatePathCheck(anchors: readable, at: time)
        check.allowsSHA1 = allowsSHA1
        do {
            var others = certificates.dropFirst().map(\.der)
            others = others.indices.compactMap { others[..<$0].contains(others[$0]) ? nil : others[$0] }
            _ = try check.path(from: first.der, others: others)
        } catch {
            throw VerificationProblem(error)
        }
    }
}

extension VerificationProblem {
    init(_ fault: CertificatePathCheck.Fault) {
        self =
            switch fault {
            case .noIssuer: .untrusted
            case .malformed: .certificate("it cannot be read")
            case .tooLong: .certificate("the path is too long")
            case .expired(_, let reason), .notAuthority(_, let reason), .refused(_, let reason): .certificate(reason)
            }
    }
}

/// The certificates that the caller trusts to vouch for keys; queried for each attestation.
public struct TrustAnchors: Sendable {
    /// What an attestation states about itself.
    public struct Query: Sendable {
        /// The format of its statement.
        public let format: AttestationFormat
        /// The model of the key: 16 bytes, zero if unspecified.
        public let aaguid: [UInt8]
        /// The certificates of the attestation, the signer's first.
        public let chain: [X509Certificate]
    }

    let find: @Sendable (Query) -> [[UInt8]]

    /// Queries a closure for the trusted certificates of an attestation, DER; an empty array means that it is not
    /// trusted.
    public init(_ find: @escaping @Sendable (Query) -> [[UInt8]]) { self.find = find }

    /// Trusts the same certificates, DER, for every attestation.
    public init(_ certificates: [[UInt8]]) { find = { _ in certificates } }
}
