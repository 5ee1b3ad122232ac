// SPDX-License-Identifier: Apache-2.0

/// How a platform and a key agree on a secret and prove knowledge of it (PIN/UV auth protocol, CTAP 2.2 §6.5.4).
public enum PINProtocol: UInt64, Sendable, Hashable, CaseIterable {
    /// Protocol 1: AES-256-CBC with a zero initialization vector, HMAC-SHA-256 truncated to 16 bytes (§6.5.6).
    case one = 1
    /// Protocol 2: separate keys for encryption and HMAC, random initialization vectors, full HMACs (§6.5.7).
    case two = 2

    /// Whether a decrypted token may have this length: 16 or 32 bytes with protocol 1, 32 with protocol 2.
    package func accepts(tokenOf count: Int) -> Bool { count == 32 || self == .one && count == 16 }

    /// Returns pinUvAuthParam, which proves knowledge of a key, for a message.
    package func authenticate(_ message: [UInt8], key: borrowing Secret) -> [UInt8] {
        let code = HashAlgorithm.sha256.hmac(key: key, message)
        return self == .one ? Array(code.prefix(16)) : code
    }
}

/// The session secret shared by a platform and a key (CTAP 2.2 §6.5.6, §6.5.7).
///
/// Both sides derive it the same way, so the virtual key uses it too.
package struct PINSharedKey: ~Copyable, Sendable {
    package let version: PINProtocol
    private let macKey: Secret
    private let cipherKey: Secret

    /// Derives the secret from the x coordinate of the shared point.
    package init(_ version: PINProtocol, common: borrowing Secret) throws(CryptoFault) {
        let macKey = try Self.derive(version, common, "CTAP2 HMAC key")
        let cipherKey = try Self.derive(version, common, "CTAP2 AES key")
        self.version = version
        self.macKey = macKey
        self.cipherKey = cipherKey
    }

    private static func derive(
        _ version: PINProtocol, _ common: borrowing Secret, _ info: String
    ) throws(CryptoFault) -> Secret {
        let salt = [UInt8](repeating: 0, count: 32)
        if version == .two {
            return try HashAlgorithm.sha256.hkdf(common, salt: salt, info: Array(info.utf8), length: 32)
        }
        var hash = HashAlgorithm.sha256.hash(common.copyBytes())
        defer { Secret.wipe(&hash) }
        return Secret(hash)
    }

    /// How many random bytes ``encrypt(_:vector:)`` needs.
    package var vectorSize: Int { version == .one ? 0 : AESCBC.blockSize }

    /// Encrypts whole blocks; protocol 2 prepends the random vector.
    package func encrypt(_ plaintext: [UInt8], vector: [UInt8]) throws(CryptoFault) -> [UInt8] {
        let start = version == .one ? [UInt8](repeating: 0, count: AESCBC.blockSize) : vector
        let ciphertext = try AESCBC.encrypt(plaintext, key: cipherKey, initialisationVector: start)
        return version == .one ? ciphertext : vector + ciphertext
    }

    /// Decrypts what the other side encrypted: whole blocks, at least one.
    package func decrypt(_ message: [UInt8]) throws(CryptoFault) -> [UInt8] {
        let start = version == .one ? [UInt8](repeating: 0, count: AESCBC.blockSize) : Array(message.prefix(16))
        let ciphertext = message.dropFirst(vectorSize)
        guard start.count == AESCBC.blockSize, !ciphertext.isEmpty, ciphertext.count.isMultiple(of: AESCBC.blockSize)
        else { throw CryptoFault("PIN protocol: an encrypted message of \(message.count) bytes") }
        return try AESCBC.decrypt(Array(ciphertext), key: cipherKey, initialisationVector: start)
    }

    /// Returns the code that proves knowledge of the secret for a message.
    package func authenticate(_ message: [UInt8]) -> [UInt8] { version.authenticate(message, key: macKey) }
}
