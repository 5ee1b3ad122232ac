// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// The key of a store, 32 random bytes that encrypt its records. It is in memory only while a record is sealed or
/// opened; the file contains it encrypted for each of the keys that open the store.
public struct StoreKey: Sendable {
    private let secret: SharedSecret
    static let size = 32

    /// Generates a new key.
    public init(_ random: any RandomSource) throws(StoreError) {
        var bytes = try StoreRandom.draw(Self.size, random, secret: true)
        defer { Secret.wipe(&bytes) }
        secret = SharedSecret(Secret(bytes))
    }

    init(_ secret: consuming Secret) throws(StoreError) {
        guard secret.count == Self.size else { throw .notOpened }
        self.secret = SharedSecret(secret)
    }

    /// Encrypts a record with AES-256-GCM under a key derived for the record. The identifier and the public part are
    /// associated data, so that neither can be changed or swapped.
    public func seal(
        _ value: borrowing Secret, id: String, service: String, _ description: JSONValue
    ) throws(StoreError) -> StoreRecord {
        do {
            let sealed = try AESGCM.seal(
                value, key: try key(id), context: StoreRecord.context(id, service, description))
            return StoreRecord(id: id, description: description, sealed: sealed)
        } catch { throw .crypto(error) }
    }

    /// Decrypts a record.
    ///
    /// - Throws: `recordChanged`.
    public func open(_ record: StoreRecord, service: String) throws(StoreError) -> SharedSecret {
        do {
            return SharedSecret(
                try AESGCM.open(
                    record.sealed, key: try key(record.id),
                    context: StoreRecord.context(record.id, service, record.description)))
        } catch { throw .recordChanged(record.id) }
    }

    private func key(_ id: String) throws(CryptoFault) -> Secret {
        try HashAlgorithm.sha256.hkdf(secret.value, salt: [], info: Array("ykit store 1 \(id)".utf8), length: 32)
    }

    func wrapped(under key: borrowing Secret, _ context: [UInt8]) throws(StoreError) -> [UInt8] {
        do { return try AESGCM.seal(secret.value, key: key, context: context) } catch { throw .crypto(error) }
    }
}

/// A record of a store: a public part that anyone can read, and a sealed part.
public struct StoreRecord: Hashable, Sendable {
    /// The identifier, unique in the store.
    public let id: String
    /// The public part.
    public let description: JSONValue
    /// Nonce, ciphertext and tag.
    let sealed: [UInt8]

    /// Creates a record without a secret part; its public part is not authenticated.
    public init(id: String, description: JSONValue) { self.init(id: id, description: description, sealed: []) }

    /// Whether there is a secret part.
    public var hasSecret: Bool { !sealed.isEmpty }

    static func context(_ id: String, _ service: String, _ description: JSONValue) -> [UInt8] {
        Array("ykit store 1\n\(service)\n\(id)\n\(description.text)".utf8)
    }

    var json: JSONValue {
        ["id": .string(id), "public": description, "sealed": .string(Base64.encodeURL(sealed))]
    }

    init(id: String, description: JSONValue, sealed: [UInt8]) {
        self.id = id
        self.description = description
        self.sealed = sealed
    }

    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, let description = json["public"], description.object != nil,
            let sealed = json["sealed"]?.string.flatMap({ try? Base64.decode($0) }), json.object?.members.count == 3
        else { return nil }
        self.init(id: id, description: description, sealed: sealed)
    }
}

enum StoreRandom {
    static func draw(_ count: Int, _ random: any RandomSource, secret: Bool) throws(StoreError) -> [UInt8] {
        do { return try random.draw(count, secret: secret) } catch { throw .random }
    }
}
