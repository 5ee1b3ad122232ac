// SPDX-License-Identifier: Apache-2.0

/// Private keys that state their public key, which must be their own.
extension PrivateKey {
    /// Reads a OneAsymmetricKey that contains the public key (RFC 5958 §2), which OpenSSL reads from 3.5 on; `nil` for any
    /// other key.
    ///
    /// - Throws: `CryptoFault` if the public key is another's.
    static func withPublicKey(_ der: [UInt8]) throws(CryptoFault) -> PrivateKey? {
        var outer = DERReader(der)
        guard var info = outer.object(0x30), info.number() == [1], let algorithm = info.object(0x30),
            let content = info.object(0x04)
        else { return nil }
        if info.rest.first == 0xA0, info.object(0xA0) == nil { return nil }
        var plain = DERWriter.sequence(
            DERWriter.number([0]), DERWriter.object(0x30, Array(algorithm.rest)), DERWriter.octets(Array(content.rest)))
        defer { Secret.wipe(&plain) }
        let key = try PrivateKey(der: Secret(plain))
        if !info.isAtEnd {
            // Implicitly tagged; a version of ring wrote the whole BIT STRING inside.
            let isWhole = info.rest.first == 0xA1
            var field = info.object(isWhole ? 0xA1 : 0x81)
            let bits = isWhole ? field?.object(0x03) : field
            guard let stated = bits.map({ Array($0.rest.dropFirst()) }), key.publicKey.hasBits(stated) else {
                throw CryptoFault("not a private key: its public key is another's")
            }
        }
        return key
    }

    /// Checks that the modulus of an RSA key is the product of its primes, as far as the key contains them.
    static func checkPrimes(_ key: OpenSSLKey, modulus: [UInt8]) throws(CryptoFault) {
        guard var first = try? key.number("rsa-factor1"), var second = try? key.number("rsa-factor2") else { return }
        defer {
            Secret.wipe(&first)
            Secret.wipe(&second)
        }
        var product = product(first, second)
        defer { Secret.wipe(&product) }
        guard product == modulus else { throw CryptoFault("not a private key: its modulus is not that of its primes") }
    }

    /// The product of two numbers, most significant byte first, without leading zeros.
    private static func product(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var digits = [UInt8](repeating: 0, count: left.count + right.count)
        for (row, factor) in left.reversed().enumerated() {
            var carry: UInt32 = 0
            for (column, other) in right.reversed().enumerated() {
                let place = digits.count - 1 - row - column
                let sum = UInt32(digits[place]) + UInt32(factor) * UInt32(other) + carry
                digits[place] = UInt8(truncatingIfNeeded: sum)
                carry = sum >> 8
            }
            digits[digits.count - 1 - row - right.count] = UInt8(truncatingIfNeeded: carry)
        }
        return Array(digits.drop { $0 == 0 })
    }
}

extension PublicKey {
    /// Whether these are the bits of its SubjectPublicKeyInfo.
    fileprivate func hasBits(_ bits: [UInt8]) -> Bool {
        switch self {
        case .rsa(let modulus, let exponent):
            bits == DERWriter.sequence(DERWriter.number(modulus), DERWriter.number(exponent))
        case .ec(_, let point): bits == point
        case .ed25519(let bytes), .x25519(let bytes): bits == bytes
        }
    }
}
