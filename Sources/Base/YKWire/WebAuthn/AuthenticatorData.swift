// SPDX-License-Identifier: Apache-2.0

/// Authenticator data: the signed statement of a key about a credential and its use (WebAuthn Level 3 §6.1).
public struct AuthenticatorData: Hashable, Sendable {
    /// The bytes as received, which the signature covers.
    public let bytes: [UInt8]
    /// SHA-256 of the relying party's identifier.
    public let rpIDHash: [UInt8]
    /// The flags.
    public let flags: Flags
    /// The signature counter of the credential or key; 0 when the key does not count.
    public let counter: UInt32
    /// The new credential, when registering.
    public let credential: AttestedCredential?
    /// The extension outputs by identifier.
    public let extensions: CBOR.Map?

    /// The flags (WebAuthn Level 3 §6.1).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The byte.
        public let rawValue: UInt8
        /// Wraps a byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// UP: the user was present.
        public static let userPresent = Flags(rawValue: 0x01)
        /// UV: the user was verified, by PIN or biometrics.
        public static let userVerified = Flags(rawValue: 0x04)
        /// BE: the credential may be backed up.
        public static let backupEligible = Flags(rawValue: 0x08)
        /// BS: the credential is backed up.
        public static let backedUp = Flags(rawValue: 0x10)
        /// AT: a credential follows.
        public static let attestedCredential = Flags(rawValue: 0x40)
        /// ED: extensions follow.
        public static let extensions = Flags(rawValue: 0x80)

        /// The names, in the specification, of the flags that are set.
        package var names: [String] {
            let all: [(Flags, String)] = [
                (.userPresent, "UP"), (.userVerified, "UV"), (.backupEligible, "BE"), (.backedUp, "BS"),
                (.attestedCredential, "AT"), (.extensions, "ED"),
            ]
            return all.filter { contains($0.0) }.map(\.1)
        }

        /// The user's presence and verification, in words.
        package var userState: String {
            (contains(.userPresent) ? "present" : "not present")
                + (contains(.userVerified) ? ", verified" : ", not verified")
        }
    }

    /// A newly created credential (WebAuthn Level 3 §6.5.1).
    public struct AttestedCredential: Hashable, Sendable {
        /// The model of the key: 16 bytes; zeros when it is not disclosed.
        public let aaguid: [UInt8]
        /// The credential's identifier, at most 1023 bytes.
        public let id: [UInt8]
        /// The credential's public key.
        public let publicKey: COSEKey

        /// Creates a credential.
        public init(aaguid: [UInt8], id: [UInt8], publicKey: COSEKey) {
            self.aaguid = aaguid
            self.id = id
            self.publicKey = publicKey
        }
    }

    /// Creates authenticator data; the flags for credential and extensions are set when these are present.
    public init(
        rpIDHash: [UInt8], flags: Flags, counter: UInt32, credential: AttestedCredential? = nil,
        extensions: CBOR.Map? = nil
    ) {
        var flags = flags.subtracting([.attestedCredential, .extensions])
        if credential != nil { flags.insert(.attestedCredential) }
        if extensions != nil { flags.insert(.extensions) }
        self.rpIDHash = rpIDHash
        self.flags = flags
        self.counter = counter
        self.credential = credential
        self.extensions = extensions
        var writer = ByteWriter(capacity: 256)
        writer.append(rpIDHash)
        writer.byte(flags.rawValue)
        writer.bigEndian(UInt64(counter), 4)
        if let credential {
            writer.append(credential.aaguid)
            writer.bigEndian(UInt64(credential.id.count), 2)
            writer.append(credential.id)
            writer.append(credential.publicKey.encoded)
        }
        if let extensions { writer.append(CBOR.map(extensions).encoded) }
        bytes = writer.bytes
    }
}
