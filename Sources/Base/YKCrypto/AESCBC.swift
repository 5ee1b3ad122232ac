// SPDX-License-Identifier: Apache-2.0

/// AES in cipher block chaining mode (NIST SP 800-38A §6.2), without padding.
public enum AESCBC {
    /// The block size in bytes; a message is a whole number of blocks.
    public static let blockSize = 16

    /// Encrypts whole blocks under a key of 16, 24 or 32 bytes.
    public static func encrypt(
        _ plaintext: [UInt8], key: borrowing Secret, initialisationVector: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        try OpenSSL.cipher(
            "AES-\(key.count * 8)-CBC", plaintext, key: key, vector: initialisationVector, encrypts: true)
    }

    /// Decrypts whole blocks under a key of 16, 24 or 32 bytes.
    public static func decrypt(
        _ ciphertext: [UInt8], key: borrowing Secret, initialisationVector: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        try OpenSSL.cipher(
            "AES-\(key.count * 8)-CBC", ciphertext, key: key, vector: initialisationVector, encrypts: false)
    }
}
