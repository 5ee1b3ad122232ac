// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// One of the keys that open a store: how its secret is obtained, and the store's key encrypted under it.
public struct StoreSeal: Hashable, Sendable {
    /// The source of the secret.
    public enum Means: Hashable, Sendable {
        /// hmac-secret of a FIDO2 credential (CTAP 2.2 §12.7), with or without user verification, which give different
        /// secrets.
        case fido(credential: [UInt8], salt: [UInt8], isVerified: Bool, isDiscoverable: Bool)
        /// A message that the RSA key in a PIV slot decrypts (RSAES-OAEP with SHA-256).
        case pivRSA(slot: UInt8, publicKey: [UInt8], message: [UInt8])
        /// Diffie-Hellman between the key in a PIV slot and an ephemeral key.
        case pivECDH(slot: UInt8, publicKey: [UInt8], ephemeral: [UInt8])
        /// A passphrase stretched with scrypt (RFC 7914), without hardware.
        case passphrase(salt: [UInt8], cost: Int, blockSize: Int, parallelism: Int)
        /// A random secret stored under this name in the desktop's Secret Service, without hardware.
        case secretService(item: String)
    }

    /// The identifier, eight hexadecimal digits.
    public let id: String
    /// The display name.
    public let name: String
    /// The time at which it was added, in seconds since 1970.
    public let added: Int64
    /// The source of the secret.
    public let means: Means
    private let wrapped: [UInt8]

    /// Encrypts a store's key for another key.
    ///
    /// - Parameters:
    ///   - key: The store's key.
    ///   - secret: The secret that the other key returned or derived.
    ///   - means: The source from which the secret can be obtained again.
    ///   - name: The display name.
    public init(
        _ key: StoreKey, under secret: borrowing Secret, _ means: Means, name: String, added: Int64,
        _ random: any RandomSource
    ) throws(StoreError) {
        id = Hex.encode(try StoreRandom.draw(4, random, secret: false))
        self.name = name
        self.added = added
        self.means = means
        let context = Self.context(id, name, added, means)
        wrapped = try key.wrapped(under: try Self.derived(secret, id), context)
    }

    /// Decrypts the store's key with the other key's secret.
    ///
    /// - Throws: `notOpened`, or `wrongPassphrase`.
    public func open(_ secret: borrowing Secret) throws(StoreError) -> StoreKey {
        let context = Self.context(id, name, added, means)
        do {
            return try StoreKey(try AESGCM.open(wrapped, key: try Self.derived(secret, id), context: context))
        } catch {
            if case .passphrase = means { throw .wrongPassphrase }
            throw .notOpened
        }
    }

    private static func derived(_ secret: borrowing Secret, _ id: String) throws(StoreError) -> Secret {
        do {
            return try HashAlgorithm.sha256.hkdf(
                secret, salt: [], info: Array("ykit store key 1 \(id)".utf8), length: 32)
        } catch { throw .crypto(error) }
    }

    /// Returns the associated data of the encrypted key: everything else in the seal.
    private static func context(_ id: String, _ name: String, _ added: Int64, _ means: Means) -> [UInt8] {
        Array("ykit store key 1\n\(id)\n\(name)\n\(added)\n\(means.json.text)".utf8)
    }

    /// The kind, stable for scripts.
    public var kind: String {
        switch means {
        case .fido: "fido2"
        case .pivRSA, .pivECDH: "piv"
        case .passphrase: "passphrase"
        case .secretService: "secret-service"
        }
    }

    /// Whether the seal works without hardware.
    public var isSoftware: Bool {
        switch means {
        case .passphrase, .secretService: true
        case .fido, .pivRSA, .pivECDH: false
        }
    }

    /// The name of the secret in the Secret Service; `nil` for other kinds of seals.
    public var item: String? { if case .secretService(let item) = means { item } else { nil } }

    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "added": .int(added), "means": means.json,
            "wrapped": .string(Base64.encodeURL(wrapped)),
        ]
    }

    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, let name = json["name"]?.string, let added = json["added"]?.int,
            let means = json["means"].flatMap(Means.init), json.object?.members.count == 5,
            let wrapped = json["wrapped"]?.string.flatMap({ try? Base64.decode($0) })
        else { return nil }
        (self.id, self.name, self.added, self.means, self.wrapped) = (id, name, added, means, wrapped)
    }
}

extension StoreSeal.Means {
    var json: JSONValue {
        func bytes(_ value: [UInt8]) -> JSONValue { .string(Base64.encodeURL(value)) }
        return switch self {
        case .fido(let credential, let salt, let isVerified, let isDiscoverable):
            [
                "kind": "fido2", "credential": bytes(credential), "salt": bytes(salt), "verified": .bool(isVerified),
                "discoverable": .bool(isDiscoverable),
            ]
        case .pivRSA(let slot, let key, let message):
            ["kind": "piv-rsa", "slot": .int(Int64(slot)), "publicKey": bytes(key), "message": bytes(message)]
        case .pivECDH(let slot, let key, let ephemeral):
            ["kind": "piv-ecdh", "slot": .int(Int64(slot)), "publicKey": bytes(key), "ephemeral": bytes(ephemeral)]
        case .passphrase(let salt, let cost, let blockSize, let parallelism):
            [
                "kind": "passphrase", "salt": bytes(salt), "cost": .int(Int64(cost)),
                "blockSize": .int(Int64(blockSize)), "parallelism": .int(Int64(parallelism)),
            ]
        case .secretService(let item): ["kind": "secret-service", "item": .string(item)]
        }
    }

    init?(_ json: JSONValue) {
        func bytes(_ name: String) -> [UInt8]? { json[name]?.string.flatMap { try? Base64.decode($0) } }
        func number(_ name: String) -> Int? { json[name]?.int.flatMap(Int.init(exactly:)) }
        switch json["kind"]?.string {
        case "fido2":
            guard let credential = bytes("credential"), (1...1024).contains(credential.count),
                let salt = bytes("salt"), salt.count == 32, let isVerified = json["verified"]?.bool,
                let isDiscoverable = json["discoverable"]?.bool
            else { return nil }
            self = .fido(
                credential: credential, salt: salt, isVerified: isVerified, isDiscoverable: isDiscoverable)
        case "piv-rsa":
            guard let slot = number("slot").flatMap(UInt8.init(exactly:)), let key = bytes("publicKey"),
                let message = bytes("message")
            else { return nil }
            self = .pivRSA(slot: slot, publicKey: key, message: message)
        case "piv-ecdh":
            guard let slot = number("slot").flatMap(UInt8.init(exactly:)), let key = bytes("publicKey"),
                let ephemeral = bytes("ephemeral")
            else { return nil }
            self = .pivECDH(slot: slot, publicKey: key, ephemeral: ephemeral)
        case "passphrase":
            guard let salt = bytes("salt"), let cost = number("cost"), let blockSize = number("blockSize"),
                let parallelism = number("parallelism")
            else { return nil }
            self = .passphrase(salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism)
        case "secret-service":
            guard let item = json["item"]?.string, item.utf8.count == 32, (try? Hex.decode(item)) != nil else {
                return nil
            }
            self = .secretService(item: item)
        default: return nil
        }
    }
}

extension StoreSeal: NamedEntry {
    package static func wholeTests(_ name: String) -> [(StoreSeal) -> Bool] {
        [{ $0.id == name || $0.name == name }]
    }

    package static func partTests(_ part: String) -> [(StoreSeal) -> Bool] { [] }
}
