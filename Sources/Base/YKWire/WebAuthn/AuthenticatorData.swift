// SPDX-License-Identifier: Apache-2.0

/// What a key says and signs about a credential and its use (WebAuthn Level 3 §6.1).
public struct AuthenticatorData: Hashable, Sendable {
    /// The bytes as the key sent them: what its signature is over.
    public let bytes: [UInt8]
    /// SHA-256 of the relying party's identifier.
    public let rpIDHash: [UInt8]
    /// What happened, and what follows.
    public let flags: Flags
    /// How often the credential or key signed; 0 where it does not count.
    public let counter: UInt32
    /// The new credential, at registration.
    public let credential: AttestedCredential?
    /// What extensions answered, by their identifiers.
    public let extensions: CBOR.Map?

    /// What happened, and what follows (WebAuthn Level 3 §6.1).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The byte.
        public let rawValue: UInt8
        /// Wraps a byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// UP: somebody was present.
        public static let userPresent = Flags(rawValue: 0x01)
        /// UV: the user was verified, by PIN or body.
        public static let userVerified = Flags(rawValue: 0x04)
        /// BE: the credential may be backed up.
        public static let backupEligible = Flags(rawValue: 0x08)
        /// BS: the credential is backed up.
        public static let backedUp = Flags(rawValue: 0x10)
        /// AT: a credential follows.
        public static let attestedCredential = Flags(rawValue: 0x40)
        /// ED: extensions follow.
        public static let extensions = Flags(rawValue: 0x80)
    }

    /// A credential that was made (WebAuthn Level 3 §6.5.1).
    public struct AttestedCredential: Hashable, Sendable {
        /// The model of the key: 16 bytes, zero when it does not say.
        public let aaguid: [UInt8]
        /// The credential's identifier, at most 1023 bytes.
        public let id: [UInt8]
        /// The credential's public key.
        public let publicKey: COSEKey

        /// Makes a credential.
        public init(aaguid: [UInt8], id: [UInt8], publicKey: COSEKey) {
            self.aaguid = aaguid
            self.id = id
            self.publicKey = publicKey
        }
    }

    /// Makes authenticator data; the flags for what follows are set by what there is.
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
