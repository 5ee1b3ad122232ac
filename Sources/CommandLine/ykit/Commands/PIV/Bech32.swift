// SPDX-License-Identifier: Apache-2.0

/// Bytes as letters and digits with a checksum (BIP 173), the form of age's recipients.
enum Bech32 {
    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
    private static let generators: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]

    /// The text for bytes, under a prefix of lower-case letters.
    static func encode(_ prefix: String, _ bytes: [UInt8]) -> String {
        let data = groups(bytes)
        let expanded = prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
        let remainder = polymod(expanded + data + [UInt8](repeating: 0, count: 6)) ^ 1
        let checksum = (0..<6).map { UInt8(truncatingIfNeeded: remainder >> (25 - 5 * UInt32($0)) & 31) }
        return prefix + "1" + String((data + checksum).map { alphabet[Int($0)] })
    }

    /// Groups of five bits, the last one filled up with zeros.
    private static func groups(_ bytes: [UInt8]) -> [UInt8] {
        var (bits, count) = (UInt32(0), 0)
        var result: [UInt8] = []
        for byte in bytes {
            bits = (bits << 8 | UInt32(byte)) & 0xFFFF
            count += 8
            while count >= 5 {
                count -= 5
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count) & 31))
            }
        }
        if count > 0 { result.append(UInt8(truncatingIfNeeded: bits << UInt32(5 - count) & 31)) }
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
