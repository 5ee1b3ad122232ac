// SPDX-License-Identifier: Apache-2.0

import COpenSSL

extension VerificationKey {
    /// ECDSA on secp256k1 with SHA-256; the signature is DER. `point` is 04, x, y.
    ///
    /// - Throws: `CryptoFault` when the point is not on the curve; `noOpenSSL` when OpenSSL is not installed.
    public init(secp256k1 point: [UInt8]) throws(CryptoFault) {
        guard point.count == 65, point.first == 0x04 else { throw CryptoFault("ECDSA: not a point on secp256k1") }
        try self.init(subjectPublicKeyInfo: Self.secp256k1Head + point, hashed: true, "secp256k1")
    }

    /// Ed448 (RFC 8032 §5.2); the key is 57 bytes, the signature 114.
    ///
    /// - Throws: `CryptoFault` when the key is invalid or a point of small order; `noOpenSSL` when OpenSSL is not installed.
    public init(ed448 bytes: [UInt8]) throws(CryptoFault) {
        guard bytes.count == 57 else { throw CryptoFault("Ed448: not a public key") }
        guard !SmallOrder.contains(ed448: bytes) else { throw CryptoFault("Ed448: a point of small order") }
        try self.init(subjectPublicKeyInfo: Self.ed448Head + bytes, hashed: false, "Ed448")
    }

    /// SubjectPublicKeyInfo up to the point: ecPublicKey, secp256k1, a bit string of 65 bytes (RFC 5480 §2).
    private static let secp256k1Head: [UInt8] =
        [0x30, 0x56, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        + [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A, 0x03, 0x42, 0x00]

    /// SubjectPublicKeyInfo up to the key: id-Ed448, a bit string of 57 bytes (RFC 8410 §4).
    private static let ed448Head: [UInt8] =
        [0x30, 0x43, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x71, 0x03, 0x3A, 0x00]

    private init(subjectPublicKeyInfo der: [UInt8], hashed: Bool, _ name: String) throws(CryptoFault) {
        try OpenSSLKey.requireLibrary()
        guard (try? OpenSSLKey(publicDER: der)) != nil else { throw CryptoFault("\(name): not a public key") }
        self.init { signature, message in
            guard let key = try? OpenSSLKey(publicDER: der) else { return false }
            return ykit_key_verify(
                key.handle, hashed ? "SHA256" : nil, 0, signature, signature.count, message, message.count) == 1
        }
    }
}
