// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

/// AES in cipher block chaining mode (NIST SP 800-38A §6.2), without padding.
public enum AESCBC {
    /// The block size in bytes; a message is a whole number of blocks.
    public static let blockSize = 16

    /// Encrypts whole blocks under a key of 16, 24 or 32 bytes.
    public static func encrypt(
        _ plaintext: [UInt8], key: borrowing Secret, initialisationVector: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        do {
            let vector = try AES._CBC.IV(ivBytes: initialisationVector)
            let key = key.withBytes { SymmetricKey(data: $0) }
            return Array(try AES._CBC.encrypt(plaintext, using: key, iv: vector, noPadding: true))
        } catch {
            throw CryptoFault("AES-CBC: \(error)")
        }
    }

    /// Decrypts whole blocks under a key of 16, 24 or 32 bytes.
    public static func decrypt(
        _ ciphertext: [UInt8], key: borrowing Secret, initialisationVector: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        do {
            let vector = try AES._CBC.IV(ivBytes: initialisationVector)
            let key = key.withBytes { SymmetricKey(data: $0) }
            return Array(try AES._CBC.decrypt(ciphertext, using: key, iv: vector, noPadding: true))
        } catch {
            throw CryptoFault("AES-CBC: \(error)")
        }
    }
}
