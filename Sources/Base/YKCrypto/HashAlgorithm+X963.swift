// SPDX-License-Identifier: Apache-2.0

extension HashAlgorithm {
    /// Derives a key of `length` bytes from a shared secret (ANSI X9.63 §3.6.1; BSI TR-03111 §4.3.3).
    ///
    /// - Throws: `CryptoFault` for more than 255 digests.
    public func x963(
        _ secret: borrowing Secret, sharedInfo: [UInt8], length: Int
    ) throws(CryptoFault) -> Secret {
        guard length > 0, length <= 255 * digestSize else { throw CryptoFault("X9.63: \(length) bytes requested") }
        var input = secret.copyBytes()
        var output: [UInt8] = []
        defer {
            Secret.wipe(&input)
            Secret.wipe(&output)
        }
        var counter: UInt8 = 1
        while output.count < length {
            var block = input + [0, 0, 0, counter] + sharedInfo
            defer { Secret.wipe(&block) }
            output += hash(block)
            counter &+= 1
        }
        return Secret(output.prefix(length))
    }
}
