// SPDX-License-Identifier: Apache-2.0

/// Bech32, letters and digits with a checksum (BIP 173, without its length limit), as age writes keys.
public enum Bech32 {
    /// The maximum length of a text to decode, in bytes.
    public static let limit = 8192

    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let generators: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]

    /// Encodes bytes in lower case.
    ///
    /// - Parameter prefix: The human-readable part, in lower case.
    public static func encode(_ prefix: String, _ bytes: [UInt8]) -> String {
        let data = regrouped(bytes, from: 8, to: 5, padded: true) ?? []
        let remainder = polymod(expanded(prefix) + data + [UInt8](repeating: 0, count: 6)) ^ 1
        let checksum = (0..<6).map { UInt8(truncatingIfNeeded: remainder >> (25 - 5 * UInt32($0)) & 31) }
        return prefix + "1" + String(decoding: (data + checksum).map { alphabet[Int($0)] }, as: UTF8.self)
    }

    /// Decodes a text in lower or upper case.
    ///
    /// - Returns: The human-readable part in lower case, and the bytes.
    /// - Throws: `WireError` for mixed case, invalid characters, a wrong checksum or stray bits.
    public static func decode(_ text: String) throws(WireError) -> (prefix: String, bytes: [UInt8]) {
        guard text.utf8.count <= limit else { throw WireError(.tooLarge, at: 0, "more than \(limit) bytes of Bech32") }
        let isLower = text.utf8.contains { (0x61...0x7A).contains($0) }
        let isUpper = text.utf8.contains { (0x41...0x5A).contains($0) }
        guard !(isLower && isUpper) else { throw WireError(.malformed, at: 0, "upper and lower case in one text") }
        let signs = text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        guard let one = signs.lastIndex(of: UInt8(ascii: "1")), one > 0 else {
            throw WireError(.malformed, at: 0, "no prefix before the last 1")
        }
        let prefix = signs[..<one]
        guard prefix.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw WireError(.malformed, at: 0, "a prefix that is not ASCII")
        }
        var data: [UInt8] = []
        for (index, sign) in signs.enumerated().dropFirst(one + 1) {
            guard let value = alphabet.firstIndex(of: sign) else {
                throw WireError(.malformed, at: index, "not a Bech32 character")
            }
            data.append(UInt8(value))
        }
        let name = String(decoding: prefix, as: UTF8.self)
        guard data.count >= 6, polymod(expanded(name) + data) == 1 else {
            throw WireError(.malformed, at: signs.count, "wrong checksum")
        }
        guard let bytes = regrouped(data.dropLast(6), from: 5, to: 8, padded: false) else {
            throw WireError(.malformed, at: signs.count, "stray bits")
        }
        return (name, bytes)
    }

    private static func expanded(_ prefix: String) -> [UInt8] {
        prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
    }

    /// Regroups bits into groups of another size, padding the last one with zeros. Without padding, returns `nil` when
    /// a whole group of the first size is left over, or the leftover bits are not all zero.
    private static func regrouped(
        _ groups: some Collection<UInt8>, from size: UInt32, to newSize: UInt32, padded: Bool
    ) -> [UInt8]? {
        var (bits, count) = (UInt32(0), UInt32(0))
        var result: [UInt8] = []
        for group in groups {
            bits = (bits << size | UInt32(group)) & 0xFFF
            count += size
            while count >= newSize {
                count -= newSize
                result.append(UInt8(truncatingIfNeeded: bits >> count & (1 << newSize - 1)))
            }
        }
        let rest = bits & (1 << count - 1)
        if padded {
            if count > 0 { result.append(UInt8(truncatingIfNeeded: rest << (newSize - count))) }
        } else if count >= size || rest != 0 {
            return nil
        }
        return result
    }

    private static func polymod(_ values: [UInt8]) -> UInt32 {
        values.reduce(UInt32(1)) { sum, value in
            let top = sum >> 25
            let next = (sum & 0x1FF_FFFF) << 5 ^ UInt32(value)
            return generators.enumerated().reduce(next) { top >> UInt32($1.offset) & 1 == 1 ? $0 ^ $1.element : $0 }
        }
    }
}
