// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The public part of an object (TPM 2.0 Library, Part 2 §12.2.4, TPMT_PUBLIC).
struct TPMPublicArea: Hashable, Sendable {
    /// The bytes as received, over which the name is calculated.
    let bytes: [UInt8]
    /// The hash function of the name.
    let nameAlgorithm: TPMAlgorithm
    /// The attributes, as bits (TPMA_OBJECT).
    let attributes: UInt32
    /// The policy for its use.
    let policy: [UInt8]
    /// The public key.
    let key: Key

    /// A public key.
    enum Key: Hashable, Sendable {
        /// An RSA modulus and exponent.
        case rsa(modulus: [UInt8], exponent: UInt32)
        /// A point on a curve (TPM_ECC_CURVE).
        case ecc(curve: UInt16, x: [UInt8], y: [UInt8])
    }

    /// Returns whether this is the same key as the COSE key; leading zeros are ignored.
    func isKey(_ other: COSEKey) -> Bool {
        func plain(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array(bytes.drop { $0 == 0 }) }
        switch (key, other.material) {
        case (.rsa(let modulus, let exponent), .rsa(let otherModulus, let otherExponent)):
            let number = otherExponent.count > 8 ? nil : otherExponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return plain(modulus) == plain(otherModulus) && number == UInt64(exponent)
        case (.ecc(let curve, let x, let y), .ec2(let otherCurve, let otherX, let otherY)):
            return Self.curves[curve] == otherCurve && plain(x) == plain(otherX) && plain(y) == plain(otherY)
        default: return false
        }
    }

    /// Part 4 §4.1 of the TCG Algorithm Registry.
    private static let curves: [UInt16: COSECurve] = [0x0003: .p256, 0x0004: .p384, 0x0005: .p521]
}
