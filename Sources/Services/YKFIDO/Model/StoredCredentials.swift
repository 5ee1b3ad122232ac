// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// How many credentials a key remembers and can remember.
public struct CredentialStorage: Hashable, Sendable {
    /// Credentials that it remembers.
    public let existing: UInt64
    /// The most that it can still take; which ones decide how many it really takes.
    public let remaining: UInt64

    init(_ fields: CBOR.Fields) throws(WireError) {
        existing = try fields.required(1, .unsigned)
        remaining = try fields.required(2, .unsigned)
    }
}

/// A relying party that a key remembers credentials for.
public struct StoredRelyingParty: Hashable, Sendable {
    /// The relying party; the identifier can be cut off, the hash tells.
    public let relyingParty: RelyingParty
    /// SHA-256 of the whole identifier.
    public let idHash: [UInt8]
    /// How many there are; only in the first answer.
    let total: UInt64?

    init(_ fields: CBOR.Fields) throws(WireError) {
        relyingParty =
            if let inner = try fields.optionalFields(3) { try RelyingParty(inner) } else { RelyingParty(id: "") }
        total = try fields.optional(5, .unsigned)
        idHash = total == 0 ? [] : try fields.required(4, .bytes)
    }
}

/// A credential that a key remembers.
public struct StoredCredential: Hashable, Sendable {
    /// The account.
    public let user: FIDOUser
    /// The credential's identifier.
    public let id: CredentialDescriptor
    /// Its public key.
    public let publicKey: COSEKey
    /// When it can be used without user verification.
    public let protection: CredentialProtection?
    /// The key for its large blob.
    public let largeBlobKey: [UInt8]?
    /// Whether another site may use it for a payment.
    public let allowsThirdPartyPayment: Bool?
    /// How many there are; only in the first answer.
    let total: UInt64?

    init(_ fields: CBOR.Fields) throws(WireError) {
        user = try FIDOUser(try fields.requiredFields(6))
        id = try CredentialDescriptor(try fields.requiredFields(7))
        publicKey = try COSEKey(try fields.requiredFields(8))
        total = try fields.optional(9, .unsigned)
        // Some versions of CanoKey answer 0 for a credential that was made without the extension.
        protection = try fields.optional(10, .unsigned).flatMap { $0 == 0 ? nil : CredentialProtection(rawValue: $0) }
        largeBlobKey = try fields.optional(11, .bytes)
        allowsThirdPartyPayment = try fields.optional(12, .bool)
    }
}

extension CBOR.Fields {
    /// The map of a key, which has to be there.
    func requiredFields(_ key: CBOR) throws(WireError) -> CBOR.Fields {
        if let fields = try optionalFields(key) { return fields }
        _ = try required(key, .map)
        throw WireError(.missing, at: 0, "key \(key) is not there")
    }
}
