// SPDX-License-Identifier: Apache-2.0

/// Curve parameters that are written out instead of named (SEC 1 §C.2). OpenSSL recognizes a known curve by them, but
/// ignores the cofactor, which is optional there; here it is required, and 1 as on every supported curve.
enum ExplicitCurve {
    /// - Throws: `CryptoFault` for a SubjectPublicKeyInfo whose parameters have another cofactor or none.
    static func check(publicDER der: [UInt8]) throws(CryptoFault) {
        var outer = DERReader(der)
        guard var info = outer.object(0x30), let algorithm = info.object(0x30) else { return }
        try check(algorithm: algorithm)
    }

    /// - Throws: `CryptoFault` for a PKCS#8 or SEC 1 key whose parameters have another cofactor or none.
    static func check(privateDER der: [UInt8]) throws(CryptoFault) {
        var outer = DERReader(der)
        guard var info = outer.object(0x30), info.number() != nil else { return }
        var other = info
        if let algorithm = info.object(0x30) {
            try check(algorithm: algorithm)
        } else if other.object(0x04) != nil, let parameters = other.object(0xA0) {
            try check(parameters)
        }
    }

    private static func check(algorithm: DERReader) throws(CryptoFault) {
        var content = algorithm
        guard content.object(0x06)?.rest.elementsEqual(DERWriter.ecPublicKey.dropFirst(2)) == true else { return }
        try check(content)
    }

    private static func check(_ parameters: DERReader) throws(CryptoFault) {
        var choice = parameters
        guard var curve = choice.object(0x30) else { return }
        guard curve.object(0x02) != nil, curve.object(0x30) != nil, curve.object(0x30) != nil,
            curve.object(0x04) != nil, curve.object(0x02) != nil, curve.number() == [1]
        else { throw CryptoFault("curve parameters without the right cofactor") }
    }
}
