// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a credential opens. An open set: other applications define their own.
public struct CredentialKind: OpenSet {
    /// The name, in lower case with hyphens.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The PIN of the PIV application (NIST SP 800-73-4 part 2 §2.4.3).
    public static let pivPIN = CredentialKind(rawValue: "piv-pin")
    /// The key that unblocks the PIV PIN.
    public static let pivPUK = CredentialKind(rawValue: "piv-puk")
    /// The key that authorizes changes of the PIV application.
    public static let pivManagementKey = CredentialKind(rawValue: "piv-management-key")
    /// The PIN of a security key (CTAP 2.2 §6.5).
    public static let fidoPIN = CredentialKind(rawValue: "fido-pin")
    /// The PIN of the U2F application of some keys.
    public static let u2fPIN = CredentialKind(rawValue: "u2f-pin")
    /// The password of the OATH application.
    public static let oathPassword = CredentialKind(rawValue: "oath-password")
    /// The OpenPGP PIN for everyday use (PW1).
    public static let openPGPUserPIN = CredentialKind(rawValue: "openpgp-pin")
    /// The OpenPGP PIN for changes (PW3).
    public static let openPGPAdminPIN = CredentialKind(rawValue: "openpgp-admin-pin")
    /// The code that sets a new OpenPGP user PIN.
    public static let openPGPResetCode = CredentialKind(rawValue: "openpgp-reset-code")
    /// The password that authorizes changes of YubiHSM Auth.
    public static let hsmAuthManagementKey = CredentialKind(rawValue: "hsmauth-management-key")
    /// The password of one YubiHSM Auth credential.
    public static let hsmAuthPassword = CredentialKind(rawValue: "hsmauth-password")
    /// The code that locks a key's configuration.
    public static let lockCode = CredentialKind(rawValue: "lock-code")
    /// The code that protects a slot of the OTP application.
    public static let accessCode = CredentialKind(rawValue: "access-code")
    /// The passphrase of a file.
    public static let passphrase = CredentialKind(rawValue: "passphrase")
    /// The password of an account on a server.
    public static let serverPassword = CredentialKind(rawValue: "server-password")
}

/// An error that may report that a credential was refused.
public protocol CredentialRefusal: Error {
    /// The refused credential; `nil` for an error that reports none.
    var refusedCredential: RefusedCredential? { get }
}

/// A credential that was refused, and the tries that are left.
public struct RefusedCredential: Hashable, Sendable {
    /// What it should have opened.
    public let kind: CredentialKind
    /// The tries that are left; `nil` where they are unlimited or unknown.
    public let triesLeft: Int?

    /// Describes a refusal.
    public init(_ kind: CredentialKind, triesLeft: Int?) {
        self.kind = kind
        self.triesLeft = triesLeft
    }
}
