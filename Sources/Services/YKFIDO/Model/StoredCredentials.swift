// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

private typealias Key = CTAPProtocol.CredentialManagement.Reply

/// The number of discoverable credentials on a key, and its remaining capacity.
public struct CredentialStorage: Hashable, Sendable {
    /// The number of stored credentials.
    public let existing: UInt64
    /// The maximum number of further credentials; the actual number depends on their size.
    public let remaining: UInt64

    init(_ fields: CBOR.Fields) throws(WireError) {
        existing = try fields.required(Key.existingResidentCredentialsCount, .unsigned)
        remaining = try fields.required(Key.maxPossibleRemainingResidentCredentialsCount, .unsigned)
    }
}

/// A relying party for which a key stores credentials.
public struct StoredRelyingParty: Hashable, Sendable {
    /// The relying party; its identifier may be truncated, so use the hash to identify it.
    public let relyingParty: RelyingParty
    /// SHA-256 of the whole identifier.
    public let idHash: [UInt8]
    /// The total number; only in the first response.
    let total: UInt64?

    init(_ fields: CBOR.Fields) throws(WireError) {
        relyingParty =
            if let inner = try fields.optionalFields(Key.rp) { try RelyingParty(inner) } else { RelyingParty(id: "") }
        total = try fields.optional(Key.totalRPs, .unsigned)
        idHash = total == 0 ? [] : try fields.required(Key.rpIDHash, .bytes)
    }
}

/// A discoverable credential on a key.
public struct StoredCredential: Hashable, Sendable {
    /// The account.
    public package(set) var user: FIDOUser
    /// The credential's identifier.
    public let id: CredentialDescriptor
    /// Its public key.
    public let publicKey: COSEKey
    /// When it can be used without user verification.
    public let protection: CredentialProtection?
    /// Its large-blob key.
    public let largeBlobKey: [UInt8]?
    /// Whether other sites may use it for payments.
    public let allowsThirdPartyPayment: Bool?
    /// The total number; only in the first response.
    let total: UInt64?

    init(_ fields: CBOR.Fields) throws(WireError) {
        user = try FIDOUser(try fields.requiredFields(6))
        id = try CredentialDescriptor(try fields.requiredFields(7))
        publicKey = try COSEKey(try fields.requiredFields(8))
        total = try fields.optional(Key.totalCredentials, .unsigned)
        // Some CanoKey versions answer 0 for a credential that was created without the extension.
        protection = try fields.optional(Key.credProtect, .unsigned).flatMap {
            $0 == 0 ? nil : CredentialProtection(rawValue: $0)
        }
        largeBlobKey = try fields.optional(Key.largeBlobKey, .bytes)
        allowsThirdPartyPayment = try fields.optional(Key.thirdPartyPayment, .bool)
    }
}

extension CBOR.Fields {
    /// Returns a required map.
    func requiredFields(_ key: CBOR) throws(WireError) -> CBOR.Fields {
        if let fields = try optionalFields(key) { return fields }
        _ = try required(key, .map)
        throw WireError(.missing, at: 0, "key \(key) is missing")
    }
}

extension CredentialStorage: CustomStringConvertible {
    /// Both numbers.
    public var description: String { "\(existing) stored, room for \(remaining)" }
}

extension StoredRelyingParty: CustomStringConvertible {
    /// The identifier, or the hash if the key reports none.
    public var description: String { relyingParty.id.isEmpty ? Hex.encode(idHash) : relyingParty.id }
}

extension StoredCredential: CustomStringConvertible {
    /// Account and identifier.
    public var description: String { "\(user) (\(id))" }
}
