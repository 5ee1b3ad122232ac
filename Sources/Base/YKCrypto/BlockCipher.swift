// SPDX-License-Identifier: Apache-2.0

/// A block cipher without a mode: each block is encrypted on its own (NIST SP 800-38A §6.1).
public enum BlockCipher: Sendable, Hashable {
    /// 3DES (NIST SP 800-67): a 24-byte key whose parity bits are ignored.
    case tripleDES
    /// AES (FIPS 197): a key of 16, 24 or 32 bytes.
    case aes

    /// The block size in bytes.
    public var blockSize: Int { self == .aes ? AESCBC.blockSize : 8 }

    /// Encrypts one block.
    ///
    /// - Throws: `CryptoFault` for a block or key of the wrong length.
    public func encrypt(_ block: [UInt8], key: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        try apply(block, key, encrypts: true)
    }

    /// Decrypts one block.
    ///
    /// - Throws: `CryptoFault` for a block or key of the wrong length.
    public func decrypt(_ block: [UInt8], key: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        try apply(block, key, encrypts: false)
    }

    private func apply(_ block: [UInt8], _ key: borrowing Secret, encrypts: Bool) throws(CryptoFault) -> [UInt8] {
        guard block.count == blockSize else { throw CryptoFault("\(self): a block has \(blockSize) bytes") }
        let name = self == .aes ? "AES-\(key.count * 8)-ECB" : "DES-EDE3-ECB"
        return try OpenSSL.cipher(name, block, key: key, encrypts: encrypts)
    }
}
