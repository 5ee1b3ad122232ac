// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why a credential or an assertion failed verification.
public enum VerificationProblem: Error, Hashable, Sendable {
    /// The signature is invalid for the key and the data.
    case badSignature
    /// It is for another relying party.
    case otherRelyingParty
    /// The user was not present.
    case noPresence
    /// The user was not verified.
    case noUserVerification
    /// The algorithm cannot be verified here.
    case unsupportedAlgorithm(COSEAlgorithm?)
    /// The algorithm is too weak; the caller can allow it.
    case weakAlgorithm(COSEAlgorithm)
    /// The attestation format cannot be verified here.
    case unsupportedFormat(AttestationFormat)
    /// The attestation statement, or its certificate, violates its format.
    case malformedStatement(String)
    /// The certificate violates a rule of its format.
    case certificate(String)
    /// The attestation does not chain to a trusted certificate.
    case untrusted
    /// The public key is unusable, as described: not on its curve, too short, of a type that does not match its
    /// algorithm, or with forbidden parameters.
    case badKey(String)
}
