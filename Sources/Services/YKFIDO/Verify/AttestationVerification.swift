// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire
import YKX509

/// Verifies a new credential as a relying party does (WebAuthn Level 3 §7.1), as far as the authenticator data and the
/// attestation statement go.
public struct AttestationVerification: Sendable {
    /// The relying party's identifier.
    public var rpID: String
    /// Whether a credential of any relying party is accepted, for callers that only ask where its key is.
    package var allowsAnyRelyingParty = false
    /// Whether user verification is required.
    public var requiresUserVerification = false
    /// Whether user presence is required.
    public var requiresPresence = true
    /// Whether to accept SHA-1 signatures, as made by some TPMs (RS1).
    public var allowsSHA1 = false
    /// The trusted certificates. If set, one of them must vouch for the key: format `none` and self attestation are
    /// refused. If `nil`, only the signature of the certificates is checked, and the caller decides whether to trust
    /// them.
    public var anchors: TrustAnchors?
    /// The time at which certificates must be valid; only used with anchors.
    public var clock: any WallClock = SystemClock()

    /// Creates a check.
    public init(rpID: String) { self.rpID = rpID }

    /// What vouches for the credential.
    public enum Trust: Hashable, Sendable {
        /// No attestation.
        case none
        /// Self attestation: the credential's own key.
        case selfSigned
        /// Certificates, DER, the signer's first. They lead to an anchor if anchors were given.
        case certificates([[UInt8]])

        /// The keyword of JSON answers.
        ///
        /// - Parameter isAnchored: Whether there were anchors.
        package func name(isAnchored: Bool) -> String {
            switch self {
            case .none: "none"
            case .selfSigned: "self"
            case .certificates: isAnchored ? "anchored" : "certificates"
            }
        }

        /// What vouches for the credential, in words.
        ///
        /// - Parameter isAnchored: Whether there were anchors.
        package func description(isAnchored: Bool) -> String {
            switch self {
            case .none: "nothing"
            case .selfSigned: "the credential's own key"
            case .certificates(let chain):
                (chain.count == 1 ? "a certificate" : "\(chain.count) certificates")
                    + (isAnchored ? ", by one that is trusted" : ", not checked against a root")
            }
        }
    }

    /// Verifies the data, the statement in the object's format, and the path to an anchor.
    ///
    /// - Throws: `badKey` if no signature can be verified with the credential's key, `untrusted` if there are anchors and
    ///   none vouches for the credential, `unsupportedFormat` for android-safetynet, compound and unknown formats, otherwise
    ///   what is wrong.
    public func check(
        _ object: AttestationObject, clientDataHash: [UInt8]
    ) throws(VerificationProblem) -> Trust {
        try check(object, clientDataHash: clientDataHash) { key throws(VerificationProblem) in
            try key.checkUsable(allowingSHA1: allowsSHA1)
        }
    }

    /// Verifies an object with a key of a kind that `checkKey` accepts.
    func check(
        _ object: AttestationObject, clientDataHash: [UInt8],
        _ checkKey: (COSEKey) throws(VerificationProblem) -> Void
    ) throws(VerificationProblem) -> Trust {
        let data = object.authenticatorData
        try data.check(
            rpID: allowsAnyRelyingParty ? nil : rpID, presence: requiresPresence, verification: requiresUserVerification
        )
        guard let credential = data.credential else { throw .malformedStatement("no credential") }
        try checkKey(credential.publicKey)
        let statement = AttestationStatement(
            map: object.statement, data: data, credential: credential, clientDataHash: clientDataHash,
            allowsSHA1: allowsSHA1)
        let trust = try check(statement, object.format)
        guard let anchors else { return trust }
        guard case .certificates(let chain) = trust else { throw .untrusted }
        try path(chain, to: anchors, object.format, credential.aaguid)
        return trust
    }

    private func check(
        _ statement: AttestationStatement, _ format: AttestationFormat
    ) throws(VerificationProblem) -> Trust {
        switch format {
        case .none:
            guard statement.map.isEmpty else { throw .malformedStatement("format none with a statement") }
            return .none
        case .packed: return try statement.packed()
        case .fidoU2F: return try statement.u2f()
        case .tpm: return try statement.tpm()
        case .apple: return try statement.apple()
        case .androidKey: return try statement.androidKey()
        default: throw .unsupportedFormat(format)
        }
    }

    private func path(
        _ chain: [[UInt8]], to anchors: TrustAnchors, _ format: AttestationFormat, _ aaguid: [UInt8]
    ) throws(VerificationProblem) {
        var certificates: [X509Certificate] = []
        for der in chain { certificates.append(try X509Certificate(attesting: der)) }
        var path = CertificatePath(certificates)
        path.allowsSHA1 = allowsSHA1
        let trusted = anchors.find(.init(format: format, aaguid: aaguid, chain: certificates))
        try path.verify(anchors: trusted, at: clock.now)
    }
}
