// SPDX-License-Identifier: Apache-2.0

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
