// SPDX-License-Identifier: Apache-2.0

extension PublicKey {
    /// Reads a key in the form that this package writes, as nearly all keys are; returns `nil` for all others. OpenSSL only
    /// checks points: its decoders take longer than some security keys do to answer.
    static func common(_ der: [UInt8]) -> PublicKey? {
        guard let key = parsed(der), key.subjectPublicKeyInfo == der, key.isPoint else { return nil }
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
            guard let curve = VerificationKey.Curve.of(algorithm: other), bits.rest.count == 1 + 2 * curve.fieldSize
            else { return nil }
            return .ec(curve, point: Array(bits.rest))
        }
    }

}

extension PublicKey {
    /// Whether the key is a point on its curve (SEC 1 §3.2.2, RFC 8032 §5.1.3). True for RSA, and for X25519, where any
    /// bytes are a key (RFC 7748 §5).
    public var isPoint: Bool {
        switch self {
        case .rsa, .x25519: true
        case .ec, .ed25519: (try? OpenSSLKey(self)) != nil
        }
    }
}
