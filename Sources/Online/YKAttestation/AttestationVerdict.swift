// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKFIDO
public import YKManagement
public import YKPIV
public import YKTransport
public import YKX509

/// What files show about a key: whether it was generated in a security key, and under which conditions it is used.
public struct AttestationVerdict: Hashable, Sendable {
    /// The form of the evidence.
    public enum Form: String, Hashable, Sendable, CaseIterable {
        /// An attestation of a PIV key, signed by the key in F9.
        case piv
        /// A certificate request that contains such an attestation, or none.
        case request
        /// A certificate that contains such an attestation, or none.
        case certificate
        /// An attestation of an OpenPGP key.
        case openPGP = "openpgp"
        /// The attestation of an SSH credential (`ssh-sk-attest-v01`).
        case ssh
        /// A WebAuthn registration.
        case webAuthn = "webauthn"
        /// A key that previewSign generated with a WebAuthn credential.
        case signingKey = "sign-key"
        /// A statement of the ACME challenge device-attest-01, format `step`.
        case step
    }

    /// The conclusion.
    public enum Result: String, Hashable, Sendable, CaseIterable {
        /// The key is in hardware as stated, and nothing that was asked for is missing.
        case proven
        /// What was asked for cannot be checked.
        case unchecked
        /// The evidence contradicts itself or what was expected.
        case mismatch
        /// The evidence is consistent, but chains to no trusted root.
        case notRooted
        /// Nothing but the key's own signature shows where the key is.
        case software
        /// The key was imported: it exists outside the security key too.
        case imported
        /// The model is reported as compromised or revoked.
        case compromised
        /// A requirement is not met.
        case unmet
        /// The format is known, but not supported.
        case unsupported
        /// The evidence violates its format.
        case malformed
    }

    /// The form.
    public let form: Form
    /// The conclusion.
    public internal(set) var result = Result.proven
    /// Why the result is not ``Result/proven``; more than one if several facts contradict.
    public internal(set) var findings: [AttestationFinding] = []
    /// The attested key.
    public internal(set) var key: SubjectPublicKeyInfo?
    /// The slot of the key, as the statement names it.
    public internal(set) var slot: String?
    /// The serial number of the security key.
    public internal(set) var serial: UInt64?
    /// The firmware that made the statement.
    public internal(set) var firmware: FirmwareVersion?
    /// When the key requires a PIN, by its name.
    public internal(set) var pinPolicy: String?
    /// When the key requires a touch, by its name.
    public internal(set) var touchPolicy: String?
    /// The form factor.
    public internal(set) var formFactor: FormFactor?
    /// Whether the security key belongs to the FIPS series; `nil` if the form does not say.
    public internal(set) var isFIPS: Bool?
    /// Whether the device's certificate says that it belongs to the CSPN series; `nil` if the form does not say.
    public internal(set) var isCSPN: Bool?
    /// Whether the security key generated the key; `nil` if the form does not say.
    public internal(set) var isGenerated: Bool?
    /// The fingerprint of an OpenPGP key, 20 bytes.
    public internal(set) var fingerprint: [UInt8]?
    /// When an OpenPGP key was generated, in seconds since 1970.
    public internal(set) var generationTime: Int64?
    /// The model of a FIDO key, 16 bytes.
    public internal(set) var aaguid: [UInt8]?
    /// The name of the model in the metadata, if they were given and list it.
    public internal(set) var model: String?
    /// The path from the statement to the root; without a root, as far as it was found.
    public internal(set) var path: [X509Certificate] = []
    /// Whether ``path`` ends with a trusted root.
    public internal(set) var isRooted = false
    /// Whether the path was compared with ykit's own list of roots rather than with given ones.
    public internal(set) var usesOwnRoots = false
    /// What was not shown although the result does not depend on it.
    public internal(set) var notShown: [NotShown] = []
    /// The published flaws of the firmware that concern this key.
    public internal(set) var advisories: [KnownFlaw] = []

    init(_ form: Form) { self.form = form }

    /// SHA-256 of the attested key's SubjectPublicKeyInfo.
    public var keyDigest: [UInt8]? { key.map(\.digest) }

    /// Something that the evidence leaves open.
    public enum NotShown: String, Hashable, Sendable, CaseIterable {
        /// Nobody signed a challenge: whoever has the file could have copied it.
        case presence
        /// There is a signature, but over a challenge that was not compared.
        case freshness
        /// The file names neither application nor relying party, and none was given.
        case application
        /// The card does not report which key is in the slot, or whether the statement is its own.
        case card
    }

    /// Records a contradiction or a limit; the first one decides the result.
    mutating func note(_ finding: AttestationFinding) {
        if findings.isEmpty { result = finding.result }
        findings.append(finding)
    }
}

/// A fact that keeps a verdict from being ``AttestationVerdict/Result/proven``.
public enum AttestationFinding: Error, Hashable, Sendable {
    /// Another key signed the statement than the one in the certificate that should have.
    case notSignedByDevice
    /// The certificate of the key that signed the statement is missing.
    case noDevice
    /// The path to a root is not valid.
    case chain(AttestationProblem)
    /// The statement is for another key than the request or certificate that contains it.
    case otherKey
    /// The statement is for another key than the one that was expected.
    case notExpectedKey
    /// The statement is for another application than the one that was expected.
    case otherApplication
    /// The key did not sign the request, or the proof.
    case wrongSignature
    /// It answers another challenge.
    case otherChallenge
    /// A challenge was given, but nothing in the files answers it.
    case noAnswer
    /// The signature covers a challenge that was not given.
    case noChallenge
    /// The statement is for another slot than the one asked for.
    case otherSlot(String)
    /// The statement names another serial number than the card.
    case otherSerial(UInt64)
    /// The statement is for another key than the card has in the slot.
    case otherCardKey
    /// The key in the statement has a type that cannot be compared with the card's key.
    case notComparable
    /// No statement about the key is in the files.
    case noStatement
    /// The statement is signed with the attested key itself.
    case selfSigned
    /// The key was imported.
    case imported
    /// The metadata report this about the model.
    case status(String)
    /// The metadata do not list the model.
    case unknownModel
    /// A requirement is not met, with the value that was found.
    case unmet(AttestationRequirement, found: String?)
    /// The format is not supported.
    case unsupported(String)
    /// The format is violated.
    case malformed(String)
    /// A FIDO statement does not verify.
    case fido(VerificationProblem)

    /// The result that the finding causes.
    public var result: AttestationVerdict.Result {
        switch self {
        case .notSignedByDevice, .otherKey, .notExpectedKey, .otherApplication, .wrongSignature, .otherChallenge,
            .otherSlot, .otherSerial, .otherCardKey:
            .mismatch
        case .fido(let problem): Self.result(of: problem)
        case .noDevice, .chain, .unknownModel: .notRooted
        case .noAnswer, .noChallenge, .notComparable: .unchecked
        case .noStatement, .selfSigned: .software
        case .imported: .imported
        case .status: .compromised
        case .unmet: .unmet
        case .unsupported: .unsupported
        case .malformed: .malformed
        }
    }

    private static func result(of problem: VerificationProblem) -> AttestationVerdict.Result {
        switch problem {
        case .badSignature, .otherRelyingParty, .noPresence, .noUserVerification: .mismatch
        case .unsupportedAlgorithm, .weakAlgorithm, .unsupportedFormat, .badKey: .unsupported
        case .malformedStatement: .malformed
        case .certificate, .untrusted: .notRooted
        }
    }
}

extension SubjectPublicKeyInfo {
    /// SHA-256 of the whole.
    var digest: [UInt8] { HashAlgorithm.sha256.hash(encoded) }
}
