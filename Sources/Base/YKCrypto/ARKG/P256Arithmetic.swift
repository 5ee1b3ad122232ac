// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// Addition of scalars and of points on P-256, by OpenSSL.
enum P256Arithmetic {
    /// The scalar that a message hashes to (hash_to_field with expand_message_xmd and SHA-256, RFC 9380 §5.2, §5.3.1): one
    /// element of 48 bytes, reduced modulo the order.
    static func scalar(hashing message: borrowing Secret, separation: [UInt8]) throws(CryptoFault) -> Secret {
        guard separation.count <= 255 else { throw CryptoFault("RFC 9380: a tag of \(separation.count) bytes") }
        let tag = separation + [UInt8(separation.count)]
        var bytes = message.copyBytes()
        defer { Secret.wipe(&bytes) }
        let padding = [UInt8](repeating: 0, count: HashAlgorithm.sha256.blockSize)
        let start = HashAlgorithm.sha256.hash(padding + bytes + [0x00, 48, 0x00] + tag)
        let first = HashAlgorithm.sha256.hash(start + [0x01] + tag)
        let second = HashAlgorithm.sha256.hash(zip(start, first).map { $0 ^ $1 } + [0x02] + tag)
        return try sum(Secret(first + second.prefix(16)), Secret([UInt8](repeating: 0, count: 32)))
    }

    /// The sum of a number of any length and a scalar of 32 bytes, modulo the order.
    static func sum(_ number: borrowing Secret, _ scalar: borrowing Secret) throws(CryptoFault) -> Secret {
        var result = [UInt8](repeating: 0, count: 32)
        defer { Secret.wipe(&result) }
        let status = number.withBytes { number in
            scalar.withBytes { scalar in
                ykit_p256_scalar(
                    number.octets, number.count,
                    scalar.octets, &result)
            }
        }
        guard status == 0 else { throw OpenSSL.fault("P-256: the sum of two scalars") }
        return Secret(result)
    }

    /// The sum of a point and the public key of a scalar of 32 bytes, uncompressed.
    static func add(_ scalar: borrowing Secret, to point: [UInt8]) throws(CryptoFault) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 65)
        let status = scalar.withBytes { scalar in
            ykit_p256_add(scalar.octets, point, point.count, &result)
        }
        guard status == 0 else { throw OpenSSL.fault("P-256: the sum of two points") }
        return result
    }
}
