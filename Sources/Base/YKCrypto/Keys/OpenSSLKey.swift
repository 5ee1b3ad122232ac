// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// An OpenSSL key handle, freed on deinit. OpenSSL does not change a key once it is made.
final class OpenSSLKey: Sendable {
    nonisolated(unsafe) let handle: ykit_key

    init(_ handle: ykit_key?, _ what: @autoclosure () -> String) throws(CryptoFault) {
        guard let handle else { throw OpenSSL.fault(what()) }
        self.handle = handle
    }

    /// Reads a private key: PKCS#8, PKCS#1 or SEC 1.
    convenience init(privateDER bytes: [UInt8]) throws(CryptoFault) {
        try ExplicitCurve.check(privateDER: bytes)
        try self.init(ykit_key_private(bytes, bytes.count), "not a private key")
    }

    /// Reads a SubjectPublicKeyInfo.
    convenience init(publicDER bytes: [UInt8]) throws(CryptoFault) {
        try ExplicitCurve.check(publicDER: bytes)
        try self.init(ykit_key_public(bytes, bytes.count), "not a public key")
    }

    /// Takes a public key in its parts.
    convenience init(_ key: PublicKey) throws(CryptoFault) {
        let handle =
            switch key {
            case .rsa(let modulus, let exponent):
                ykit_key_modulus(modulus, modulus.count, exponent, exponent.count)
            case .ec(let curve, let point): ykit_key_point(curve.openSSLName, point, point.count)
            case .ed25519(let bytes): ykit_key_raw("ED25519", bytes, bytes.count)
            case .x25519(let bytes): ykit_key_raw("X25519", bytes, bytes.count)
            }
        try self.init(handle, "not a public key")
    }

    deinit { ykit_key_free(handle) }

    func number(_ name: String, room: Int = 1024) throws(CryptoFault) -> [UInt8] {
        try OpenSSL.output(room, "the key has no \(name)") { ykit_key_number(handle, name, $0, $1) }
    }

    func bytes(_ name: String) throws(CryptoFault) -> [UInt8] {
        try OpenSSL.output(1024, "the key has no \(name)") { ykit_key_bytes(handle, name, $0, $1) }
    }

    func text(_ read: (ykit_key?, UnsafeMutablePointer<CChar>?, Int) -> Int) throws(CryptoFault) -> String {
        let bytes = try OpenSSL.output(64, "a key of an unknown kind") { buffer, room in
            buffer?.withMemoryRebound(to: CChar.self, capacity: room) { read(handle, $0, room) } ?? -1
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a signature over a message was made by the matching private key; `hash` is `nil` for Ed25519 and Ed448.
    func isValid(
        _ signature: [UInt8], for message: [UInt8], _ hash: HashAlgorithm?, padding: Int = YKIT_DEFAULT_PADDING
    ) -> Bool {
        ykit_key_verify(
            handle, hash?.openSSLName, Int32(padding), signature, signature.count, message, message.count) == 1
    }
}

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
