// SPDX-License-Identifier: Apache-2.0

/// Message authentication with AES (CMAC, NIST SP 800-38B, RFC 4493).
public enum AESCMAC {
    /// The code over a message, 16 bytes, under a key of 16, 24 or 32 bytes.
    public static func code(_ message: [UInt8], key: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        let zero = [UInt8](repeating: 0, count: AESCBC.blockSize)
        var subkey = doubled(try BlockCipher.aes.encrypt(zero, key: key))
        let isWhole = !message.isEmpty && message.count.isMultiple(of: AESCBC.blockSize)
        if !isWhole { subkey = doubled(subkey) }
        var padded = message
        if !isWhole {
            padded.append(0x80)
            while !padded.count.isMultiple(of: AESCBC.blockSize) { padded.append(0) }
        }
        for (place, byte) in zip(padded.indices.suffix(AESCBC.blockSize), subkey) { padded[place] ^= byte }
        return Array(try AESCBC.encrypt(padded, key: key, initialisationVector: zero).suffix(AESCBC.blockSize))
    }

    /// Multiplication by x in GF(2^128).
    private static func doubled(_ block: [UInt8]) -> [UInt8] {
        var output = zip(block, block.dropFirst() + [0]).map { $0 << 1 | $1 >> 7 }
        output[output.count - 1] ^= block[0] & 0x80 == 0 ? 0 : 0x87
        return output
    }
}
