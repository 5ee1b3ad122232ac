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

/// AES-CMAC (NIST SP 800-38B), and the key derivation in counter mode built on it (NIST SP 800-108r1 §4.1).
public enum AESCMAC {
    /// The size of the code in bytes.
    public static let size = 16

    /// Returns the code of a message under a key of 16, 24 or 32 bytes.
    ///
    /// - Throws: `CryptoFault` for a key of any other length.
    public static func code(_ message: [UInt8], key: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        try OpenSSL.output(size, "AES-CMAC: a key of \(key.count) bytes") { out, room in
            key.withBytes {
                ykit_mac("CMAC", "AES-\($0.count * 8)-CBC", $0.octets, $0.count, message, message.count, out, room)
            }
        }
    }

    /// Derives a key as secure channels do (GlobalPlatform Amendment D §4.1.5): the authenticated block is the label,
    /// 00, the length in bits (two bytes), a counter of one byte, and the context.
    ///
    /// - Parameters:
    ///   - label: Eleven bytes 00 and a constant that identifies the key's purpose.
    ///   - length: The length of the result in bytes, 1 to 32.
    /// - Throws: `CryptoFault` when the key or the result has any other length.
    public static func derive(
        _ key: borrowing Secret, label: [UInt8], context: [UInt8], length: Int
    ) throws(CryptoFault) -> Secret {
        guard (1...32).contains(length) else { throw CryptoFault("AES-CMAC: a key of \(length) bytes") }
        let bits = UInt16(truncatingIfNeeded: length * 8)
        let head = label + [0, UInt8(bits >> 8), UInt8(truncatingIfNeeded: bits)]
        var output: [UInt8] = []
        defer { Secret.wipe(&output) }
        for counter in UInt8(1)...2 where output.count < length {
            output += try code(head + [counter] + context, key: key)
        }
        return Secret(output.prefix(length))
    }
}

/// AES key wrapping, with padding (RFC 5649) and without (RFC 3394).
public enum AESKeyWrap {
    private static let mark: [UInt8] = [UInt8](repeating: 0xA6, count: 8)
    private static let paddedMark: [UInt8] = [0xA6, 0x59, 0x59, 0xA6]
    private static let half = 8
    /// The maximum input size in bytes: a wrapped key is small, and each half block costs six encryptions.
    private static let byteLimit = 1 << 16

    /// Unwraps a key; the initial value says whether it is padded.
    ///
    /// - Parameters:
    ///   - wrapped: A multiple of 8 bytes, at least 16.
    ///   - key: 16, 24 or 32 bytes.
    /// - Returns: The key; `nil` if it is not authentic under this key, or has an impossible length.
    public static func unwrap(_ wrapped: [UInt8], key: borrowing Secret) -> [UInt8]? {
        guard wrapped.count >= 2 * half, wrapped.count.isMultiple(of: half), wrapped.count <= byteLimit else {
            return nil
        }
        guard
            var plain = wrapped.count == 2 * half
                ? try? BlockCipher.aes.decrypt(wrapped, key: key) : rounds(wrapped, key)
        else { return nil }
        defer { Secret.wipe(&plain) }
        let initial = Array(plain.prefix(half))
        // RFC 3394 wraps at least 16 bytes; python-pskc uses its initial value for keys of 8 bytes as well.
        if constantTimeEqual(initial, mark) { return Array(plain.dropFirst(half)) }
        return unpadded(plain, initial)
    }

    /// RFC 3394 §2.2.2, without the check.
    private static func rounds(_ wrapped: [UInt8], _ key: borrowing Secret) -> [UInt8]? {
        var blocks = wrapped
        let count = wrapped.count / half - 1
        for round in (0..<6).reversed() {
            for place in (1...count).reversed() {
                let step = UInt64(count * round + place)
                var input = Array(blocks.prefix(half))
                for index in 0..<half { input[index] ^= UInt8(truncatingIfNeeded: step >> (8 * UInt64(7 - index))) }
                input += blocks[(place * half)..<((place + 1) * half)]
                guard let output = try? BlockCipher.aes.decrypt(input, key: key) else { return nil }
                blocks.replaceSubrange(0..<half, with: output.prefix(half))
                blocks.replaceSubrange((place * half)..<((place + 1) * half), with: output.suffix(half))
            }
        }
        return blocks
    }

    /// RFC 5649 §3: the constant is followed by the length of the key, and the key by fewer than 8 zeros.
    private static func unpadded(_ plain: [UInt8], _ initial: [UInt8]) -> [UInt8]? {
        let length = initial.suffix(4).reduce(0) { $0 << 8 | Int($1) }
        let room = plain.count - half
        guard constantTimeEqual(Array(initial.prefix(4)), paddedMark), length > 0, length <= room,
            room - length < half, plain.suffix(room - length).allSatisfy({ $0 == 0 })
        else { return nil }
        return Array(plain[half..<(half + length)])
    }
}
