// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

/// Decrypts the values of a key container (RFC 6030 §6).
final class PSKCCipher: Sendable {
    private let key: Secret
    private let macKey: Secret
    private let macHash: HashAlgorithm?

    /// `nil` if nothing in the container is encrypted.
    init?(
        _ container: XMLNode, unlocking: PSKCUnlocking?, _ cancellation: Cancellation
    ) throws(PSKCError) {
        let protection = try Self.protection(of: container)
        if protection == .none { return nil }
        guard let unlocking else { throw .needsKey(protection) }
        let key = try Self.key(container, unlocking, cancellation)
        // Key wrapping authenticates by itself: python-pskc then writes a method without an algorithm.
        let method = container.first("MACMethod")
        macHash = try method?.attributes["Algorithm"].map { name throws(PSKCError) in try Self.hash(name) }
        if let encrypted = method?.first("MACKey") {
            var bytes = try Self.decrypt(encrypted, key: key)
            defer { Secret.wipe(&bytes) }
            macKey = Secret(bytes)
        } else {
            macKey = key.copy()
        }
        self.key = key
    }

    static func protection(of container: XMLNode) throws(PSKCError) -> PSKCProtection {
        let isEncrypted = container.all("KeyPackage").contains { package in
            package.all("Key").contains { key in
                key.first("Data")?.children.contains { $0.first("EncryptedValue") != nil } ?? false
            }
        }
        guard let encryption = container.first("EncryptionKey") else {
            return isEncrypted ? .presharedKey(name: nil) : .none
        }
        if encryption.first("DerivedKey") != nil { return .passphrase }
        return .presharedKey(name: encryption.value("KeyName"))
    }

    /// Verifies the code over IV and ciphertext, then decrypts.
    ///
    /// A container that names a MAC method must have a code for each encrypted value, and one that names none must have
    /// no codes (RFC 6030 §6.1.1): otherwise removing a code would let modified ciphertext through.
    func open(_ encrypted: XMLNode, mac: String?) throws(PSKCError) -> [UInt8] {
        switch (mac, macHash) {
        case (nil, nil): break
        case (nil, .some): throw .field("ValueMAC", "")
        case (.some, nil): throw .field("MACMethod", "")
        case (let mac?, let macHash?):
            let expected = try mac.base64("ValueMAC")
            let actual = macHash.hmac(key: macKey, try Self.cipherValue(encrypted))
            guard constantTimeEqual(actual, expected) else { throw .wrongKey }
        }
        return try Self.decrypt(encrypted, key: key)
    }

    private static func key(
        _ container: XMLNode, _ unlocking: PSKCUnlocking, _ cancellation: Cancellation
    ) throws(PSKCError) -> Secret {
        switch (unlocking, container.first("EncryptionKey", "DerivedKey", "KeyDerivationMethod")) {
        case (.presharedKey(let key), nil): return key.value.copy()
        case (.passphrase(let passphrase), let method?): return try PSKCDerivation(method).key(passphrase, cancellation)
        case (.presharedKey, .some): throw .needsKey(.passphrase)
        case (.passphrase, nil): throw .needsKey(try protection(of: container))
        }
    }

    private static func hash(_ name: String) throws(PSKCError) -> HashAlgorithm {
        guard let hash = HashAlgorithm(xmlName: name) else { throw .unsupported(name) }
        return hash
    }

    private static func cipherValue(_ encrypted: XMLNode) throws(PSKCError) -> [UInt8] {
        guard let text = encrypted.first("CipherData")?.value("CipherValue") else { throw .field("CipherValue", "") }
        return try text.base64("CipherValue")
    }

    private static func decrypt(_ encrypted: XMLNode, key: borrowing Secret) throws(PSKCError) -> [UInt8] {
        let name = encrypted.first("EncryptionMethod")?.attributes["Algorithm"] ?? ""
        let method = String(name.split(separator: "#").last ?? "").lowercased()
        guard let (size, isWrapping) = methods[method] else { throw .unsupported(name) }
        guard key.count == size else { throw .wrongKey }
        let value = try cipherValue(encrypted)
        guard isWrapping else { return try decryptCBC(value, key: key) }
        guard let plain = AESKeyWrap.unwrap(value, key: key) else { throw .wrongKey }
        return plain
    }

    /// The size of the key in bytes, and whether it wraps a key (RFC 6030 §6.1; XML Encryption 1.1 §5.7).
    private static let methods: [String: (Int, Bool)] = [
        "aes128-cbc": (16, false), "aes192-cbc": (24, false), "aes256-cbc": (32, false),
        "kw-aes128": (16, true), "kw-aes192": (24, true), "kw-aes256": (32, true),
        "kw-aes-128-pad": (16, true), "kw-aes-192-pad": (24, true), "kw-aes-256-pad": (32, true),
    ]

    /// AES in CBC mode, preceded by the IV (XML Encryption §5.2); the last byte is the padding length.
    private static func decryptCBC(_ value: [UInt8], key: borrowing Secret) throws(PSKCError) -> [UInt8] {
        guard value.count >= 32, value.count.isMultiple(of: AESCBC.blockSize) else {
            throw .field("CipherValue", "\(value.count) bytes")
        }
        let (vector, blocks) = (Array(value.prefix(16)), Array(value.dropFirst(16)))
        let plain = try lift(PSKCError.crypto) { () throws(CryptoFault) in
            try AESCBC.decrypt(blocks, key: key, initialisationVector: vector)
        }
        guard let padding = plain.last, (1...16).contains(padding) else { throw .wrongKey }
        return Array(plain.dropLast(Int(padding)))
    }
}

extension HashAlgorithm {
    /// The hash function of an HMAC, by its XML Signature or PKCS #5 identifier.
    init?(xmlName: String) {
        switch xmlName.split(separator: "#").last.map({ $0.lowercased() }) {
        case "hmac-sha1": self = .sha1
        case "hmac-sha256": self = .sha256
        case "hmac-sha384": self = .sha384
        case "hmac-sha512": self = .sha512
        default: return nil
        }
    }
}

/// How the key of a container is derived from a passphrase: PBKDF2 (RFC 6030 §6.2).
struct PSKCDerivation: Sendable {
    /// Maximum number of rounds, so that a file cannot keep this computer busy for minutes.
    static let roundLimit = 10_000_000

    let salt: [UInt8]
    let rounds: Int
    let length: Int
    let hash: HashAlgorithm

    init(_ method: XMLNode) throws(PSKCError) {
        let name = method.attributes["Algorithm"] ?? ""
        guard name.lowercased().hasSuffix("#pbkdf2") else { throw .unsupported(name) }
        guard let parameters = method.first("PBKDF2-params") else { throw .field("PBKDF2-params", "") }
        guard let salt = parameters.first("Salt")?.value("Specified") else { throw .field("Salt", "") }
        self.salt = try salt.base64("Salt")
        rounds = try Self.number(parameters, "IterationCount", in: 1...Self.roundLimit)
        length = try Self.number(parameters, "KeyLength", in: 16...32)
        let function = parameters.first("PRF")?.attributes["Algorithm"]
        guard let hash = function.map({ HashAlgorithm(xmlName: $0) }) ?? .sha1 else {
            throw .unsupported(function ?? "")
        }
        self.hash = hash
    }

    func key(_ passphrase: SharedSecret, _ cancellation: Cancellation) throws(PSKCError) -> Secret {
        let result = WorkBeside.result(unless: cancellation) { [self] () -> Result<SharedSecret, CryptoFault> in
            do throws(CryptoFault) {
                let key = try hash.pbkdf2(passphrase.value, salt: salt, rounds: rounds, length: length)
                return .success(SharedSecret(key))
            } catch { return .failure(error) }
        }
        guard let result else { throw .cancelled }
        do { return try result.get().value.copy() } catch { throw .crypto(error) }
    }

    private static func number(
        _ parameters: XMLNode, _ name: String, in range: ClosedRange<Int>
    ) throws(PSKCError) -> Int {
        let text = parameters.value(name) ?? ""
        guard let number = Int(text), range.contains(number) else { throw .unusable(name, text) }
        return number
    }
}

/// The secret that decrypts a key container: a pre-shared key or a passphrase.
public enum PSKCUnlocking: Sendable {
    /// The key, 16, 24 or 32 bytes.
    case presharedKey(SharedSecret)
    /// The passphrase, from which PBKDF2 derives a key.
    case passphrase(SharedSecret)
}
