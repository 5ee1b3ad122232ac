// SPDX-License-Identifier: Apache-2.0

/// A new credential with what vouches for it (WebAuthn Level 3 §6.5.4).
public struct AttestationObject: Hashable, Sendable {
    /// How the statement is made.
    public var format: AttestationFormat
    /// What the key says of the credential.
    public var authenticatorData: AuthenticatorData
    /// What vouches for it.
    public var statement: CBOR.Map

    /// Makes an object.
    public init(format: AttestationFormat, authenticatorData: AuthenticatorData, statement: CBOR.Map) {
        self.format = format
        self.authenticatorData = authenticatorData
        self.statement = statement
    }
}

/// How an attestation statement is made (IANA registry "WebAuthn Attestation Statement Format Identifiers"). An open
/// set.
public struct AttestationFormat: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The identifier.
    public let rawValue: String
    /// Wraps an identifier.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Nothing vouches for the credential.
    public static let none = AttestationFormat(rawValue: "none")
    /// CTAP2's own (WebAuthn Level 3 §8.2).
    public static let packed = AttestationFormat(rawValue: "packed")
    /// U2F's (WebAuthn Level 3 §8.6).
    public static let fidoU2F = AttestationFormat(rawValue: "fido-u2f")
    /// A trusted platform module's (WebAuthn Level 3 §8.3).
    public static let tpm = AttestationFormat(rawValue: "tpm")
    /// Apple's anonymous attestation (WebAuthn Level 3 §8.8).
    public static let apple = AttestationFormat(rawValue: "apple")
    /// Android's key store (WebAuthn Level 3 §8.4).
    public static let androidKey = AttestationFormat(rawValue: "android-key")
    /// Android's SafetyNet (WebAuthn Level 3 §8.5).
    public static let androidSafetyNet = AttestationFormat(rawValue: "android-safetynet")
    /// Several statements in one (WebAuthn Level 3 §8.9).
    public static let compound = AttestationFormat(rawValue: "compound")

    /// The identifier.
    public var description: String { rawValue }
}

extension AttestationObject {
    /// The object in CTAP2's canonical form.
    public var encoded: [UInt8] {
        let object: CBOR = [
            "fmt": .text(format.rawValue), "attStmt": .map(statement), "authData": .bytes(authenticatorData.bytes),
        ]
        return object.encoded
    }

    /// Reads an object and nothing after it; authenticator data without a credential throws `missing`.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        let fields = try CBOR.Fields(decoding: bytes, "the attestation object")
        format = AttestationFormat(rawValue: try fields.required("fmt", .text))
        statement = try fields.required("attStmt", .map)
        authenticatorData = try AuthenticatorData(decoding: try fields.required("authData", .bytes))
        guard authenticatorData.credential != nil else {
            throw WireError(.missing, at: 0, "the authenticator data have no credential")
        }
    }
}
