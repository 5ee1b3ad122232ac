// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// Checks a new credential as a relying party does (WebAuthn Level 3 §7.1), as far as the attestation statement goes:
/// whether the certificate is to be trusted is for the caller to say.
public struct AttestationVerification: Sendable {
    /// The relying party that asked.
    public var rpID: String
    /// Whether the user must have been verified.
    public var requiresUserVerification = false
    /// Whether somebody must have been present.
    public var requiresPresence = true

    /// Makes a check.
    public init(rpID: String) { self.rpID = rpID }

    /// What vouches for the credential.
    public enum Trust: Hashable, Sendable {
        /// Nothing.
        case none
        /// The credential's own key.
        case selfSigned
        /// Certificates, DER, the first one's key signed; the chain to a root is not checked here.
        case certificates([[UInt8]])
    }

    /// Checks what the data say, and the statement in the format that the object names.
    public func check(
        _ object: AttestationObject, clientDataHash: [UInt8]
    ) throws(VerificationProblem) -> Trust {
        let data = object.authenticatorData
        try data.check(rpID: rpID, presence: requiresPresence, verification: requiresUserVerification)
        guard let credential = data.credential else { throw .malformedStatement("no credential") }
        let statement = AttestationStatement(object.statement)
        switch object.format {
        case .none:
            guard object.statement.isEmpty else { throw .malformedStatement("format none with a statement") }
            return .none
        case .packed: return try statement.packed(data, credential, clientDataHash)
        case .fidoU2F: return try statement.u2f(data, credential, clientDataHash)
        case .apple: return try statement.apple(data, credential, clientDataHash)
        case .androidKey: return try statement.androidKey(data, credential, clientDataHash)
        default: throw .unsupportedFormat(object.format)
        }
    }
}
