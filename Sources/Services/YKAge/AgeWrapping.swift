// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// A file key wrapped for a recipient of one of the known types.
public enum AgeWrapping: Hashable, Sendable {
    /// `X25519`: the ephemeral share of 32 bytes.
    case x25519(share: [UInt8], body: [UInt8])
    /// `piv-p256`: the recipient's tag, the ephemeral share as a compressed point.
    case pivP256(tag: [UInt8], share: [UInt8], body: [UInt8])
    /// `p256tag`: a tag of share and recipient, and the ephemeral share as an uncompressed point (HPKE, RFC 9180).
    case p256tag(tag: [UInt8], share: [UInt8], body: [UInt8])
    /// `fido2-hmac`: a credential, and a file key wrapped for its X25519 public key.
    case fido2(AgeCredential, share: [UInt8], body: [UInt8])

    /// The length of a file key in bytes.
    public static let fileKeySize = 16

    /// Reads a stanza; `nil` if it is of an unknown type, or of another version of the format of age-plugin-fido2-hmac.
    ///
    /// - Throws: ``AgeError`` for a stanza of a known type that violates its specification.
    public init?(_ stanza: AgeStanza) throws(AgeError) {
        guard ["X25519", "piv-p256", "p256tag", "fido2-hmac"].contains(stanza.type) else { return nil }
        var words: [[UInt8]] = []
        for word in stanza.arguments {
            guard let bytes = AgeStanza.base64(word) else { throw .malformed("an argument that is not base64") }
            words.append(bytes)
        }
        if stanza.type == "fido2-hmac", words.first != AgeCredential.version { return nil }
        guard stanza.body.count == Self.fileKeySize + ChaCha20Poly1305.tagSize else {
            throw .malformed("a wrapped file key of \(stanza.body.count) bytes")
        }
        let (body, sizes) = (stanza.body, words.map(\.count))
        switch stanza.type {
        case "X25519" where sizes == [32]: self = .x25519(share: words[0], body: body)
        case "piv-p256" where sizes == [4, 33]:
            _ = try AgePublicKey(bytes: words[1])
            self = .pivP256(tag: words[0], share: words[1], body: body)
        case "p256tag" where sizes == [4, 65]:
            _ = try AgePublicKey.lifting { () throws(CryptoFault) in try P256Point.compressed(words[1]) }
            self = .p256tag(tag: words[0], share: words[1], body: body)
        case "fido2-hmac" where sizes.count == 5 && words[0] == AgeCredential.version && sizes[1...2] == [32, 1]:
            guard words[2][0] <= 1 else { throw .malformed("a PIN flag of \(words[2][0])") }
            let credential = try AgeCredential(salt: words[3], id: words[4], isVerified: words[2][0] == 1)
            self = .fido2(credential, share: words[1], body: body)
        default: throw .malformed("a stanza of type \(stanza.type) with arguments of \(sizes) bytes")
        }
    }

    /// The wrapping as a stanza.
    public var stanza: AgeStanza {
        func stanza(_ type: String, _ words: [[UInt8]], _ body: [UInt8]) -> AgeStanza {
            AgeStanza(type, words.map { Base64.encode($0, padded: false) }, body: body)
        }
        switch self {
        case .x25519(let share, let body): return stanza("X25519", [share], body)
        case .pivP256(let tag, let share, let body): return stanza("piv-p256", [tag, share], body)
        case .p256tag(let tag, let share, let body): return stanza("p256tag", [tag, share], body)
        case .fido2(let credential, let share, let body):
            let flag: UInt8 = credential.isVerified ? 1 : 0
            return stanza(
                "fido2-hmac", [AgeCredential.version, share, [flag], credential.salt, credential.id], body)
        }
    }

    /// Whether the stanza's tag matches the P-256 key with this tag (``AgePublicKey/tag``).
    public func isTagged(for tag: [UInt8]) -> Bool {
        switch self {
        case .pivP256(let found, _, _): found == tag
        case .p256tag(let found, let share, _): found == Self.tag(share, tag)
        case .x25519, .fido2: false
        }
    }

    /// Returns the public key for the key agreement with the private key.
    ///
    /// - Throws: ``AgeError/refused(_:)``.
    public func peer() throws(AgeError) -> PublicKey {
        switch self {
        case .x25519(let share, _), .fido2(_, let share, _): .x25519(share)
        case .pivP256(_, let share, _): try AgePublicKey.p256(share).publicKey()
        case .p256tag(_, let share, _): .ec(.p256, point: share)
        }
    }

    /// Unwraps the file key.
    ///
    /// - Parameters:
    ///   - secret: The secret shared by the private key and ``peer()``: 32 bytes.
    ///   - key: The public half of the private key.
    /// - Returns: The file key of 16 bytes; `nil` if it is wrapped for another key.
    /// - Throws: ``AgeError/refused(_:)`` for a public key of the wrong type or an all-zero secret.
    public func fileKey(_ secret: borrowing Secret, of key: AgePublicKey) throws(AgeError) -> SharedSecret? {
        let (wrap, body) = (try wrappingKey(secret, of: key), body)
        do { return SharedSecret(try ChaCha20Poly1305.open(body, key: wrap.key.value, nonce: wrap.nonce)) } catch {
            return nil
        }
    }

    /// Wraps a file key.
    ///
    /// - Parameters:
    ///   - fileKey: 16 bytes.
    ///   - recipient: The recipient.
    ///   - ephemeral: The ephemeral private key: 32 random bytes, used only once.
    /// - Throws: ``AgeError/refused(_:)`` for an invalid private key or a recipient that is not a valid point.
    public init(
        _ fileKey: borrowing Secret, for recipient: AgeRecipient, ephemeral: borrowing Secret
    ) throws(AgeError) {
        let key: AgePublicKey
        let unsealed: AgeWrapping
        let own = try Self.privateKey(ephemeral, for: recipient)
        guard let share = AgePublicKey(own.publicKey)?.bytes else { throw .refused("a key of another kind") }
        switch recipient {
        case .x25519(let bytes): (key, unsealed) = (.x25519(bytes), .x25519(share: share, body: []))
        case .fido2(let credential, let bytes):
            (key, unsealed) = (.x25519(bytes), .fido2(credential, share: share, body: []))
        case .pivP256(let point):
            key = .p256(point)
            unsealed = .pivP256(tag: key.tag, share: share, body: [])
        case .p256tag(let point):
            key = .p256(point)
            let share = try AgePublicKey.lifting { () throws(CryptoFault) in try P256Point.uncompressed(share) }
            unsealed = .p256tag(tag: Self.tag(share, key.tag), share: share, body: [])
        }
        let peer = try key.publicKey()
        let secret = try AgePublicKey.lifting { () throws(CryptoFault) in try own.shared(with: peer) }
        let wrap = try unsealed.wrappingKey(secret.value, of: key)
        let body = try Self.sealed(fileKey, wrap.key.value, wrap.nonce)
        self = unsealed.with(body)
    }

    private static func sealed(
        _ fileKey: borrowing Secret, _ key: borrowing Secret, _ nonce: [UInt8]
    ) throws(AgeError) -> [UInt8] {
        do { return try ChaCha20Poly1305.seal(fileKey, key: key, nonce: nonce) } catch {
            throw .refused(error.description)
        }
    }

    private static func privateKey(
        _ number: borrowing Secret, for recipient: AgeRecipient
    ) throws(AgeError) -> PrivateKey {
        do {
            switch recipient {
            case .x25519, .fido2: return try PrivateKey(x25519: number)
            case .p256tag, .pivP256: return try PrivateKey(.p256, scalar: number)
            }
        } catch { throw .refused(error.description) }
    }

    private var body: [UInt8] {
        switch self {
        case .x25519(_, let body), .fido2(_, _, let body), .pivP256(_, _, let body), .p256tag(_, _, let body): body
        }
    }

    private func with(_ body: [UInt8]) -> AgeWrapping {
        switch self {
        case .x25519(let share, _): .x25519(share: share, body: body)
        case .fido2(let credential, let share, _): .fido2(credential, share: share, body: body)
        case .pivP256(let tag, let share, _): .pivP256(tag: tag, share: share, body: body)
        case .p256tag(let tag, let share, _): .p256tag(tag: tag, share: share, body: body)
        }
    }

    private static let tagSalt = Array("age-encryption.org/p256tag".utf8)

    /// Returns the tag of a `p256tag` stanza: HKDF-Extract of the share and the recipient's tag.
    private static func tag(_ share: [UInt8], _ recipient: [UInt8]) -> [UInt8] {
        Array(HashAlgorithm.sha256.hmac(key: Secret(tagSalt), share + recipient).prefix(4))
    }

    private func wrappingKey(
        _ secret: borrowing Secret, of key: AgePublicKey
    ) throws(AgeError) -> (key: SharedSecret, nonce: [UInt8]) {
        guard secret.count == 32, !secret.withBytes({ $0.allSatisfy { $0 == 0 } }) else {
            throw .refused("the agreed secret is zero: the share is not a usable public key")
        }
        let zero = [UInt8](repeating: 0, count: 12)
        do throws(CryptoFault) {
            switch (self, key) {
            case (.x25519(let share, _), .x25519(let own)), (.fido2(_, let share, _), .x25519(let own)):
                let info = Array("age-encryption.org/v1/X25519".utf8)
                return (SharedSecret(try .hkdf(secret, share + own, info)), zero)
            case (.pivP256(_, let share, _), .p256(let own)):
                return (SharedSecret(try .hkdf(secret, share + own, Array("piv-p256".utf8))), zero)
            case (.p256tag(_, let share, _), .p256(let own)):
                return HPKEContext.p256(secret, share: share, recipient: try P256Point.uncompressed(own), Self.tagSalt)
            default: throw CryptoFault("the stanza is for a key of another kind")
            }
        } catch { throw .refused(error.description) }
    }
}

extension Secret {
    fileprivate static func hkdf(
        _ secret: borrowing Secret, _ salt: [UInt8], _ info: [UInt8]
    ) throws(CryptoFault) -> Secret {
        try HashAlgorithm.sha256.hkdf(secret, salt: salt, info: info, length: 32)
    }
}

/// The key schedule of HPKE in base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305 (RFC 9180 §4.1, §5.1).
enum HPKEContext {
    private static let version = Array("HPKE-v1".utf8)
    private static let kem = Array("KEM".utf8) + [0x00, 0x10]
    private static let suite = Array("HPKE".utf8) + [0x00, 0x10, 0x00, 0x01, 0x00, 0x03]

    /// Derives the key and the nonce of the first message.
    static func p256(
        _ secret: borrowing Secret, share: [UInt8], recipient: [UInt8], _ info: [UInt8]
    ) -> (key: SharedSecret, nonce: [UInt8]) {
        var agreed = secret.copyBytes()
        defer { Secret.wipe(&agreed) }
        let base = extract(Secret([]), kem, "eae_prk", agreed)
        let shared = expand(base, kem, "shared_secret", share + recipient, 32)
        let nothing = extract(Secret([]), suite, "psk_id_hash", []).copyBytes()
        let context = [0] + nothing + extract(Secret([]), suite, "info_hash", info).copyBytes()
        let schedule = extract(shared, suite, "secret", [])
        let key = expand(schedule, suite, "key", context, 32)
        return (SharedSecret(key), expand(schedule, suite, "base_nonce", context, 12).copyBytes())
    }

    private static func extract(
        _ salt: borrowing Secret, _ id: [UInt8], _ label: String, _ input: [UInt8]
    ) -> Secret {
        var message = version + id + Array(label.utf8) + input
        defer { Secret.wipe(&message) }
        return Secret(HashAlgorithm.sha256.hmac(key: salt, message))
    }

    /// Expands to at most one digest.
    private static func expand(
        _ key: borrowing Secret, _ id: [UInt8], _ label: String, _ info: [UInt8], _ length: UInt8
    ) -> Secret {
        let message = [0, length] + version + id + Array(label.utf8) + info + [1]
        return Secret(HashAlgorithm.sha256.hmac(key: key, message).prefix(Int(length)))
    }
}
