// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// A private key held in software and used through OpenSSL: RSA of any length, elliptic curves, Ed25519 and X25519.
public struct PrivateKey: Sendable {
    private let pkcs8: SharedSecret
    /// The matching public key.
    public let publicKey: PublicKey

    init(_ key: borrowing OpenSSLKey) throws(CryptoFault) {
        publicKey = try PublicKey(of: key)
        if case .ec(let curve, _) = publicKey, ykit_key_check(key.handle) != 1 {
            throw CryptoFault("\(curve): not a private key")
        }
        var der = try OpenSSLKey.output(8192, "the key cannot be written") {
            ykit_key_encode_private(key.handle, $0, $1)
        }
        defer { Secret.wipe(&der) }
        pkcs8 = SharedSecret(Secret(der))
    }

    /// Reads PKCS#8 (RFC 5208), PKCS#1 (RFC 8017) or SEC 1 (RFC 5915) in DER.
    ///
    /// - Throws: `CryptoFault` for other kinds of keys.
    public init(der: borrowing Secret) throws(CryptoFault) {
        var bytes = der.copyBytes()
        defer { Secret.wipe(&bytes) }
        try self.init(OpenSSLKey(privateDER: bytes))
    }

    /// Reads one PEM block, encrypted or not.
    ///
    /// - Throws: `CryptoFault` when the block is not a key or the password is wrong.
    public init(pem: [UInt8], password: SharedSecret?) throws(CryptoFault) {
        var text = password?.value.copyBytes() ?? []
        defer { Secret.wipe(&text) }
        let handle = text.withUnsafeBytes { phrase in
            ykit_key_pem(
                pem, pem.count, password == nil ? nil : phrase.bindMemory(to: CChar.self).baseAddress, phrase.count)
        }
        try self.init(OpenSSLKey(handle, "not a private key, or not its password"))
    }

    /// Generates an RSA key of 1024 to 4096 bits with exponent 65537, using OpenSSL's random number generator.
    public init(newRSA bits: Int) throws(CryptoFault) {
        guard (1024...4096).contains(bits) else { throw CryptoFault("RSA: \(bits) bits") }
        try self.init(OpenSSLKey(ykit_key_rsa(UInt32(bits)), "RSA: key generation failed"))
    }

    /// Creates a key from a private scalar on a curve, most significant byte first.
    ///
    /// - Throws: `CryptoFault` when the scalar is zero or not below the order.
    public init(_ curve: VerificationKey.Curve, scalar: borrowing Secret) throws(CryptoFault) {
        var number = scalar.copyBytes()
        defer { Secret.wipe(&number) }
        guard number.count <= curve.fieldSize else { throw CryptoFault("\(curve): not a private key") }
        var der = DERWriter.sequence(
            DERWriter.number([1]), DERWriter.octets(number.padded(to: curve.fieldSize)),
            DERWriter.object(0xA0, curve.identifier))
        defer { Secret.wipe(&der) }
        try self.init(OpenSSLKey(privateDER: der))
    }

    /// Creates an Ed25519 key (RFC 8032) from a 32-byte seed.
    public init(ed25519 seed: borrowing Secret) throws(CryptoFault) { try self.init(DERWriter.ed25519, seed) }

    /// Creates an X25519 key (RFC 7748) from 32 bytes.
    public init(x25519 number: borrowing Secret) throws(CryptoFault) { try self.init(DERWriter.x25519, number) }

    private init(_ algorithm: [UInt8], _ secret: borrowing Secret) throws(CryptoFault) {
        guard secret.count == 32 else { throw CryptoFault("a key on Curve25519 has 32 bytes") }
        var der = DERWriter.sequence(
            DERWriter.number([0]), algorithm, DERWriter.octets(DERWriter.octets(secret.copyBytes())))
        defer { Secret.wipe(&der) }
        try self.init(OpenSSLKey(privateDER: der))
    }

    /// The key as PKCS#8 (RFC 5208), DER.
    public var der: SharedSecret { pkcs8 }

    func withKey<Result>(
        _ body: (borrowing OpenSSLKey) throws(CryptoFault) -> Result
    ) throws(CryptoFault) -> Result {
        var bytes = pkcs8.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        return try body(OpenSSLKey(privateDER: bytes))
    }
}

extension PrivateKey: Equatable {
    /// Whether both are the same key.
    public static func == (left: PrivateKey, right: PrivateKey) -> Bool { left.pkcs8.value == right.pkcs8.value }
}
