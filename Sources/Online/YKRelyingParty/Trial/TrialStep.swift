// SPDX-License-Identifier: Apache-2.0

/// A step of a trial: one ceremony in the browser, and its expected result.
public enum TrialStep: String, CaseIterable, Sendable {
    /// Creates a credential that is not discoverable.
    case signUp = "sign-up"
    /// Gets an assertion by the credential of ``signUp``.
    case signIn = "sign-in"
    /// Excludes the credential of ``signUp``, so that the key must not create another one.
    case signUpAgain = "sign-up-again"
    /// Requires user verification.
    case pin
    /// Derives two secrets (extension prf).
    case prf
    /// Creates a credential with direct attestation conveyance.
    case attestation
    /// Creates a discoverable credential, which stays on the key.
    case passkey
    /// Signs in without naming a credential.
    case passkeySignIn = "passkey-sign-in"
    /// Stores a large blob with the passkey (extension largeBlob).
    case largeBlobWrite = "large-blob-write"
    /// Reads that large blob.
    case largeBlobRead = "large-blob-read"

    /// The steps that leave nothing on the key and that every key can do.
    public static let basic: [TrialStep] = [.signUp, .signIn, .signUpAgain]

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
        case .passkeySignIn: "The page does not name a credential: the key finds the passkey by itself."
        case .largeBlobWrite:
            "Some keys can store a few bytes beside a passkey, such as an SSH certificate. Not all browsers can."
        case .largeBlobRead: "Reads those bytes back."
        }
    }

    /// The step that must have passed before.
    var prerequisite: TrialStep? {
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
