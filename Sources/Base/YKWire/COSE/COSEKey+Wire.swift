// SPDX-License-Identifier: Apache-2.0

extension COSEKey {
    /// The key in CTAP2's canonical form.
    public var encoded: [UInt8] { CBOR.map(map).encoded }

    /// Decodes exactly one key. The lengths of coordinates are checked; whether the point lies on its curve is not.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        try self.init(CBOR.Fields(decoding: bytes, "the public key"))
    }

    /// Reads a key from a decoded map.
    public init(_ fields: CBOR.Fields) throws(WireError) {
        let type = try fields.required(1, .int)
        algorithm = try fields.optional(3, .int).map(COSEAlgorithm.init(rawValue:))
        map = fields.map
        switch type {
        case 2:
            let curve = COSECurve(rawValue: try fields.required(-1, .int))
            let y = try fields.required(-3, .bytes)
            material = .ec2(curve: curve, x: try fields.required(-2, .bytes), y: y)
            try Self.check(y, of: curve, fields, -3)
        case 1:
            material = .okp(
                curve: COSECurve(rawValue: try fields.required(-1, .int)), x: try fields.required(-2, .bytes))
        case 3:
            material = .rsa(modulus: try fields.required(-1, .bytes), exponent: try fields.required(-2, .bytes))
        default: material = .other(type: type)
        }
        switch material {
        case .ec2(let curve, let x, _), .okp(let curve, let x): try Self.check(x, of: curve, fields, -2)
        case .rsa(let modulus, let exponent):
            guard (64...2048).contains(modulus.count), (1...8).contains(exponent.count) else {
                throw WireError(
                    .malformed, at: fields.place(of: -1)?.lowerBound ?? 0,
                    "an RSA key of \(modulus.count) and \(exponent.count) bytes")
            }
        case .other: break
        }
    }

    private static func check(
        _ coordinate: [UInt8], of curve: COSECurve, _ fields: CBOR.Fields, _ key: CBOR
    ) throws(WireError) {
        guard let size = curve.coordinateSize, coordinate.count != size else { return }
        throw WireError(
            .malformed, at: fields.place(of: key)?.lowerBound ?? 0,
            "key \(key) of the public key: a coordinate of \(coordinate.count) bytes, \(curve) has \(size)")
    }
}
