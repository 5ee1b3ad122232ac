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

extension AuthenticatorData {
    /// The maximum length of a credential identifier, in bytes (WebAuthn Level 3 §6.5.1).
    public static let credentialIDLimit = 1023

    /// Decodes authenticator data; trailing bytes are an error.
    ///
    /// - Throws: `WireError`; `malformed` also for a backup state without eligibility (WebAuthn Level 3 §6.1.3).
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        rpIDHash = try reader.bytes(32, "the hash of the relying party")
        let place = reader.offset
        flags = Flags(rawValue: try reader.byte("the flags"))
        counter = try reader.uint32("the counter")
        credential = flags.contains(.attestedCredential) ? try AttestedCredential(&reader) : nil
        extensions = flags.contains(.extensions) ? try reader.cborFields("the extensions").map : nil
        try reader.finish("the authenticator data")
        guard !flags.contains(.backedUp) || flags.contains(.backupEligible) else {
            throw WireError(.malformed, at: place, "a credential that is backed up without being eligible for it")
        }
        self.bytes = bytes
    }
}

extension AuthenticatorData.AttestedCredential {
    init(_ reader: inout ByteReader) throws(WireError) {
        aaguid = try reader.bytes(16, "the AAGUID")
        let place = reader.offset
        let length = Int(try reader.uint16("the length of the credential's identifier"))
        guard (1...AuthenticatorData.credentialIDLimit).contains(length) else {
            throw WireError(.tooLarge, at: place, "a credential identifier of \(length) bytes, expected 1 to 1023")
        }
        id = try reader.bytes(length, "the credential's identifier")
        publicKey = try COSEKey(reader.cborFields("the public key"))
    }
}

/// An attestation object: a new credential with its attestation (WebAuthn Level 3 §6.5.4).
public struct AttestationObject: Hashable, Sendable {
    /// The format of the statement.
    public var format: AttestationFormat
    /// The authenticator data with the credential.
    public var authenticatorData: AuthenticatorData
    /// The attestation statement.
    public var statement: CBOR.Map

    /// Creates an object.
    public init(format: AttestationFormat, authenticatorData: AuthenticatorData, statement: CBOR.Map) {
        self.format = format
        self.authenticatorData = authenticatorData
        self.statement = statement
    }
}

/// The format of an attestation statement (IANA registry "WebAuthn Attestation Statement Format Identifiers").
public struct AttestationFormat: OpenSet {
    /// The identifier.
    public let rawValue: String
    /// Wraps an identifier.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// No attestation.
    public static let none = AttestationFormat(rawValue: "none")
    /// The WebAuthn format (WebAuthn Level 3 §8.2).
    public static let packed = AttestationFormat(rawValue: "packed")
    /// The U2F format (WebAuthn Level 3 §8.6).
    public static let fidoU2F = AttestationFormat(rawValue: "fido-u2f")
    /// The format of trusted platform modules (WebAuthn Level 3 §8.3).
    public static let tpm = AttestationFormat(rawValue: "tpm")
    /// Apple's anonymous attestation (WebAuthn Level 3 §8.8).
    public static let apple = AttestationFormat(rawValue: "apple")
    /// Android's key store (WebAuthn Level 3 §8.4).
    public static let androidKey = AttestationFormat(rawValue: "android-key")
    /// Android's SafetyNet (WebAuthn Level 3 §8.5).
    public static let androidSafetyNet = AttestationFormat(rawValue: "android-safetynet")
    /// Several statements in one (WebAuthn Level 3 §8.9).
    public static let compound = AttestationFormat(rawValue: "compound")

}

extension AttestationObject {
    /// The object in CTAP2's canonical form.
    public var encoded: [UInt8] {
        let object: CBOR = [
            "fmt": .text(format.rawValue), "attStmt": .map(statement), "authData": .bytes(authenticatorData.bytes),
        ]
        return object.encoded
    }

    /// Decodes exactly one object.
    ///
    /// - Throws: `WireError`; `missing` for authenticator data without a credential.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        let fields = try CBOR.Fields(decoding: bytes, "the attestation object")
        format = AttestationFormat(rawValue: try fields.required("fmt", .text))
        statement = try fields.required("attStmt", .map)
        authenticatorData = try AuthenticatorData(decoding: try fields.required("authData", .bytes))
        guard authenticatorData.credential != nil else {
            throw WireError(.missing, at: 0, "the authenticator data has no credential")
        }
    }
}
