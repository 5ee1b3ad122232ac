// SPDX-License-Identifier: Apache-2.0

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
