// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Authenticated encryption with ChaCha20 and Poly1305 (RFC 8439 §2.8), without additional data.
public enum ChaCha20Poly1305 {
    /// How many bytes longer a ciphertext is than its plaintext.
    public static let tagSize = 16

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
        do {
            let key = key.withBytes { SymmetricKey(data: $0) }
            let nonce = try ChaChaPoly.Nonce(data: nonce)
            let box = try secret.withBytes { try ChaChaPoly.seal($0, using: key, nonce: nonce) }
            return Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw CryptoFault("ChaCha20-Poly1305: \(error)")
        }
    }

    /// Decrypts the output of ``seal(_:key:nonce:)``.
    ///
    /// - Throws: `CryptoFault` when key or nonce differ or a byte was changed.
    public static func open(
        _ sealed: [UInt8], key: borrowing Secret, nonce: [UInt8]
    ) throws(CryptoFault) -> Secret {
        do {
            let key = key.withBytes { SymmetricKey(data: $0) }
            let box = try ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: nonce), ciphertext: sealed.dropLast(tagSize), tag: sealed.suffix(tagSize))
            var bytes = Array(try ChaChaPoly.open(box, using: key))
            defer { Secret.wipe(&bytes) }
            return Secret(bytes)
        } catch {
            throw CryptoFault("ChaCha20-Poly1305: \(error)")
        }
    }
}
