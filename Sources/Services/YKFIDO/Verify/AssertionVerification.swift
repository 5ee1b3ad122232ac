// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire
import YKX509

/// Verifies an assertion as a relying party does (WebAuthn Level 3 §7.2); needs no key.
public struct AssertionVerification: Sendable {
    /// The relying party's identifier.
    public var rpID: String
    /// The public key from the registration.
    public var publicKey: COSEKey
    /// Whether user presence is required.
    public var requiresPresence = true
    /// Whether user verification is required.
    public var requiresUserVerification = false

    /// Creates a check.
    public init(rpID: String, publicKey: COSEKey) {
        self.rpID = rpID
        self.publicKey = publicKey
    }

    /// Verifies the signature over authenticator data and SHA-256 of the client data, and the contents of the data.
    public func check(
        _ data: AuthenticatorData, signature: [UInt8], clientDataHash: [UInt8]
    ) throws(VerificationProblem) {
        try data.check(rpID: rpID, presence: requiresPresence, verification: requiresUserVerification)
        try publicKey.verify(signature, over: data.bytes + clientDataHash)
    }
}

extension AuthenticatorData {
    /// Verifies the relying party, and user presence and verification if required.
    package func check(rpID: String?, presence: Bool, verification: Bool) throws(VerificationProblem) {
        if let rpID, rpIDHash != HashAlgorithm.sha256.hash(rpID.utf8) { throw .otherRelyingParty }
        if presence, !flags.contains(.userPresent) { throw .noPresence }
        if verification, !flags.contains(.userVerified) { throw .noUserVerification }
    }
}

extension U2FRegistration {
    /// Verifies the attestation signature with the certificate's key; the certificate itself is not checked.
    public func verify(challengeHash: [UInt8], applicationHash: [UInt8]) throws(VerificationProblem) {
        let key = try X509Certificate(attestingU2F: certificate).publicKey(for: .es256)
        try key.verify(signature, over: signedBytes(challengeHash: challengeHash, applicationHash: applicationHash))
    }
}

extension U2FSignature {
    /// Verifies the signature with the public key of the registration.
    public func verify(
        challengeHash: [UInt8], applicationHash: [UInt8], publicKey: COSEKey
    ) throws(VerificationProblem) {
        let message = signedBytes(challengeHash: challengeHash, applicationHash: applicationHash)
        try publicKey.verify(signature, over: message)
    }
}
