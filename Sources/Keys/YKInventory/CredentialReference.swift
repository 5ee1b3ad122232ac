// SPDX-License-Identifier: Apache-2.0

public import YKAge
import YKCrypto
public import YKLUKS
import YKWire

/// An entry of a file or volume that one key can open. Which key that is, only the keys report.
public struct CredentialReference: Hashable, Sendable {
    /// How a key finds out whether the entry is its own.
    public enum Test: Hashable, Sendable {
        /// It has this FIDO2 or U2F credential.
        case credential([UInt8], rpID: String)
        /// It stores a credential of this relying party with this fingerprint of its public key.
        case stored(fingerprint: String, rpID: String)
        /// It has this key for age in a PIV slot.
        case ageKey(AgePublicKey)
        /// It has a key with this tag for age in a PIV slot.
        case ageTag([UInt8])
        /// It has the key in a PIV slot for which a file key was wrapped.
        case ageFile(AgeWrapping)
        /// It has this serial number.
        case serial(String)
        /// Nothing tells.
        case none
    }

    /// What is opened.
    public var item: Inventory.Item
    /// How a key finds out.
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
