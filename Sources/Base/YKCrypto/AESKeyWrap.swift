// SPDX-License-Identifier: Apache-2.0

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
