// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension COSEKey {
    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), DER: points on P-256, P-384, P-521 and secp256k1, Ed25519,
    /// Ed448 and RSA. It does not specify the signature algorithm, for which FIDO's algorithm for such a key is
    /// assumed, and SHA-256 for RSA.
    public init(subjectPublicKeyInfo der: [UInt8]) throws(WireError) {
        var outer = ByteReader(der)
        var info = try outer.tlv(0x30, "the public key")
        try outer.finish("the public key")
        var algorithm = try info.tlv(0x30, "the algorithm")
        var identifier = try algorithm.tlv(0x06, "the algorithm's identifier")
        let name = identifier.rest()
        var curve: [UInt8] = []
        if algorithm.peek == 0x06 {
            var parameters = try algorithm.tlv(0x06, "the curve")
            curve = parameters.rest()
        }
        let place = info.offset
        var bits = try info.tlv(0x03, "the bits of the key")
        guard try bits.byte("the unused bits") == 0 else { throw WireError(.malformed, at: place, "unused bits") }
        self = try Self.key(name, curve, bits)
    }

    private static func key(_ name: [UInt8], _ curve: [UInt8], _ bits: ByteReader) throws(WireError) -> COSEKey {
        var bits = bits
        switch name {
        case [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]: return try point(curve, &bits)
        case [0x2B, 0x65, 0x70]: return COSEKey(okp: .ed25519, algorithm: .edDSA, x: bits.rest())
        case [0x2B, 0x65, 0x71]: return COSEKey(okp: .ed448, algorithm: .ed448, x: bits.rest())
        case [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]:
            var key = try bits.tlv(0x30, "the RSA key")
            var modulus = try key.tlv(0x02, "the modulus")
            var exponent = try key.tlv(0x02, "the exponent")
            return COSEKey(
                rsaModulus: Array(modulus.rest().drop { $0 == 0 }), exponent: Array(exponent.rest().drop { $0 == 0 }),
                algorithm: .rs256)
        default: throw WireError(.malformed, at: 0, "a public key of an unknown algorithm")
        }
    }

    private static func point(_ curve: [UInt8], _ bits: inout ByteReader) throws(WireError) -> COSEKey {
        let known: [[UInt8]: (COSECurve, COSEAlgorithm)] = [
            [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]: (.p256, .es256),
            [0x2B, 0x81, 0x04, 0x00, 0x22]: (.p384, .es384), [0x2B, 0x81, 0x04, 0x00, 0x23]: (.p521, .es512),
            [0x2B, 0x81, 0x04, 0x00, 0x0A]: (.secp256k1, .es256K),
        ]
        guard let (name, algorithm) = known[curve], let size = name.coordinateSize else {
            throw WireError(.malformed, at: 0, "a public key on an unknown curve")
        }
        let start = bits.offset
        guard try bits.byte("the form of the point") == 0x04, bits.remaining == 2 * size else {
            throw WireError(.malformed, at: start, "the point is not written uncompressed")
        }
        let x = try bits.bytes(size)
        return COSEKey(ec2: name, algorithm: algorithm, x: x, y: try bits.bytes(size))
    }
}
