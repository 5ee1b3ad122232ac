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

extension PrivateKey {
    /// The key as PKCS#8 (RFC 5208), DER.
    public var der: SharedSecret {
        switch publicKey {
        case .rsa: secret
        case .ec(let curve, let point):
            pkcs8(curve.algorithm) { scalar in
                DERWriter.sequence(
                    DERWriter.number([1]), DERWriter.octets(scalar), DERWriter.object(0xA1, DERWriter.bits(point)))
            }
        case .ed25519: pkcs8(DERWriter.ed25519, DERWriter.octets)
        case .x25519: pkcs8(DERWriter.x25519, DERWriter.octets)
        }
    }

    private func pkcs8(_ algorithm: [UInt8], _ content: ([UInt8]) -> [UInt8]) -> SharedSecret {
        var bytes = secret.value.copyBytes()
        var inner = content(bytes)
        var outer = DERWriter.sequence(DERWriter.number([0]), algorithm, DERWriter.octets(inner))
        defer {
            Secret.wipe(&bytes)
            Secret.wipe(&inner)
            Secret.wipe(&outer)
        }
        return SharedSecret(Secret(outer))
    }

    /// Reads a key in the form of ``der``, unless it is RSA; returns `nil` for all others. OpenSSL's decoders take ten
    /// times as long.
    static func common(_ der: [UInt8]) -> PrivateKey? {
        guard let key = parsed(der), key.der.value == Secret(der) else { return nil }
        return key
    }

    private static func parsed(_ der: [UInt8]) -> PrivateKey? {
        var reader = DERReader(der)
        guard var info = reader.object(0x30), info.number() != nil, let algorithm = info.object(0x30),
            var content = info.object(0x04)
        else { return nil }
        let name = DERWriter.sequence(Array(algorithm.rest))
        switch name {
        case DERWriter.ed25519: return content.object(0x04).flatMap { try? PrivateKey(ed25519: Secret($0.rest)) }
        case DERWriter.x25519: return content.object(0x04).flatMap { try? PrivateKey(x25519: Secret($0.rest)) }
        default:
            guard let curve = VerificationKey.Curve.of(algorithm: name), var key = content.object(0x30),
                key.number() != nil
            else { return nil }
            return key.object(0x04).flatMap { try? PrivateKey(curve, scalar: Secret($0.rest)) }
        }
    }

    /// The name of the type of a post-quantum key in PKCS#8 (RFC 9881, RFC 9935), which is not supported; `nil` for every
    /// other key.
    package static func otherType(_ der: [UInt8]) -> String? {
        var reader = DERReader(der)
        guard var info = reader.object(0x30), info.number() != nil, var algorithm = info.object(0x30),
            let type = algorithm.object(0x06)
        else { return nil }
        return otherTypes[Array(type.rest)]
    }

    private static let otherTypes: [[UInt8]: String] = {
        var names: [[UInt8]: String] = [:]
        // The arc of NIST's algorithms, 2.16.840.1.101.3.4: signatures are 3, encapsulation is 4.
        let arc: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04]
        for (number, size) in [44, 65, 87].enumerated() { names[arc + [3, UInt8(17 + number)]] = "ML-DSA-\(size)" }
        for (number, size) in [512, 768, 1024].enumerated() { names[arc + [4, UInt8(1 + number)]] = "ML-KEM-\(size)" }
        return names
    }()
}
