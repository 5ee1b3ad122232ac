// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// The reason for refusing a ceremony. Each step of WebAuthn Level 3 §7.1 and §7.2 that can fail has a case.
public enum CeremonyError: Error, Hashable, Sendable {
    /// The ceremony is unknown: it was never started, has ended, or belongs to another kind or session.
    case unknownCeremony
    /// The ceremony has timed out.
    case expired
    /// The answer, its client data or its authenticator data is malformed (§7.1 steps 3, 6, 13, 17 and 25; §7.2 steps
    /// 3, 7, 9 and 18).
    case malformed(WebAuthnError)
    /// The client data belongs to another operation (§7.1 step 7, §7.2 step 10).
    case type(ClientData.Kind)
    /// The challenge does not match the ceremony (§7.1 step 8, §7.2 step 11).
    case challenge
    /// The origin does not belong to the relying party (§7.1 step 9, §7.2 step 12).
    case origin(String)
    /// The page was unexpectedly embedded in a page of another origin (§7.1 step 10, §7.2 step 13).
    case crossOrigin
    /// The top-level page may not embed the relying party (§7.1 step 11, §7.2 step 14).
    case topOrigin(String)
    /// The credential is for another relying party (§7.1 step 14, §7.2 step 15).
    case otherRelyingParty
    /// The user was not present (§7.1 step 15, §7.2 step 16).
    case noPresence
    /// The user was not verified (§7.1 step 16, §7.2 step 17).
    case noUserVerification
    /// The credential can be backed up, which the policy refuses (§7.1 step 18).
    case backupEligible
    /// The backup eligibility of the credential changed (§7.2 step 19).
    case backupEligibilityChanged
    /// The algorithm was not offered (§7.1 step 20).
    case algorithm(COSEAlgorithm?)
    /// The attestation statement is invalid or not trusted (§7.1 steps 21 to 24).
    case attestation(VerificationProblem)
    /// The metadata do not allow the model (§7.1 steps 23 and 24).
    case model(MetadataRefusal)
    /// The credential is already registered (§7.1 step 26).
    case alreadyRegistered
    /// An extension did not meet a requirement (§7.1 step 27, §7.2 step 23).
    case `extension`(String)
    /// The credential is not among those allowed (§7.2 step 5).
    case credentialNotAllowed
    /// No account has the credential (§7.2 step 6).
    case unknownCredential
    /// The user is unknown: the answer has no user handle, and the ceremony has none either (§7.2 step 6).
    case noUserHandle
    /// The credential belongs to another user (§7.2 step 6).
    case otherUser
    /// The signature is invalid (§7.2 step 21).
    case signature(VerificationProblem)
    /// The signature counter did not increase: the authenticator may have been cloned (§7.2 step 22).
    case counter(stored: UInt32, received: UInt32)
    /// Too many ceremonies are in progress.
    case tooManyCeremonies
    /// The program's own store failed.
    case store(String)

    /// Converts an error thrown by the program's store.
    init(_ error: any Error) { self = error as? CeremonyError ?? .store("\(error)") }

    /// Converts an error from checking authenticator data.
    init(data problem: VerificationProblem) {
        switch problem {
        case .otherRelyingParty: self = .otherRelyingParty
        case .noPresence: self = .noPresence
        case .noUserVerification: self = .noUserVerification
        default: self = .attestation(problem)
        }
    }
}

extension CeremonyError: CustomStringConvertible {
    /// A short description of the error.
    public var description: String {
        switch self {
        case .unknownCeremony: "the ceremony is unknown or was already used"
        case .expired: "the ceremony timed out"
        case .malformed(let error): "\(error)"
        case .type(let type): "the client data are of type '\(type)'"
        case .challenge: "the challenge is not that of the ceremony"
        case .origin(let origin): "origin '\(origin)' is not expected"
        case .crossOrigin: "the page was embedded in one of another origin"
        case .topOrigin(let origin): "the page was embedded in one of '\(origin)'"
        case .otherRelyingParty: "the credential is for another relying party"
        case .noPresence: "user presence is missing"
        case .noUserVerification: "user verification is missing"
        case .backupEligible: "the credential can be backed up"
        case .backupEligibilityChanged: "the credential's backup eligibility changed"
        case .algorithm(let algorithm): "\(algorithm?.description ?? "no algorithm") was not offered"
        case .attestation(let problem): "the attestation is refused: \(problem)"
        case .model(let refusal): "the authenticator model is refused: \(refusal)"
        case .alreadyRegistered: "the credential is already registered"
        case .extension(let name): "extension \(name) did not meet the requirement"
        case .credentialNotAllowed: "the credential is not among those allowed"
        case .unknownCredential: "the credential is not known"
        case .noUserHandle: "the answer names no user"
        case .otherUser: "the credential belongs to another user"
        case .signature(let problem): "the signature is refused: \(problem)"
        case .counter(let stored, let received): "the signature counter went from \(stored) to \(received)"
        case .tooManyCeremonies: "too many ceremonies are in progress"
        case .store(let reason): "the store failed: \(reason)"
        }
    }
}
