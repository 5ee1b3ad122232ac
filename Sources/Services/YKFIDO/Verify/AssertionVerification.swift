// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// Checks an assertion as a relying party does (WebAuthn Level 3 §7.2), without any key at hand.
public struct AssertionVerification: Sendable {
    /// The relying party that asked.
    public var rpID: String
    /// The public key from the registration.
    public var publicKey: COSEKey
    /// Whether somebody must have been present.
    public var requiresPresence = true
    /// Whether the user must have been verified.
    public var requiresUserVerification = false

    /// Creates a check.
    public init(rpID: String, publicKey: COSEKey) {
        self.rpID = rpID
        self.publicKey = publicKey
    }

    /// Checks the signature over authenticator data and SHA-256 of the client data, and what the data say.
    public func check(
        _ data: AuthenticatorData, signature: [UInt8], clientDataHash: [UInt8]
    ) throws(VerificationProblem) {
        try data.check(rpID: rpID, presence: requiresPresence, verification: requiresUserVerification)
        try publicKey.verify(signature, over: data.bytes + clientDataHash)
    }
}

extension AuthenticatorData {
    /// Checks whom the data are for, and that somebody was present and verified where that is required.
    package func check(rpID: String, presence: Bool, verification: Bool) throws(VerificationProblem) {
        guard rpIDHash == HashAlgorithm.sha256.hash(rpID.utf8) else { throw .otherRelyingParty }
        if presence, !flags.contains(.userPresent) { throw .noPresence }
        if verification, !flags.contains(.userVerified) { throw .noUserVerification }
    }
}

extension U2FRegistration {
    /// Checks the attestation signature with the key of the certificate; the certificate itself is not judged.
    public func verify(challengeHash: [UInt8], applicationHash: [UInt8]) throws(VerificationProblem) {
        let key = try AttestationCertificate(der: certificate).publicKey(for: .es256)
        try key.verify(signature, over: signedBytes(challengeHash: challengeHash, applicationHash: applicationHash))
    }
}

extension U2FSignature {
    /// Checks the signature with the public key of the registration.
    public func verify(
        challengeHash: [UInt8], applicationHash: [UInt8], publicKey: COSEKey
    ) throws(VerificationProblem) {
        let message = signedBytes(challengeHash: challengeHash, applicationHash: applicationHash)
        try publicKey.verify(signature, over: message)
    }
}
