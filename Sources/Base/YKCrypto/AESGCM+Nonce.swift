// SPDX-License-Identifier: Apache-2.0

import Crypto

extension AESGCM {
    /// Bytes of a nonce.
    public static let nonceSize = 12
    /// Bytes that authenticate, at the end of what is encrypted.
    public static let tagSize = 16

    /// Encrypts under a key and a nonce of 12 bytes that is used once: the encrypted bytes, then 16 bytes of tag.
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

    /// Decrypts what ``encrypt(_:key:nonce:context:)`` made; throws when anything differs.
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
