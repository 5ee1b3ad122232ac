// SPDX-License-Identifier: Apache-2.0

extension HashAlgorithm {
    /// Derives a key of `length` bytes from another secret (HKDF, RFC 5869).
    ///
    /// - Throws: `CryptoFault` for more than 255 digests.
    public func hkdf(
        _ secret: borrowing Secret, salt: [UInt8], info: [UInt8], length: Int
    ) throws(CryptoFault) -> Secret {
        guard length > 0, length <= 255 * digestSize else { throw CryptoFault("HKDF: \(length) bytes requested") }
        let pseudorandom = Secret(hmac(key: Secret(salt), secret.copyBytes()))
        var output: [UInt8] = []
        var block: [UInt8] = []
        var counter: UInt8 = 1
        while output.count < length {
            block = hmac(key: pseudorandom, block + info + [counter])
            output += block
            counter &+= 1
        }
        defer { Secret.wipe(&output) }
        return Secret(output.prefix(length))
    }
}
