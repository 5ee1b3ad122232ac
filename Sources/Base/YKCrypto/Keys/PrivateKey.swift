// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// A private key held in software: RSA of any length, elliptic curves, Ed25519 and X25519.
public struct PrivateKey: Sendable {
    /// A scalar as long as the curve's field, the 32 bytes of a key on Curve25519, or PKCS#8 for RSA.
    let secret: SharedSecret
    /// The matching public key.
    public let publicKey: PublicKey

    private init(_ publicKey: PublicKey, _ secret: SharedSecret) {
        self.publicKey = publicKey
        self.secret = secret
    }

    init(_ key: OpenSSLKey) throws(CryptoFault) {
        let publicKey = try PublicKey(of: key)
        var bytes: [UInt8]
        switch publicKey {
        case .ec: bytes = try key.number("priv")
        case .ed25519, .x25519: bytes = try key.bytes("priv")
        case .rsa(let modulus, _):
            try Self.checkPrimes(key, modulus: modulus)
            bytes = try OpenSSL.output(8192, "the key cannot be written") {
                ykit_key_encode_private(key.handle, $0, $1)
            }
        }
        defer { Secret.wipe(&bytes) }
        switch publicKey {
        case .ec(let curve, _): try self.init(curve, scalar: Secret(bytes))
        case .ed25519: try self.init(ed25519: Secret(bytes))
        case .x25519: try self.init(x25519: Secret(bytes))
        case .rsa: self.init(publicKey, SharedSecret(Secret(bytes)))
        }
        guard self.publicKey == publicKey else { throw CryptoFault("not a private key: its public key is another's") }
    }

    /// Reads PKCS#8 (RFC 5208, RFC 5958), PKCS#1 (RFC 8017) or SEC 1 (RFC 5915) in DER.
    ///
    /// - Throws: `CryptoFault` for other kinds of keys.
    public init(der: borrowing Secret) throws(CryptoFault) {
        var bytes = der.copyBytes()
        defer { Secret.wipe(&bytes) }
        if let key = Self.common(bytes) {
            self = key
        } else if let key = try Self.withPublicKey(bytes) {
            self = key
        } else {
            if let name = Self.otherType(bytes) { throw CryptoFault("private keys of type \(name) are not supported") }
            try self.init(OpenSSLKey(privateDER: bytes))
        }
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
        try self.init(
            OpenSSLKey(handle, password == nil ? "not a private key" : "not a private key, or not its password"))
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
        let size = curve.fieldSize
        guard scalar.count <= size else { throw CryptoFault("\(curve): not a private key") }
        var bytes = scalar.copyBytes()
        var number = bytes.padded(to: size)
        defer {
            Secret.wipe(&bytes)
            Secret.wipe(&number)
        }
        let point = try OpenSSL.output(1 + 2 * size, "\(curve): not a private key") {
            ykit_curve_point(curve.openSSLName, number, size, $0, $1)
        }
        secret = SharedSecret(Secret(number))
        publicKey = .ec(curve, point: point)
    }

    /// Creates an Ed25519 key (RFC 8032) from a 32-byte seed.
    public init(ed25519 seed: borrowing Secret) throws(CryptoFault) {
        publicKey = .ed25519(try Self.publicBytes("ED25519", seed))
        secret = SharedSecret(seed.copy())
    }

    /// Creates an X25519 key (RFC 7748) from 32 bytes.
    public init(x25519 number: borrowing Secret) throws(CryptoFault) {
        publicKey = .x25519(try Self.publicBytes("X25519", number))
        secret = SharedSecret(number.copy())
    }

    private static func publicBytes(_ kind: String, _ secret: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        let handle = secret.withBytes { ykit_key_raw_private(kind, $0.octets, $0.count) }
        return try OpenSSLKey(handle, "a key on Curve25519 has 32 bytes").bytes("pub")
    }

    /// Gives `body` the key in OpenSSL's form, which lasts no longer than the call.
    func withKey<Result>(_ body: (OpenSSLKey) throws(CryptoFault) -> Result) throws(CryptoFault) -> Result {
        let handle = secret.value.withBytes { bytes in
            switch publicKey {
            case .rsa: ykit_key_private(bytes.octets, bytes.count)
            case .ec(let curve, let point):
                ykit_key_scalar(curve.openSSLName, bytes.octets, bytes.count, point, point.count)
            case .ed25519: ykit_key_raw_private("ED25519", bytes.octets, bytes.count)
            case .x25519: ykit_key_raw_private("X25519", bytes.octets, bytes.count)
            }
        }
        return try body(OpenSSLKey(handle, "not a private key"))
    }
}

extension PrivateKey: Equatable {
    /// Whether both are the same key.
    public static func == (left: PrivateKey, right: PrivateKey) -> Bool {
        left.publicKey == right.publicKey && left.secret.value == right.secret.value
    }
}
