// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// A credential as stored by a relying party (credential record, WebAuthn Level 3 §4).
public struct CredentialRecord: Hashable, Sendable {
    /// The credential's identifier.
    public let id: [UInt8]
    /// The user handle of the account.
    public let user: [UInt8]
    /// The public key.
    public let publicKey: COSEKey
    /// The signature counter; 0 if the authenticator does not count.
    public var signCount: UInt32
    /// Whether the user was verified at registration. A program that sets it later must require another factor first
    /// (§7.2 step 24).
    public var isUserVerificationInitialized: Bool
    /// How the authenticator can be reached.
    public var transports: [AuthenticatorTransport]
    /// Whether the credential can be backed up.
    public let isBackupEligible: Bool
    /// Whether the credential is backed up.
    public var isBackedUp: Bool
    /// The model of the authenticator: 16 bytes, all zero if it is not disclosed.
    public let aaguid: [UInt8]
}

extension CredentialRecord {
    /// The credential as it appears in options.
    public var descriptor: PublicKeyCredentialDescriptor {
        PublicKeyCredentialDescriptor(id: id, transports: transports)
    }

    /// The record as JSON, for a database.
    public var json: JSONValue {
        .object(
            JSONValue.Object([
                ("id", .bytes(id)), ("user", .bytes(user)), ("publicKey", .bytes(publicKey.encoded)),
                ("signCount", .int(Int64(signCount))), ("uvInitialized", .bool(isUserVerificationInitialized)),
                ("transports", .array(transports.map { .string($0.rawValue) })),
                ("backupEligible", .bool(isBackupEligible)), ("backupState", .bool(isBackedUp)),
                ("aaguid", .bytes(aaguid)),
            ]))
    }

    /// Reads a record from its ``json``.
    ///
    /// - Throws: `member` with the path of the invalid member.
    public init(json: JSONValue) throws(WebAuthnError) {
        let members = try JSONMembers(json)
        id = try members.required("id", .bytes)
        user = try members.required("user", .bytes)
        publicKey = try members.decode("publicKey", try members.required("publicKey", .bytes)) {
            bytes throws(WireError) in
            try COSEKey(decoding: bytes)
        }
        guard let count = UInt32(exactly: try members.required("signCount", .int)) else {
            throw .member("signCount", problem: "not a number of 32 bits")
        }
        signCount = count
        isUserVerificationInitialized = try members.required("uvInitialized", .bool)
        transports = (try members.list("transports", of: .string) ?? []).map(AuthenticatorTransport.init(rawValue:))
        isBackupEligible = try members.required("backupEligible", .bool)
        isBackedUp = try members.required("backupState", .bool)
        aaguid = try members.required("aaguid", .bytes)
    }
}
