// SPDX-License-Identifier: Apache-2.0

/// Authenticated encryption with AES in Galois/Counter mode (NIST SP 800-38D).
public enum AESGCM {
    /// The size of a nonce in bytes.
    public static let nonceSize = 12
    /// The size of the authentication tag at the end of the ciphertext, in bytes.
    public static let tagSize = OpenSSL.tagSize

    /// Encrypts a secret under a 32-byte key, bound to a context. Returns a 12-byte random nonce, the ciphertext, and a
    /// 16-byte tag.
    public static func seal(
        _ secret: borrowing Secret, key: borrowing Secret, context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let nonce = (0..<nonceSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return try nonce
            + secret.withBytes { plaintext throws(CryptoFault) in
                try OpenSSL.seal(name(key), plaintext.octets, plaintext.count, key: key, nonce: nonce, context: context)
            }
    }

    /// Decrypts the output of ``seal(_:key:context:)``.
    ///
    /// - Throws: `CryptoFault` when key or context differ or a byte was changed.
    public static func open(
        _ sealed: [UInt8], key: borrowing Secret, context: [UInt8]
    ) throws(CryptoFault) -> Secret {
        let nonce = Array(sealed.prefix(nonceSize))
        var bytes = try decrypt(Array(sealed.dropFirst(nonceSize)), key: key, nonce: nonce, context: context)
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    /// Encrypts under a key and a nonce of at least 12 bytes that must be used only once. Returns the ciphertext, followed
    /// by a 16-byte tag.
    public static func encrypt(
        _ plaintext: [UInt8], key: borrowing Secret, nonce: [UInt8], context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        try check(nonce)
        return try OpenSSL.seal(name(key), plaintext, plaintext.count, key: key, nonce: nonce, context: context)
    }

    /// Decrypts the output of ``encrypt(_:key:nonce:context:)``.
    ///
    /// - Throws: `CryptoFault` when authentication fails.
    public static func decrypt(
        _ sealed: [UInt8], key: borrowing Secret, nonce: [UInt8], context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        try check(nonce)
        return try OpenSSL.open(name(key), sealed, key: key, nonce: nonce, context: context)
    }

    private static func check(_ nonce: [UInt8]) throws(CryptoFault) {
        guard nonce.count >= nonceSize else { throw CryptoFault("AES-GCM: a nonce of \(nonce.count) bytes") }
    }

    private static func name(_ key: borrowing Secret) -> String { "AES-\(key.count * 8)-GCM" }
}

/// Authenticated encryption with ChaCha20 and Poly1305 (RFC 8439 §2.8), without additional data.
public enum ChaCha20Poly1305 {
    /// How many bytes longer a ciphertext is than its plaintext.
    public static let tagSize = OpenSSL.tagSize
    private static let name = "ChaCha20-Poly1305"

    /// Encrypts a secret.
    ///
    /// - Parameters:
    ///   - secret: The plaintext.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, used only once with this key.
    /// - Returns: The ciphertext, followed by a 16-byte tag.
    /// - Throws: `CryptoFault` for a key or nonce of the wrong length.
    public static func seal(
        _ secret: borrowing Secret, key: borrowing Secret, nonce: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        try check(nonce)
        return try secret.withBytes { bytes throws(CryptoFault) in
            try OpenSSL.seal(name, bytes.octets, bytes.count, key: key, nonce: nonce, context: [])
        }
    }

    /// Decrypts the output of ``seal(_:key:nonce:)``.
    ///
    /// - Throws: `CryptoFault` when key or nonce differ or a byte was changed.
    public static func open(
        _ sealed: [UInt8], key: borrowing Secret, nonce: [UInt8]
    ) throws(CryptoFault) -> Secret {
        try check(nonce)
        var bytes = try OpenSSL.open(name, sealed, key: key, nonce: nonce, context: [])
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    private static func check(_ nonce: [UInt8]) throws(CryptoFault) {
        guard nonce.count == 12 else { throw CryptoFault("\(name): a nonce of \(nonce.count) bytes") }
    }
}
