// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// The result of a step of a trial.
public struct TrialResult: Sendable {
    /// How a step ended.
    public enum Outcome: String, Sendable {
        /// The answer is correct.
        case passed
        /// The answer is wrong.
        case failed
        /// The browser gave no answer.
        case unanswered
        /// The key or the browser cannot do it.
        case unsupported
    }

    /// The step.
    public let step: TrialStep
    /// Why it did not pass; `nil` if it did.
    public let reason: TrialProblem?
    /// What the browser's answer says; `nil` for a step that did not pass, and for ``TrialStep/signUpAgain``, which the
    /// browser must refuse.
    public let response: TrialResponse?

    init(_ step: TrialStep, _ reason: TrialProblem) { (self.step, self.reason, response) = (step, reason, nil) }

    init(passed step: TrialStep, _ response: TrialResponse?) {
        (self.step, reason, self.response) = (step, nil, response)
    }

    /// How the step ended.
    public var outcome: Outcome { reason?.outcome ?? .passed }

    /// What the user can do about it.
    public var hint: String? { reason?.hint(for: step) }

    /// Whether repeating the step is pointless.
    var isFinal: Bool { outcome == .passed || outcome == .unsupported }
}

/// What the browser's answer to a step says about the key.
public struct TrialResponse: Sendable {
    /// A new credential.
    public struct Credential: Sendable {
        /// The algorithm of the credential's key; `nil` for an unknown one.
        public let algorithm: COSEAlgorithm?
        /// The format of the attestation statement.
        public let format: AttestationFormat
        /// What vouches for the credential.
        public let trust: AttestationVerification.Trust
        /// The model, 16 bytes; all zero if the browser or the key withholds it.
        public let aaguid: [UInt8]
        /// The transports of the key, if the browser reports them.
        public let transports: [AuthenticatorTransport]

        /// Whether the model is withheld.
        var isAnonymous: Bool { aaguid.allSatisfy { $0 == 0 } }
    }

    /// The identifier of the credential.
    public let credentialID: [UInt8]
    /// The flags of the authenticator data.
    public let flags: AuthenticatorData.Flags
    /// The signature counter.
    public let counter: UInt32
    /// The results of client extensions. Secrets of prf are measured by the page and never sent.
    public let extensions: JSONValue.Object
    /// The new credential; `nil` for an assertion.
    public let credential: Credential?

    init(_ response: RegistrationResponse, _ verified: VerifiedRegistration) {
        let data = response.attestationObject.authenticatorData
        let record = verified.record
        credentialID = record.id
        flags = data.flags
        counter = data.counter
        extensions = response.clientExtensionResults
        credential = Credential(
            algorithm: record.publicKey.algorithm, format: verified.format, trust: verified.trust,
            aaguid: record.aaguid, transports: record.transports)
    }

    init(_ response: AuthenticationResponse) {
        credentialID = response.id
        flags = response.authenticatorData.flags
        counter = response.authenticatorData.counter
        extensions = response.clientExtensionResults
        credential = nil
    }
}

/// Why a step of a trial did not pass.
public enum TrialProblem: Sendable, Hashable {
    /// The prerequisite is not supported.
    case prerequisite(TrialStep)
    /// The key or the browser does not support an extension.
    case noExtension(String)
    /// The key created a second credential although one was excluded.
    case registeredTwice
    /// The key did not store the passkey.
    case notDiscoverable
    /// The browser did not pass the attestation on.
    case attestationWithheld
    /// The answer is by a credential other than the expected one.
    case otherCredential
    /// The secrets of prf are not two different ones of 32 bytes.
    case badSecrets
    /// The large blob read differs from the one stored.
    case badBlob
    /// The relying party refuses the answer.
    case ceremony(CeremonyError)
    /// The browser threw an error (WebAuthn Level 3 §5.1.3, §5.1.4). The name is the page's `no-webauthn` for a browser
    /// without WebAuthn, and empty if the error has none.
    case browser(DOMExceptionName)

    /// How the step ended.
    var outcome: TrialResult.Outcome {
        switch self {
        case .prerequisite, .noExtension, .notDiscoverable, .attestationWithheld: .unsupported
        case .registeredTwice, .otherCredential, .badSecrets, .badBlob, .ceremony: .failed
        case .browser(.notAllowed): .unanswered
        case .browser(.constraint), .browser(.notSupported), .browser(.type), .browser(.noWebAuthn): .unsupported
        case .browser: .failed
        }
    }

    /// What the user can do about it.
    func hint(for step: TrialStep) -> String? {
        switch self {
        case .registeredTwice: "was another key touched?"
        case .otherCredential where step == .passkeySignIn:
            "a passkey of an earlier run? 'ykit fido2 credentials list' shows those for localhost"
        case .browser(.notAllowed) where step == .pin:
            "does the key have a PIN? 'ykit fido2 info' shows that; 'ykit fido2 pin set' sets one"
        case .browser(.notAllowed):
            "touched in time? If the browser did not see the key, 'ykit doctor' finds out why; a browser from snap or "
                + "flatpak needs to be given access to keys (U2F devices)"
        default: nil
        }
    }
}

extension TrialProblem: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch self {
        case .prerequisite(let step): "the step '\(step.rawValue)' is not supported"
        case .noExtension(let name): "this key, or this browser, has no \(name)"
        case .registeredTwice: "a credential was made, although the key has one already"
        case .notDiscoverable: "the key did not store the credential"
        case .attestationWithheld: "the browser withheld the attestation"
        case .otherCredential: "the answer is from another credential"
        case .badSecrets: "the secrets are not two different ones of 32 bytes"
        case .badBlob: "the bytes read differ from those stored"
        case .ceremony(let error): error.description
        case .browser(.notAllowed): "the browser gave up or was cancelled (NotAllowedError)"
        case .browser(let name) where name == .constraint || name == .notSupported:
            "the browser says that the key cannot do this (\(name.rawValue))"
        case .browser(.type), .browser(.noWebAuthn): "this browser is too old for this page, or has no WebAuthn"
        case .browser(let name): "the browser refused: \(name.rawValue.isEmpty ? "no reason" : name.rawValue)"
        }
    }
}

extension DOMExceptionName {
    /// The page's own name for a browser without WebAuthn.
    fileprivate static let noWebAuthn = DOMExceptionName(rawValue: "no-webauthn")
}
