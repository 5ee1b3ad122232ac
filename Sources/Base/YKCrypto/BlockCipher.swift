// SPDX-License-Identifier: Apache-2.0

import COpenSSL

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
        try check(block)
        switch self {
        case .tripleDES: return try Self.tripleDES(block, key: key, encrypts: true)
        case .aes: return try AESCBC.encrypt(block, key: key, initialisationVector: Self.zero)
        }
    }

    /// Decrypts one block.
    ///
    /// - Throws: `CryptoFault` for a block or key of the wrong length.
    public func decrypt(_ block: [UInt8], key: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        try check(block)
        switch self {
        case .tripleDES: return try Self.tripleDES(block, key: key, encrypts: false)
        case .aes: return try AESCBC.decrypt(block, key: key, initialisationVector: Self.zero)
        }
    }

    /// An initialization vector of zeros: CBC mode then encrypts a single block on its own.
    private static let zero = [UInt8](repeating: 0, count: AESCBC.blockSize)

    private func check(_ block: [UInt8]) throws(CryptoFault) {
        guard block.count == blockSize else { throw CryptoFault("\(self): a block has \(blockSize) bytes") }
    }

    private static func tripleDES(
        _ block: [UInt8], key: borrowing Secret, encrypts: Bool
    ) throws(CryptoFault) -> [UInt8] {
        guard key.count == 24 else { throw CryptoFault("3DES: a key has 24 bytes") }
        try OpenSSLKey.requireLibrary()
        var output = [UInt8](repeating: 0, count: block.count)
        let result = key.withBytes { key in
            ykit_3des(
                encrypts ? 1 : 0, key.bindMemory(to: UInt8.self).baseAddress, block, block.count, &output)
        }
        guard result == 0 else { throw CryptoFault("3DES: OpenSSL refused") }
        return output
    }
}
