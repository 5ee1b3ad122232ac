// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why a credential or an assertion is not to be believed.
public enum VerificationProblem: Error, Hashable, Sendable {
    /// The signature does not hold for the key and the data.
    case badSignature
    /// It is for another relying party.
    case otherRelyingParty
    /// Nobody was present.
    case noPresence
    /// The user was not verified.
    case noUserVerification
    /// The algorithm is not one that can be checked here.
    case unsupportedAlgorithm(COSEAlgorithm?)
    /// The algorithm is not strong enough to prove anything; it can be allowed.
    case weakAlgorithm(COSEAlgorithm)
    /// The attestation format is not one that can be checked here.
    case unsupportedFormat(AttestationFormat)
    /// The attestation statement, or the certificate in it, is not what its format says.
    case malformedStatement(String)
    /// The certificate breaks a rule of its format.
    case certificate(String)
    /// No certificate that is trusted vouches for the credential.
    case untrusted
    /// Certificate paths are checked with OpenSSL 3, which is not installed.
    case pathsNeedOpenSSL
    /// The public key cannot be used: not on its curve, too short.
    case badKey
}
