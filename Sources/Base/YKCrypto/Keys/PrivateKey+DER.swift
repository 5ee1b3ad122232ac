// SPDX-License-Identifier: Apache-2.0

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
}

extension PrivateKey {
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
