// SPDX-License-Identifier: Apache-2.0

/// Pads a message to the length of an RSA modulus, for cards that perform the raw private operation.
public enum RSAPadding {
    /// EMSA-PKCS1-v1_5 (RFC 8017 §9.2): 00 01 FF … 00 DigestInfo, `size` bytes long.
    public static func pkcs1(digest: [UInt8], _ hash: HashAlgorithm, size: Int) throws(CryptoFault) -> [UInt8] {
        guard digest.count == hash.digestSize else { throw CryptoFault("PKCS#1: wrong digest length") }
        return try pkcs1(content: hash.digestInfoHead + digest, size: size)
    }

    /// EMSA-PKCS1-v1_5 around any content, such as a ready-made DigestInfo.
    public static func pkcs1(content: [UInt8], size: Int) throws(CryptoFault) -> [UInt8] {
        let room = size - content.count - 3
        guard room >= 8 else { throw CryptoFault("PKCS#1: the key is too short for this") }
        return [0, 1] + [UInt8](repeating: 0xFF, count: room) + [0] + content
    }

    /// EMSA-PSS (RFC 8017 §9.1.1) with MGF1 of the same hash, `size` bytes long, for a modulus of whole bytes.
    public static func pss(
        digest: [UInt8], _ hash: HashAlgorithm, salt: [UInt8], size: Int
    ) throws(CryptoFault) -> [UInt8] {
        guard digest.count == hash.digestSize else { throw CryptoFault("PSS: wrong digest length") }
        let room = size - digest.count - salt.count - 2
        guard room >= 0 else { throw CryptoFault("PSS: the key is too short for this") }
        let inner = hash.hash([UInt8](repeating: 0, count: 8) + digest + salt)
        let block = [UInt8](repeating: 0, count: room) + [1] + salt
        var masked = xor(block, hash.mgf1(inner, block.count))
        masked[0] &= 0x7F
        return masked + inner + [0xBC]
    }

    /// EME-OAEP (RFC 8017 §7.1.1) with MGF1 of the same hash, `size` bytes long; `seed` is random, as long as the digest.
    public static func oaep(
        _ message: borrowing Secret, _ hash: HashAlgorithm, seed: [UInt8], size: Int, label: [UInt8] = []
    ) throws(CryptoFault) -> Secret {
        let room = size - message.count - 2 * hash.digestSize - 2
        guard room >= 0, seed.count == hash.digestSize else { throw CryptoFault("OAEP: the key is too short for this") }
        var data = hash.hash(label) + [UInt8](repeating: 0, count: room) + [1] + message.copyBytes()
        defer { Secret.wipe(&data) }
        let maskedData = xor(data, hash.mgf1(seed, data.count))
        return Secret([0] + xor(seed, hash.mgf1(maskedData, hash.digestSize)) + maskedData)
    }

    static func xor(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { zip(left, right).map { $0 ^ $1 } }
}

extension HashAlgorithm {
    /// MGF1 (RFC 8017 §B.2.1).
    func mgf1(_ seed: [UInt8], _ count: Int) -> [UInt8] {
        var output: [UInt8] = []
        var counter: UInt32 = 0
        while output.count < count {
            output += hash(seed + (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * $0)) })
            counter += 1
        }
        return Array(output.prefix(count))
    }

    /// The DigestInfo up to the digest (RFC 8017 §9.2, note 1).
    var digestInfoHead: [UInt8] {
        switch self {
        case .sha1: [0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2B, 0x0E, 0x03, 0x02, 0x1A, 0x05, 0x00, 0x04, 0x14]
        case .sha256: Self.sha2Head(1, 32)
        case .sha384: Self.sha2Head(2, 48)
        case .sha512: Self.sha2Head(3, 64)
        }
    }

    private static func sha2Head(_ number: UInt8, _ size: UInt8) -> [UInt8] {
        [
            0x30, 0x11 + size, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, number, 0x05,
            0x00,
            0x04, size,
        ]
    }
}

/// Removes the padding from a decrypted RSA block. Neither timing nor error reveals how a padding is wrong: an attacker
/// who could see that could decrypt with the key (Bleichenbacher 1998, Manger 2001).
public enum RSAUnpadding {
    /// EME-PKCS1-v1_5 (RFC 8017 §7.2.2): 00 02, at least eight bytes other than zero, 00, message.
    public static func pkcs1(_ block: [UInt8]) throws(CryptoFault) -> Secret {
        guard block.count >= 11 else { throw .wrongPadding }
        var bad = block[0] | (block[1] ^ 0x02)
        var start = 0
        var isSearching = -1  // All bits set until the first zero.
        for index in 2..<block.count {
            let isZero = mask(isZero: block[index])
            start |= (index + 1) & isZero & isSearching
            isSearching &= ~isZero
        }
        bad |= UInt8(truncatingIfNeeded: isSearching)
        bad |= UInt8(truncatingIfNeeded: mask(isNegative: start - 11))
        guard bad == 0 else { throw .wrongPadding }
        return Secret(block[start...])
    }

    /// EME-OAEP (RFC 8017 §7.1.2) with MGF1 of the same hash.
    public static func oaep(
        _ block: [UInt8], _ hash: HashAlgorithm, label: [UInt8] = []
    ) throws(CryptoFault) -> Secret {
        let size = hash.digestSize
        guard block.count >= 2 * size + 2 else { throw .wrongPadding }
        let maskedSeed = Array(block[1...size])
        let maskedData = Array(block[(size + 1)...])
        let seed = RSAPadding.xor(maskedSeed, hash.mgf1(maskedData, size))
        var data = RSAPadding.xor(maskedData, hash.mgf1(seed, maskedData.count))
        defer { Secret.wipe(&data) }
        var bad = zip(data, hash.hash(label)).reduce(block[0]) { $0 | ($1.0 ^ $1.1) }
        var start = 0
        var isSearching = -1
        for index in size..<data.count {
            let isZero = mask(isZero: data[index])
            let isOne = mask(isZero: data[index] ^ 1)
            start |= (index + 1) & isOne & isSearching
            bad |= UInt8(truncatingIfNeeded: isSearching & ~isZero & ~isOne)
            isSearching &= isZero
        }
        bad |= UInt8(truncatingIfNeeded: isSearching)
        guard bad == 0 else { throw .wrongPadding }
        return Secret(data[start...])
    }

    /// All bits set for zero, else none.
    private static func mask(isZero byte: UInt8) -> Int { mask(isNegative: Int(byte) - 1) }

    /// All bits set for a negative number, else none.
    private static func mask(isNegative number: Int) -> Int { number >> (Int.bitWidth - 1) }
}

extension CryptoFault {
    /// The block was encrypted for a different key or with a different padding.
    public static let wrongPadding = CryptoFault("RSA: invalid padding")
}
