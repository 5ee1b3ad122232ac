// SPDX-License-Identifier: Apache-2.0

import COpenSSL

extension PrivateKey {
    /// The RSA private operation (RFC 8017 §5.1.2, §5.2.1) on a block as long as the modulus.
    public func rsaPrivate(_ block: [UInt8]) throws(CryptoFault) -> [UInt8] {
        try withKey { key throws(CryptoFault) in
            try OpenSSL.output(block.count, "RSA: the block does not fit the key") {
                ykit_key_rsa_private(key.handle, block, block.count, $0, $1)
            }
        }
    }

    /// Signs a digest with ECDSA; the signature is DER. The digest is at most as long as the curve's field.
    public func sign(digest: [UInt8]) throws(CryptoFault) -> [UInt8] {
        guard case .ec = publicKey else { throw CryptoFault("ECDSA: not a key on a curve") }
        return try withKey { key throws(CryptoFault) in
            try OpenSSL.output(256, "ECDSA: no signature") {
                ykit_key_sign_digest(key.handle, digest, digest.count, $0, $1)
            }
        }
    }

    /// Signs a message with RSASSA-PKCS1-v1_5, ECDSA (DER) or Ed25519, which ignores `hash`. The default is the curve's
    /// own hash, and SHA-256 with RSA.
    public func sign(_ message: [UInt8], _ hash: HashAlgorithm? = nil) throws(CryptoFault) -> [UInt8] {
        let name: String? =
            switch publicKey {
            case .ed25519, .x25519: nil
            case .ec(let curve, _): (hash ?? curve.hash).openSSLName
            case .rsa: (hash ?? .sha256).openSSLName
            }
        return try withKey { key throws(CryptoFault) in
            try OpenSSL.output(1024, "this key cannot sign") {
                ykit_key_sign(key.handle, name, message, message.count, $0, $1)
            }
        }
    }

    /// Returns the secret shared with a peer (NIST SP 800-56A §5.7.1.2, RFC 7748 §6.1): the x coordinate, or the 32
    /// bytes of X25519.
    public func shared(with peer: PublicKey) throws(CryptoFault) -> SharedSecret {
        let other = try OpenSSLKey(peer)
        return try withKey { key throws(CryptoFault) in
            var bytes = try OpenSSL.output(128, "this key cannot agree on a secret") {
                ykit_key_derive(key.handle, other.handle, $0, $1)
            }
            defer { Secret.wipe(&bytes) }
            return SharedSecret(Secret(bytes))
        }
    }

    /// The private scalar of a curve key, as long as the field; the 32 bytes of a key on Curve25519.
    ///
    /// - Throws: `CryptoFault` for RSA.
    public func scalar() throws(CryptoFault) -> SharedSecret {
        if case .rsa = publicKey { throw CryptoFault("RSA: not a key on a curve") }
        return secret
    }

    /// The Chinese remainder theorem values of an RSA key (RFC 8017 §3.2), each half as long as the modulus: p, q, d
    /// mod p-1, d mod q-1, 1/q mod p.
    public func remainders() throws(CryptoFault) -> [SharedSecret] {
        guard case .rsa(let modulus, _) = publicKey else { throw CryptoFault("RSA: not an RSA key") }
        let size = (modulus.count + 1) / 2
        let names = ["rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1"]
        return try withKey { key throws(CryptoFault) in
            var numbers: [SharedSecret] = []
            for name in names {
                var bytes = try key.number(name).padded(to: size)
                defer { Secret.wipe(&bytes) }
                numbers.append(SharedSecret(Secret(bytes)))
            }
            return numbers
        }
    }

    /// Creates an RSA key with exponent 65537 from the values of ``remainders()``.
    ///
    /// - Throws: `CryptoFault` when the values are inconsistent.
    public init(remainders numbers: [[UInt8]]) throws(CryptoFault) {
        let size = numbers.first?.count ?? 0
        guard numbers.count == 5, size > 0, size <= 512, numbers[1].count == size else {
            throw CryptoFault("RSA: expected five values, with primes of equal length")
        }
        var n = [UInt8](repeating: 0, count: 2 * size)
        var d = n
        var (nSize, dSize) = (n.count, d.count)
        defer { Secret.wipe(&d) }
        guard ykit_rsa_complete(numbers[0], numbers[1], size, &n, &nSize, &d, &dSize) == 0 else {
            throw OpenSSL.fault("RSA: the primes do not fit the exponent")
        }
        var parts = DERWriter.number([0]) + DERWriter.number(Array(n[..<nSize])) + DERWriter.number([1, 0, 1])
        parts += DERWriter.number(Array(d[..<dSize]))
        for number in numbers { parts += DERWriter.number(number) }
        defer { Secret.wipe(&parts) }
        var der = DERWriter.sequence(parts)
        defer { Secret.wipe(&der) }
        let key = try PrivateKey(OpenSSLKey(privateDER: der))
        try key.requireConsistency(nSize)
        self = key
    }

    /// Creates an RSA key with exponent 65537 from two primes of equal length.
    ///
    /// - Throws: `CryptoFault` when the primes are inconsistent.
    public init(primes p: [UInt8], _ q: [UInt8]) throws(CryptoFault) {
        guard p.count == q.count, (1...512).contains(p.count) else {
            throw CryptoFault("RSA: expected primes of equal length")
        }
        var dp = [UInt8](repeating: 0, count: p.count)
        var (dq, inverse) = (dp, dp)
        defer {
            Secret.wipe(&dp)
            Secret.wipe(&dq)
            Secret.wipe(&inverse)
        }
        guard ykit_rsa_remainders(p, q, p.count, &dp, &dq, &inverse) == 0 else {
            throw OpenSSL.fault("RSA: the primes do not fit the exponent")
        }
        try self.init(remainders: [p, q, dp, dq, inverse])
    }

    /// Checks that the public operation reverses the private one, which it does not for inconsistent values.
    private func requireConsistency(_ size: Int) throws(CryptoFault) {
        let probe = [0, 1] + [UInt8](repeating: 0x5A, count: max(0, size - 2))
        let signature = try rsaPrivate(probe)
        guard try publicKey.rsaPublic(signature) == probe else {
            throw CryptoFault("RSA: the values are inconsistent")
        }
    }
}
