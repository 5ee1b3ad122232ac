// SPDX-License-Identifier: Apache-2.0

public import YKAge
import YKCrypto
public import YKLUKS
import YKWire

/// An entry of a file or volume that one key can open. Only the keys can report which one.
public struct CredentialReference: Hashable, Sendable {
    /// How to find out whether the entry belongs to a key.
    public enum Test: Hashable, Sendable {
        /// The key has this FIDO2 or U2F credential.
        case credential([UInt8], rpID: String)
        /// The key stores a credential of this relying party whose public key has this fingerprint.
        case stored(fingerprint: String, rpID: String)
        /// The key has this age key in a PIV slot.
        case ageKey(AgePublicKey)
        /// The key has an age key with this tag in a PIV slot.
        case ageTag([UInt8])
        /// The key has, in a PIV slot, the key for which a file key was wrapped.
        case ageFile(AgeWrapping)
        /// The key has this serial number.
        case serial(String)
        /// There is no way to find out.
        case none
    }

    /// What is opened.
    public var item: Inventory.Item
    /// How to find out whether it belongs to a key.
    public var test: Test

    /// Creates a reference.
    public init(_ item: Inventory.Item, _ test: Test) { (self.item, self.test) = (item, test) }

    /// Creates a reference to a credential, marked by its identifier.
    init(_ kind: Inventory.Kind, _ target: String, name: String, credential: [UInt8], rpID: String) {
        self.init(
            Inventory.Item(kind, target, name: name, mark: Self.fingerprint(credential)),
            .credential(credential, rpID: rpID))
    }

    /// The mark of an item: the SHA-256 of a public key or credential in hexadecimal.
    static func fingerprint(_ bytes: [UInt8]) -> String { Hex.encode(HashAlgorithm.sha256.hash(bytes)) }
}

/// Why a file has no usable references.
public enum ReferenceError: Error, Hashable, Sendable {
    /// It is of an unknown kind.
    case unknownKind
    /// It violates its format.
    case malformed(String)
    /// It is a volume that has no usable tokens.
    case volume(LUKSError)
}
