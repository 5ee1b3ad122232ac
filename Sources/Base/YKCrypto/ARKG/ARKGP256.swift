// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// Asynchronous remote key generation on P-256 (ARKG-P256, draft-bradleylundberg-cfrg-arkg-10): anyone can derive
/// public keys from a seed's public half, but only the holder of the private half can derive their private keys.
/// Requires OpenSSL 3.
public enum ARKGP256 {
    /// The maximum length of a context, in bytes.
    public static let contextLimit = 64
    /// The minimum length of the random input of a derivation, in bytes.
    public static let inputSize = 32
    /// The length of a key handle: a MAC of 16 bytes and an uncompressed point.
    public static let handleSize = macSize + 65

    static let macSize = 16
    private static let exchange = "ARKG-ECDH.ARKG-P256"

    /// A derived public key.
    public struct Derived: Hashable, Sendable {
        /// The uncompressed point, 65 bytes.
        public let publicKey: [UInt8]
        /// The key handle, from which the holder of the seed derives the private key: ``handleSize`` bytes, not secret.
        public let keyHandle: [UInt8]
    }

    /// The public half of a seed.
    public struct PublicSeed: Hashable, Sendable {
        /// The public key that derivation blinds (pkBl): an uncompressed point, 65 bytes.
        public let blinding: [UInt8]
        /// The public key for key encapsulation (pkKem): an uncompressed point, 65 bytes.
        public let encapsulation: [UInt8]

        /// Creates a public half from two uncompressed points.
        ///
        /// - Throws: `CryptoFault` when one is not on the curve.
        public init(blinding: [UInt8], encapsulation: [UInt8]) throws(CryptoFault) {
            _ = try P256Point.compressed(blinding)
            _ = try P256Point.compressed(encapsulation)
            self.blinding = blinding
            self.encapsulation = encapsulation
        }

        /// Derives a public key and its handle (ARKG-Derive-Public-Key).
        ///
        /// - Parameters:
        ///   - input: At least ``inputSize`` random bytes, used once.
        ///   - context: At most ``contextLimit`` bytes that separate the uses of a seed.
        /// - Throws: `CryptoFault` for other lengths, and without OpenSSL 3.
        public func derive(_ input: borrowing Secret, context: [UInt8]) throws(CryptoFault) -> Derived {
            guard input.count >= ARKGP256.inputSize else { throw CryptoFault("ARKG: \(input.count) bytes of input") }
            let contexts = try Contexts(context)
            let own = try P256KeyAgreement(scalar: ARKGP256.agreementKey(input))
            let shared = try own.shared(with: Array(encapsulation.dropFirst()))
            let point = [0x04] + own.publicPoint
            let mac = try ARKGP256.mac(shared, over: point, contexts)
            let tau = try ARKGP256.tau(shared, contexts)
            return Derived(publicKey: try P256Arithmetic.add(tau, to: blinding), keyHandle: mac + point)
        }
    }

    /// The two contexts derived from the caller's.
    struct Contexts {
        let blinding: [UInt8]
        let encapsulation: [UInt8]

        init(_ context: [UInt8]) throws(CryptoFault) {
            guard context.count <= contextLimit else { throw CryptoFault("ARKG: a context of \(context.count) bytes") }
            let marked = [UInt8(context.count)] + context
            blinding = Array("ARKG-Derive-Key-BL.".utf8) + marked
            encapsulation = Array("ARKG-Derive-Key-KEM.".utf8) + marked
        }
    }

    /// The private scalar of a key agreement (Sub-Kem-Derive-Key-Pair).
    static func agreementKey(_ input: borrowing Secret) throws(CryptoFault) -> Secret {
        try P256Arithmetic.scalar(hashing: input, separation: Array("ARKG-KEM-ECDH-KG.\(exchange)".utf8))
    }

    /// The MAC by which the holder recognizes a handle that was made for this seed and context.
    static func mac(
        _ shared: borrowing Secret, over point: [UInt8], _ contexts: Contexts
    ) throws(CryptoFault) -> [UInt8] {
        let key = try HashAlgorithm.sha256.hkdf(
            shared, salt: [], info: Array("ARKG-KEM-HMAC-mac.\(exchange)".utf8) + contexts.encapsulation, length: 32)
        return Array(HashAlgorithm.sha256.hmac(key: key, point).prefix(macSize))
    }

    /// The scalar that separates the derived key from the seed's (BL-PRF).
    static func tau(_ shared: borrowing Secret, _ contexts: Contexts) throws(CryptoFault) -> Secret {
        let input = try HashAlgorithm.sha256.hkdf(
            shared, salt: [], info: Array("ARKG-KEM-HMAC-shared.\(exchange)".utf8) + contexts.encapsulation, length: 32)
        return try P256Arithmetic.scalar(
            hashing: input, separation: Array("ARKG-BL-EC.ARKG-P256".utf8) + contexts.blinding)
    }

    /// The private half of a seed, as a key holds it.
    package struct PrivateSeed: ~Copyable {
        private let blinding: Secret
        private let encapsulation: P256KeyAgreement

        /// Derives both scalars from random bytes, at least 32 each (ARKG-Derive-Seed).
        package init(blinding: borrowing Secret, encapsulation: borrowing Secret) throws(CryptoFault) {
            let agreement = try P256KeyAgreement(scalar: agreementKey(encapsulation))
            self.blinding = try P256Arithmetic.scalar(
                hashing: blinding, separation: Array("ARKG-BL-EC-KG.ARKG-P256".utf8))
            self.encapsulation = agreement
        }

        /// The public half.
        package func publicSeed() throws(CryptoFault) -> PublicSeed {
            try PublicSeed(
                blinding: [0x04] + P256KeyAgreement(scalar: blinding).publicPoint,
                encapsulation: [0x04] + encapsulation.publicPoint)
        }

        /// Derives the private scalar of a handle, 32 bytes (ARKG-Derive-Private-Key).
        ///
        /// - Throws: `CryptoFault` for a handle that was made for a different seed or context.
        package func derive(_ keyHandle: [UInt8], context: [UInt8]) throws(CryptoFault) -> Secret {
            let contexts = try Contexts(context)
            guard keyHandle.count == handleSize, keyHandle[macSize] == 0x04 else {
                throw CryptoFault("ARKG: not a key handle")
            }
            let point = Array(keyHandle.dropFirst(macSize))
            let shared = try encapsulation.shared(with: Array(point.dropFirst()))
            guard constantTimeEqual(try mac(shared, over: point, contexts), Array(keyHandle.prefix(macSize))) else {
                throw CryptoFault("ARKG: the key handle is for a different seed or context")
            }
            return try P256Arithmetic.sum(tau(shared, contexts), blinding)
        }
    }
}

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
