// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKProtocols

/// The identity of a credential: its kind, and what it belongs to. The state of one credential is never used for
/// another.
public struct CredentialID: Hashable, Sendable {
    /// What it opens.
    public let kind: CredentialKind
    /// The key that it belongs to, by serial number or reader; `nil` for a file or a server.
    public let key: String?
    /// Which one, if there are several of the kind: a label, a file's path, an account.
    public let name: String?

    /// Names a credential.
    public init(_ kind: CredentialKind, key: String?, name: String? = nil) {
        self.kind = kind
        self.key = key
        self.name = name
    }
}

/// The remaining tries of a credential, and whether it is the factory default.
public struct CredentialTries: Hashable, Sendable {
    /// The tries that are left.
    public let left: Int
    /// Whether it is still the factory default; `nil` if the key does not report it.
    public let isFactoryDefault: Bool?

    /// Describes the state of a credential.
    public init(left: Int, isFactoryDefault: Bool? = nil) {
        (self.left, self.isFactoryDefault) = (left, isFactoryDefault)
    }
}

/// The requested credential, with everything that the prompt should show.
public struct CredentialRequest: Hashable, Sendable {
    /// The credential.
    public let id: CredentialID
    /// What it is for, as the end of "to …": `sign for 'alice'`.
    public let purpose: String
    /// The form of the credential, if the key reports it: `AES192, 48 digits`.
    public let form: String?
    /// The tries that are left; `nil` where they are unlimited or unknown.
    public internal(set) var triesLeft: Int?
    /// Whether it is still the factory default; `nil` if the key does not report it.
    public internal(set) var isFactoryDefault: Bool?
    /// Whether it is set rather than used: it is asked for twice, and a held one is never used.
    public let isNew: Bool
    /// Whether it is entered for this use only: it is not held, and a held one is not used.
    public let isForOnce: Bool
    /// Whether it may be empty, like the management password of a new YubiHSM Auth.
    public let allowsEmpty: Bool

    /// Describes a request.
    public init(
        _ id: CredentialID, to purpose: String, form: String? = nil, triesLeft: Int? = nil,
        isFactoryDefault: Bool? = nil, isNew: Bool = false, isForOnce: Bool = false, allowsEmpty: Bool = false
    ) {
        self.id = id
        self.purpose = purpose
        self.form = form
        self.triesLeft = triesLeft
        self.isFactoryDefault = isFactoryDefault
        self.isNew = isNew
        self.isForOnce = isForOnce
        self.allowsEmpty = allowsEmpty
    }

    /// Whether a wrong credential blocks the key.
    var isLastTry: Bool { !isNew && triesLeft == 1 }
}

/// Why there is no credential.
public enum CredentialError: Error, Hashable, Sendable {
    /// The given credential is empty; nothing was sent.
    case empty(CredentialID)
    /// No tries are left; no one was asked.
    case blocked(CredentialID)
    /// One try is left, and the available credential was given before that was known.
    case lastTry(CredentialID)
    /// The key refused the same credential before; it was not sent again.
    case refusedBefore(CredentialID)
    /// The user declined.
    case declined(CredentialID)
    /// No one can be asked.
    case nobodyToAsk(CredentialID)
}

/// A source of credentials that asks no one: an option, a variable, a keyring.
public protocol CredentialSource: Sendable {
    /// Whether its credential may be sent when one try is left. True if it was given for this run and for this key;
    /// false if it was stored or set beforehand.
    var isGivenNow: Bool { get }

    /// Whether ``credential(_:)`` has one; nothing is read to find out.
    func has(_ request: CredentialRequest) -> Bool

    /// Returns the credential; `nil` if the source has none for the request. A source for one key does not answer for
    /// another.
    nonisolated(nonsending) func credential(_ request: CredentialRequest) async throws -> SharedSecret?
}
