// SPDX-License-Identifier: Apache-2.0

/// What a key opens, as far as the key and the files that refer to it reveal this. It contains no secrets, so it can be
/// saved and compared with another key while this one is in a safe.
public struct Inventory: Hashable, Sendable {
    /// The key.
    public var key: InventoriedKey
    /// When the inventory was made, in seconds since 1970.
    public var time: Int64
    /// The items that the key opens.
    public var items: [Item]
    /// The items that were not read.
    public var gaps: [Gap]
    /// The kinds of items that were looked for: for a saved inventory, those that its version of the library knew.
    public var kinds: Set<Kind>
    /// The kinds in a saved inventory that this version does not know.
    public var otherKinds: Set<String> = []

    /// Creates an inventory.
    public init(
        key: InventoriedKey, time: Int64, items: [Item] = [], gaps: [Gap] = [], kinds: Set<Kind> = Set(Kind.allCases)
    ) {
        (self.key, self.time, self.items, self.gaps, self.kinds) = (key, time, items, gaps, kinds)
    }

    /// The kinds of items.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A discoverable FIDO2 credential.
        case passkey
        /// An account with one-time passwords.
        case oath
        /// A key or certificate in a PIV slot.
        case piv
        /// An OpenPGP key.
        case openPGP = "openpgp"
        /// An SSH key, stored on the key or referred to by a file.
        case ssh
        /// A recipient of age, or a file for it.
        case age
        /// A login with pam_u2f.
        case pamU2F = "pam_u2f"
        /// A LUKS2 volume.
        case luks
        /// A slot of the OTP application: challenge-response, a Yubico OTP, a password.
        case otp
        /// A credential for a YubiHSM.
        case hsmAuth = "hsmauth"
        /// An entry of a Nitrokey's Secrets application.
        case secrets

        /// Whether items of two keys are the same only if their secrets are, rather than each key having its own.
        var isShared: Bool {
            switch self {
            case .oath, .otp, .hsmAuth, .secrets: true
            case .passkey, .piv, .openPGP, .ssh, .age, .pamU2F, .luks: false
            }
        }
    }

    /// One thing that the key opens.
    public struct Item: Hashable, Sendable {
        /// Its kind.
        public var kind: Kind
        /// What is opened: a relying party with the account's identifier, the name of an OATH account, a volume. Items
        /// of two keys are matched by it.
        public var target: String
        /// The display name.
        public var name: String
        /// What identifies the secret without revealing it: the fingerprint of a public key or credential, or two codes
        /// for times long past; `nil` if the key does not report it.
        public var mark: String?
        /// The relying party of a passkey.
        public var relyingParty: String?

        /// Creates an item.
        public init(_ kind: Kind, _ target: String, name: String, mark: String? = nil, relyingParty: String? = nil) {
            (self.kind, self.target, self.name) = (kind, target, name)
            (self.mark, self.relyingParty) = (mark, relyingParty)
        }
    }

    /// Items that were not read.
    public struct Gap: Hashable, Sendable {
        /// Why they were not read.
        public enum Reason: String, Sendable, Hashable {
            /// The PIN is required, and the list was not requested.
            case notRequested = "not-requested"
            /// A password protects them.
            case locked
            /// The key's answer was unexpected.
            case failed
            /// The key does not report whether an entry is its own.
            case unknown
        }

        /// The kind of the missing items.
        public var kind: Kind
        /// The reason.
        public var reason: Reason

        /// Creates a gap.
        public init(_ kind: Kind, _ reason: Reason) { (self.kind, self.reason) = (kind, reason) }
    }
}

/// The key that an inventory describes.
public struct InventoriedKey: Hashable, Sendable {
    /// The product's name.
    public var name: String
    /// The serial number, if the key has one.
    public var serial: String?
    /// The firmware version, if known.
    public var version: String?

    /// Creates the description of a key.
    public init(name: String, serial: String? = nil, version: String? = nil) {
        (self.name, self.serial, self.version) = (name, serial, version)
    }
}
