// SPDX-License-Identifier: Apache-2.0

import Crypto

extension AESGCM {
    /// The size of a nonce in bytes.
    public static let nonceSize = 12
    /// The size of the authentication tag at the end of the ciphertext, in bytes.
    public static let tagSize = 16

    /// Encrypts under a key and a 12-byte nonce that must be used only once. Returns the ciphertext, followed by a
    /// 16-byte tag.
    public static func encrypt(
        _ plaintext: [UInt8], key: borrowing Secret, nonce: [UInt8], context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        do {
            let key = key.withBytes { SymmetricKey(data: $0) }
            let nonce = try AES.GCM.Nonce(data: nonce)
            let box = try AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: context)
            return Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw CryptoFault("AES-GCM: \(error)")
        }
    }

    /// Decrypts the output of ``encrypt(_:key:nonce:context:)``.
    ///
    /// - Throws: `CryptoFault` when authentication fails.
    public static func decrypt(
        _ sealed: [UInt8], key: borrowing Secret, nonce: [UInt8], context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        guard sealed.count >= tagSize else { throw CryptoFault("AES-GCM: too short") }
        do {
            let key = key.withBytes { SymmetricKey(data: $0) }
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.dropLast(tagSize), tag: sealed.suffix(tagSize))
            return Array(try AES.GCM.open(box, using: key, authenticating: context))
        } catch {
            throw CryptoFault("AES-GCM: not authentic")
        }
    }
}
