// SPDX-License-Identifier: Apache-2.0

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
