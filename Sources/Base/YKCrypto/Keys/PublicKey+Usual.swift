// SPDX-License-Identifier: Apache-2.0

import Crypto

extension PublicKey {
    /// A key in the form that this package writes itself, which nearly all keys have: read without OpenSSL, which takes
    /// longer to load than a key to answer. `nil` for all others.
    static func usual(_ der: [UInt8]) -> PublicKey? {
        candidates(der).first { $0.subjectPublicKeyInfo == der && $0.isOnCurve }
    }

    /// The keys that these bytes may be the end of.
    private static func candidates(_ der: [UInt8]) -> [PublicKey] {
        switch der.count {
        case 44: [.ed25519(Array(der.suffix(32))), .x25519(Array(der.suffix(32)))]
        case 91: [.ec(.p256, point: Array(der.suffix(65)))]
        case 120: [.ec(.p384, point: Array(der.suffix(97)))]
        case 158: [.ec(.p521, point: Array(der.suffix(133)))]
        default:
            [1024, 2048, 3072, 4096].map { bits in
                .rsa(modulus: Array(der.dropLast(5).suffix(bits / 8)), exponent: [1, 0, 1])
            }
        }
    }

    /// Whether the point of a NIST curve is one; true for keys without a point, false for other curves.
    private var isOnCurve: Bool {
        guard case .ec(let curve, let point) = self else { return true }
        return switch curve {
        case .p256: (try? P256.Signing.PublicKey(x963Representation: point)) != nil
        case .p384: (try? P384.Signing.PublicKey(x963Representation: point)) != nil
        case .p521: (try? P521.Signing.PublicKey(x963Representation: point)) != nil
        case .secp256k1, .brainpoolP256, .brainpoolP384, .brainpoolP512: false
        }
    }
}
