// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Authenticated encryption with AES-256 in Galois/Counter mode (NIST SP 800-38D).
public enum AESGCM {
    /// Encrypts a secret under a 32-byte key, bound to a context. Returns a 12-byte random nonce, the ciphertext, and a
    /// 16-byte tag.
    public static func seal(
        _ secret: borrowing Secret, key: borrowing Secret, context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        do {
            let key = key.withBytes { SymmetricKey(data: $0) }
            let box = try secret.withBytes { try AES.GCM.seal($0, using: key, authenticating: context) }
            return box.combined.map(Array.init) ?? []
        } catch {
            throw CryptoFault("AES-GCM: \(error)")
        }
    }

    /// Decrypts the output of ``seal(_:key:context:)``.
    ///
    /// - Throws: `CryptoFault` when key or context differ or a byte was changed.
    public static func open(
        _ sealed: [UInt8], key: borrowing Secret, context: [UInt8]
    ) throws(CryptoFault) -> Secret {
        do {
            let key = key.withBytes { SymmetricKey(data: $0) }
            var bytes = Array(
                try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context))
            defer { Secret.wipe(&bytes) }
            return Secret(bytes)
        } catch {
            throw CryptoFault("AES-GCM: \(error)")
        }
    }
}
