// SPDX-License-Identifier: Apache-2.0

extension PublicKey {
    /// Reads a key in the form that this package writes, as nearly all keys are; returns `nil` for all others. OpenSSL only
    /// checks points: its decoders take longer than some security keys do to answer.
    static func common(_ der: [UInt8]) -> PublicKey? {
        guard let key = parsed(der), key.subjectPublicKeyInfo == der, key.isOnCurve else { return nil }
        return key
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) without validating its values.
    private static func parsed(_ der: [UInt8]) -> PublicKey? {
        var reader = DERReader(der)
        guard var info = reader.object(0x30), reader.isAtEnd, let algorithm = info.object(0x30),
            var bits = info.object(0x03), info.isAtEnd, bits.byte() == 0
        else { return nil }
        switch DERWriter.sequence(Array(algorithm.rest)) {
        case DERWriter.ed25519: return bits.rest.count == 32 ? .ed25519(Array(bits.rest)) : nil
        case DERWriter.x25519: return bits.rest.count == 32 ? .x25519(Array(bits.rest)) : nil
        case DERWriter.rsaEncryption:
            guard var key = bits.object(0x30), bits.isAtEnd, let modulus = key.number(), let exponent = key.number(),
                key.isAtEnd, modulus.count >= 128, !exponent.isEmpty
            else { return nil }
            return .rsa(modulus: modulus, exponent: exponent)
        case let other:
            let curve = VerificationKey.Curve.allCases.first {
                DERWriter.sequence(DERWriter.ecPublicKey, $0.identifier) == other
            }
            guard let curve, bits.rest.count == 1 + 2 * curve.fieldSize else { return nil }
            return .ec(curve, point: Array(bits.rest))
        }
    }

    /// Whether the point lies on its curve; true for keys without a point.
    private var isOnCurve: Bool {
        guard case .ec = self else { return true }
        return (try? OpenSSLKey(self)) != nil
    }
}
