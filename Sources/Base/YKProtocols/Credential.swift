// SPDX-License-Identifier: Apache-2.0

/// What a credential opens, and the facts that every program needs to ask for it. The one list of kinds; other programs can
/// define their own.
public struct CredentialKind: Hashable, Sendable {
    /// The name, in lower case with hyphens.
    public let name: String
    /// What it is called.
    public let noun: String
    /// A well-formed value for a program that shows what it would send without having the credential; `nil` for one on
    /// which the following steps depend.
    public let standIn: String?

    /// Describes a kind.
    public init(_ name: String, _ noun: String, standIn: String?) {
        (self.name, self.noun, self.standIn) = (name, noun, standIn)
    }

    /// The PIN of the PIV application (NIST SP 800-73-4 part 2 §2.4.3).
    public static let pivPIN = CredentialKind("piv-pin", "PIN", standIn: "123456")
    /// The key that unblocks the PIV PIN.
    public static let pivPUK = CredentialKind("piv-puk", "PUK", standIn: "12345678")
    /// The key that authorizes changes of the PIV application.
    public static let pivManagementKey = CredentialKind("piv-management-key", "management key", standIn: nil)
    /// The PIN of a security key (CTAP 2.2 §6.5).
    public static let fidoPIN = CredentialKind("fido-pin", "PIN", standIn: "123456")
    /// The PIN of the U2F application of some keys.
    public static let u2fPIN = CredentialKind("u2f-pin", "PIN", standIn: "123456")
    /// The password of the OATH application.
    public static let oathPassword = CredentialKind("oath-password", "password", standIn: "123456")
    /// The OpenPGP PIN for everyday use (PW1).
    public static let openPGPUserPIN = CredentialKind("openpgp-pin", "user PIN", standIn: "123456")
    /// The OpenPGP PIN for changes (PW3).
    public static let openPGPAdminPIN = CredentialKind("openpgp-admin-pin", "admin PIN", standIn: "12345678")
    /// The code that sets a new OpenPGP user PIN.
    public static let openPGPResetCode = CredentialKind("openpgp-reset-code", "reset code", standIn: "12345678")
    /// The password that authorizes changes of YubiHSM Auth.
    public static let hsmAuthManagementKey = CredentialKind("hsmauth-management-key", "password", standIn: "123456")
    /// The password of one YubiHSM Auth credential.
    public static let hsmAuthPassword = CredentialKind("hsmauth-password", "password", standIn: "123456")
    /// The PIN of the Secrets application.
    public static let secretsPIN = CredentialKind("secrets-pin", "PIN", standIn: "123456")
    /// The code that locks a key's configuration.
    public static let lockCode = CredentialKind("lock-code", "lock code", standIn: "000102030405060708090a0b0c0d0e0f")

    /// The PINs, one for each application that has any.
    public static let pins: [CredentialKind] = [.pivPIN, .fidoPIN, .openPGPUserPIN, .u2fPIN, .secretsPIN]
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

    /// The refusal that an error of any layer reports; `nil` if it reports none.
    package init?(causing error: any Error) {
        guard let refused = (error as? any CredentialRefusal)?.refusedCredential else { return nil }
        self = refused
    }
}

/// Host names of the domain name system (RFC 1123 §2.1, RFC 5891).
package enum DomainName {
    /// Returns whether the string is a name in lower case: labels of 1 to 63 letters, digits, hyphens and underscores,
    /// 253 in all, the last one not a number.
    package static func isValid(_ text: String) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        let labels = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel), let last = labels.last else { return false }
        return !last.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isLabel(_ label: some Collection<UInt8>) -> Bool {
        (1...63).contains(label.count)
            && label.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
            }
    }
}
