// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// An algorithm's number (TPM 2.0 Library, Part 2 §6.3, TPM_ALG_ID).
struct TPMAlgorithm: OpenSet {
    let rawValue: UInt16
    init(rawValue: UInt16) { self.rawValue = rawValue }

    static let rsa = TPMAlgorithm(rawValue: 0x0001)
    static let null = TPMAlgorithm(rawValue: 0x0010)
    static let rsaES = TPMAlgorithm(rawValue: 0x0015)
    static let ecDAA = TPMAlgorithm(rawValue: 0x001A)
    static let ecc = TPMAlgorithm(rawValue: 0x0023)

    /// The hash function; `nil` for other or unknown algorithms.
    var hash: HashAlgorithm? {
        switch rawValue {
        case 0x0004: .sha1
        case 0x000B: .sha256
        case 0x000C: .sha384
        case 0x000D: .sha512
        default: nil
        }
    }
}

/// The name of an object: the algorithm of a hash, and the hash of its public area (TPM 2.0 Library, Part 1 §16).
struct TPMName: Hashable, Sendable {
    let bytes: [UInt8]

    /// The name of a public area; `nil` if its name algorithm is not a known hash.
    init?(of area: TPMPublicArea) {
        guard let hash = area.nameAlgorithm.hash else { return nil }
        let number = area.nameAlgorithm.rawValue
        bytes = [UInt8(number >> 8), UInt8(number & 0xFF)] + hash.hash(area.bytes)
    }

    init(bytes: [UInt8]) { self.bytes = bytes }
}
