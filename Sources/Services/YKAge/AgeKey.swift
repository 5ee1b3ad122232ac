// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// A public key for encrypting files.
public enum AgePublicKey: Hashable, Sendable {
    /// X25519: 32 bytes.
    case x25519([UInt8])
    /// P-256: a compressed point of 33 bytes.
    case p256([UInt8])

    /// The key of a slot; `nil` for kinds that age does not support.
    public init?(_ key: PublicKey) {
        switch key {
        case .x25519(let bytes): self = .x25519(bytes)
        case .ec(.p256, let point):
            guard let point = try? P256Point.compressed(point) else { return nil }
            self = .p256(point)
        default: return nil
        }
    }

    /// Creates a key from the 32 bytes of an X25519 key, or from a compressed point on P-256.
    init(bytes: [UInt8]) throws(AgeError) {
        switch bytes.count {
        case 32: self = .x25519(bytes)
        case 33:
            _ = try Self.lifting { () throws(CryptoFault) in try P256Point.uncompressed(bytes) }
            self = .p256(bytes)
        default: throw .malformed("a public key of \(bytes.count) bytes")
        }
    }

    /// The bytes that a recipient contains.
    var bytes: [UInt8] {
        switch self {
        case .x25519(let bytes), .p256(let bytes): bytes
        }
    }

    /// The recipient to which age encrypts without a plugin, if its version supports this kind of key.
    public var recipient: AgeRecipient {
        switch self {
        case .x25519(let bytes): .x25519(bytes)
        case .p256(let point): .p256tag(point)
        }
    }

    /// The tag of P-256 recipients in a stanza: the first four bytes of the SHA-256 of the point.
    public var tag: [UInt8] { Array(HashAlgorithm.sha256.hash(bytes).prefix(4)) }

    /// The key for other operations.
    func publicKey() throws(AgeError) -> PublicKey {
        switch self {
        case .x25519(let bytes): return .x25519(bytes)
        case .p256(let point):
            return try Self.lifting { () throws(CryptoFault) in .ec(.p256, point: try P256Point.uncompressed(point)) }
        }
    }

    /// Calls a primitive, and throws its error as an ``AgeError``.
    static func lifting<Value>(_ body: () throws(CryptoFault) -> Value) throws(AgeError) -> Value {
        do { return try body() } catch { throw .refused(error.description) }
    }
}

/// A FIDO2 credential whose hmac-secret is an X25519 private key (age-plugin-fido2-hmac, format 2).
public struct AgeCredential: Hashable, Sendable {
    /// The relying party of such credentials.
    public static let rpID = "age-encryption.org"
    static let version: [UInt8] = [0, 2]

    /// The 32-byte salt of the secret.
    public let salt: [UInt8]
    /// The credential's identifier.
    public let id: [UInt8]
    /// Whether the secret requires user verification, by PIN or fingerprint.
    public let isVerified: Bool

    /// Creates a reference to a credential.
    ///
    /// - Throws: ``AgeError/malformed(_:)`` for a salt that is not 32 bytes, or an identifier that is not 1 to 1023
    ///   bytes.
    public init(salt: [UInt8], id: [UInt8], isVerified: Bool) throws(AgeError) {
        guard salt.count == 32 else { throw .malformed("a salt of \(salt.count) bytes, not 32") }
        guard (1...1023).contains(id.count) else { throw .malformed("a credential of \(id.count) bytes") }
        (self.salt, self.id, self.isVerified) = (salt, id, isVerified)
    }

    /// Reads PIN flag, salt and identifier.
    init(_ reader: inout ByteReader) throws(AgeError) {
        do {
            let flag = try reader.byte("the PIN flag")
            guard flag <= 1 else { throw WireError(.malformed, at: reader.offset, "a PIN flag of \(flag)") }
            let salt = try reader.bytes(32, "the salt")
            try self.init(salt: salt, id: reader.rest(), isVerified: flag == 1)
        } catch let error as AgeError { throw error } catch { throw .malformed("\(error)") }
    }

    var bytes: [UInt8] { [isVerified ? 1 : 0] + salt + id }
}

/// The recipient of a file.
public enum AgeRecipient: Hashable, Sendable {
    /// A native X25519 recipient: `age1…`.
    case x25519([UInt8])
    /// A compressed point on P-256, with stanzas of type `p256tag`: `age1tag1…`, and `age1ykit1…` for this plugin.
    case p256tag([UInt8])
    /// A compressed point on P-256, with stanzas of type `piv-p256`: `age1yubikey1…`.
    case pivP256([UInt8])
    /// A credential and its X25519 public key, with stanzas of type `fido2-hmac`: `age1fido2-hmac1…`, and `age1ykit1…`.
    case fido2(AgeCredential, publicKey: [UInt8])

    /// Reads a recipient. Case and plugin name must be as age writes them.
    ///
    /// - Throws: ``AgeError/malformed(_:)``, or `refused` for a point that is not on the curve.
    public init(parsing text: String) throws(AgeError) {
        let prefix: String
        let bytes: [UInt8]
        do { (prefix, bytes) = try Bech32.decode(text) } catch { throw .malformed("not a recipient: \(error)") }
        switch (prefix, bytes.count) {
        case ("age", 32): self = .x25519(bytes)
        case ("age1tag", 33), ("age1ykit", 33): self = .p256tag(try AgePublicKey(bytes: bytes).bytes)
        case ("age1yubikey", 33): self = .pivP256(try AgePublicKey(bytes: bytes).bytes)
        case ("age1fido2-hmac", _), ("age1ykit", _): self = try Self.fido2(bytes)
        default: throw .malformed("a recipient of an unknown kind, '\(prefix)' with \(bytes.count) bytes")
        }
    }

    private static func fido2(_ bytes: [UInt8]) throws(AgeError) -> AgeRecipient {
        var reader = ByteReader(bytes)
        guard bytes.count > 34, bytes.starts(with: AgeCredential.version) else {
            throw .malformed("a FIDO2 recipient in a format other than 2")
        }
        reader = ByteReader(Array(bytes[34...]))
        return .fido2(try AgeCredential(&reader), publicKey: Array(bytes[2..<34]))
    }

    /// The recipient as text.
    ///
    /// - Parameter isOwn: Whether the text names this plugin, if several plugins support the kind.
    public func text(isOwn: Bool = false) -> String {
        switch self {
        case .x25519(let bytes): Bech32.encode("age", bytes)
        case .p256tag(let point): Bech32.encode(isOwn ? "age1ykit" : "age1tag", point)
        case .pivP256(let point): Bech32.encode("age1yubikey", point)
        case .fido2(let credential, let key):
            Bech32.encode(isOwn ? "age1ykit" : "age1fido2-hmac", AgeCredential.version + key + credential.bytes)
        }
    }
}

/// The location of a private key for decrypting files. It contains nothing secret.
public enum AgeIdentity: Hashable, Sendable {
    /// A PIV slot with its public key; serial number 0 for a card that has none.
    case slot(UInt8, serial: UInt32, key: AgePublicKey)
    /// A PIV slot with a P-256 key, in the form of age-plugin-yubikey: with the tag of its public key.
    case yubikey(UInt8, serial: UInt32, tag: [UInt8])
    /// A FIDO2 credential; the public key is `nil` in identities of age-plugin-fido2-hmac.
    case fido2(AgeCredential, publicKey: [UInt8]?)
    /// Any attached key (`age -d -j ykit`): the stanzas identify the credential or the slot.
    case any

    private enum Kind: UInt8 { case slot = 1, fido2 = 2 }

    /// Reads an identity.
    ///
    /// - Throws: ``AgeError``.
    public init(parsing text: String) throws(AgeError) {
        let prefix: String
        let bytes: [UInt8]
        do { (prefix, bytes) = try Bech32.decode(text) } catch { throw .malformed("not an identity: \(error)") }
        let isOurs = ["age-plugin-ykit-", "age-plugin-yubikey-", "age-plugin-fido2-hmac-"].contains(prefix)
        // The identity of "age-plugin-fido2-hmac -m", which also stands for any credential.
        let isMagic = prefix == "age-plugin-fido2-hmac-" && bytes == Array("fido2-hmac".utf8)
        self = isOurs && bytes.isEmpty || isMagic ? .any : try Self.read(prefix, bytes)
    }

    private static func read(_ prefix: String, _ bytes: [UInt8]) throws(AgeError) -> AgeIdentity {
        switch (prefix, bytes.count) {
        case ("age-plugin-yubikey-", 9):
            let serial = bytes[..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return .yubikey(bytes[4], serial: serial, tag: Array(bytes[5...]))
        case ("age-plugin-fido2-hmac-", 3...) where bytes.starts(with: AgeCredential.version):
            var reader = ByteReader(Array(bytes[2...]))
            return .fido2(try AgeCredential(&reader), publicKey: nil)
        case ("age-plugin-ykit-", 38...39) where bytes[0] == Kind.slot.rawValue:
            let serial = bytes[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return .slot(bytes[5], serial: serial, key: try AgePublicKey(bytes: Array(bytes[6...])))
        case ("age-plugin-ykit-", 34...) where bytes[0] == Kind.fido2.rawValue:
            var reader = ByteReader(Array(bytes[33...]))
            return .fido2(try AgeCredential(&reader), publicKey: Array(bytes[1..<33]))
        default: throw .malformed("an identity of an unknown kind, '\(prefix)' with \(bytes.count) bytes")
        }
    }

    /// The identity as text.
    public var text: String {
        switch self {
        case .slot(let slot, let serial, let key):
            encoded("ykit", [Kind.slot.rawValue] + Self.bytes(serial).reversed() + [slot] + key.bytes)
        case .yubikey(let slot, let serial, let tag): encoded("yubikey", Self.bytes(serial) + [slot] + tag)
        case .fido2(let credential, nil): encoded("fido2-hmac", AgeCredential.version + credential.bytes)
        case .fido2(let credential, let key?): encoded("ykit", [Kind.fido2.rawValue] + key + credential.bytes)
        case .any: encoded("ykit", [])
        }
    }

    private func encoded(_ name: String, _ bytes: [UInt8]) -> String {
        Bech32.encode("age-plugin-\(name)-", bytes).uppercased()
    }

    /// Little-endian bytes.
    private static func bytes(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
