// SPDX-License-Identifier: Apache-2.0

import YKHTTP
public import YKTransport

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

/// A web site on this machine that tests a browser and its key. It serves one browser: the first one that opens ``url``.
///
/// ```swift
/// let server = try TrialServer(TrialStep.basic) { print($0.step, $0.outcome) }
/// print("open \(server.url)")
/// ```
public final class TrialServer: Sendable {
    /// The address of the page, which can be opened once.
    public let url: String
    /// The origin of the page, and of its credentials.
    public let origin: String
    private let site: TrialSite
    private let listener: HTTPListener

    /// Starts serving on the loopback addresses, at a port chosen by the system.
    ///
    /// - Parameters:
    ///   - steps: The steps of the trial, in this order.
    ///   - report: Called with each result, on the server's thread.
    /// - Throws: `HTTPError` if no port is available, `LinkError` if there are no random bytes.
    public init(
        _ steps: [TrialStep], environment: ServiceEnvironment = ServiceEnvironment(),
        report: @escaping @Sendable (TrialResult) -> Void
    ) throws {
        let site = TrialSite(steps, environment, report: report)
        listener = try HTTPListener(localhost: { site.answer($0) })
        self.site = site
        origin = "http://localhost:\(listener.port)"
        url = try site.open(at: listener.port)
    }

    /// Whether the last step is done, or the user ended the trial.
    public var isOver: Bool { site.isOver }

    /// The results so far, in the order of the steps.
    public var results: [TrialResult] { site.results }

    /// The browser's User-Agent; `nil` until it opens the page.
    public var userAgent: String? { site.userAgent }

    /// The passkey left on the key.
    public var passkey: TrialPasskey? { site.passkey }

    /// Stops serving, and returns once every pending response is written or abandoned.
    public func stop() { listener.stopAndWait() }
}
