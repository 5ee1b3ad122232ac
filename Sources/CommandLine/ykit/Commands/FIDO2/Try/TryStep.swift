// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// A step of `fido2 try`: one ceremony in the browser and its expected result.
enum TryStep: String, CaseIterable, Sendable {
    case signUp = "sign-up"
    case signIn = "sign-in"
    case signUpAgain = "sign-up-again"
    case pin
    case prf
    case attestation
    case passkey
    case passkeySignIn = "passkey-sign-in"
    case largeBlobWrite = "large-blob-write"
    case largeBlobRead = "large-blob-read"

    /// The steps of every run.
    static let usual: [TryStep] = [.signUp, .signIn, .signUpAgain]

    /// The heading on the page.
    var title: String {
        switch self {
        case .signUp: "Sign up"
        case .signIn: "Sign in"
        case .signUpAgain: "Sign up twice"
        case .pin: "Sign in with the PIN"
        case .prf: "Make secrets (prf)"
        case .attestation: "Show the model (attestation)"
        case .passkey: "Save a passkey"
        case .passkeySignIn: "Sign in with the passkey"
        case .largeBlobWrite: "Store data beside the passkey (largeBlob)"
        case .largeBlobRead: "Read the data (largeBlob)"
        }
    }

    /// What the step does, and what the user sees.
    var purpose: String {
        switch self {
        case .signUp: "Creates a credential. Touch the key when the browser asks for it. Nothing is stored on the key."
        case .signIn: "The key signs a challenge with that credential. Touch it again."
        case .signUpAgain:
            """
            The same key must not sign up twice. Touch it: the browser says that it is registered already, and that is \
            right.
            """
        case .pin: "As above, and the key verifies its PIN or fingerprint. A key without a PIN cannot do this."
        case .prf: "The key derives two secrets from inputs of this page. They stay in the browser."
        case .attestation: "The browser may ask whether this page may see the make and model of the key."
        case .passkey:
            """
            Creates a credential that the key stores. It stays there: ‘ykit fido2 credentials delete’ removes it, as the \
            last line on the terminal says.
            """
        case .passkeySignIn: "The page does not say which credential it wants: the key finds the passkey by itself."
        case .largeBlobWrite:
            "Some keys can store a few bytes beside a passkey, such as an SSH certificate. Not all browsers can."
        case .largeBlobRead: "Reads those bytes back."
        }
    }

    /// The step that must have passed before.
    var needed: TryStep? {
        switch self {
        case .signUp, .passkey, .attestation: nil
        case .signIn, .signUpAgain, .pin, .prf: .signUp
        case .passkeySignIn, .largeBlobWrite: .passkey
        case .largeBlobRead: .largeBlobWrite
        }
    }

    /// Whether the browser creates a credential.
    var isRegistration: Bool {
        switch self {
        case .signUp, .signUpAgain, .attestation, .passkey: true
        default: false
        }
    }
}

/// The result of a step.
struct TryVerdict: Sendable {
    enum Outcome: String, Sendable {
        /// The answer is correct.
        case passed
        /// The answer is wrong.
        case failed
        /// The browser gave no answer.
        case unanswered
        /// The key or the browser cannot do it.
        case unsupported

        /// The description for people.
        var words: String {
            switch self {
            case .passed: Style.green.around("passed")
            case .failed: Style.red.around("failed")
            case .unanswered: Style.yellow.around("no answer")
            case .unsupported: Style.yellow.around("not supported")
            }
        }
    }

    let step: TryStep
    let outcome: Outcome
    /// Why it did not pass.
    var reason: String?
    /// What the user can do about it.
    var hint: String?
    /// What browser and key did, for people.
    var details: [(name: String, words: String)] = []
    /// What browser and key did, for programs.
    var members = JSONValue.Object()

    init(_ step: TryStep, _ outcome: Outcome, _ reason: String? = nil, hint: String? = nil) {
        self.step = step
        self.outcome = outcome
        self.reason = reason
        self.hint = hint
    }

    /// Whether repeating the step is pointless.
    var isFinal: Bool { outcome == .passed || outcome == .unsupported }

    /// The JSON for the page.
    var pageJSON: JSONValue {
        [
            "step": .string(step.rawValue), "outcome": .string(outcome.rawValue),
            "reason": reason.map(JSONValue.string) ?? .null,
            "hint": hint.map(JSONValue.string) ?? .null,
            "details": .array(details.map { .array([.string($0.name), .string($0.words)]) }),
        ]
    }

    /// An element of the answer's member `steps`, with the same members for every step.
    var json: JSONValue {
        var object = JSONValue.Object([("step", .string(step.rawValue)), ("outcome", .string(outcome.rawValue))])
        object["reason"] = reason.map(JSONValue.string) ?? .null
        let keys = [
            "credentialId", "algorithm", "format", "trust", "aaguid", "transports", "flags", "counter", "extensions",
        ]
        for key in keys {
            object[key] = members[key] ?? .null
        }
        return .object(object)
    }

    /// The line for the terminal.
    var line: String { "\(step.rawValue): \(outcome.words)" + (reason.map { ": \($0.printable)" } ?? "") }
}
