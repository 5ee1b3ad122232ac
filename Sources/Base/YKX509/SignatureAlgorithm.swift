// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
import YKWire

/// An algorithm that signs certificates and requests (RFC 8017 §A.2.4, RFC 5758 §3.2, RFC 8410 §3).
package struct SignatureAlgorithm: Hashable, Sendable {
    /// The kinds.
    package enum Kind: Hashable, Sendable {
        case rsa
        case ecdsa
        case ed25519
    }

    /// The kind.
    package let kind: Kind
    /// The hash; ignored for Ed25519.
    package let hash: HashAlgorithm

    /// The signature algorithm of a kind of key; `nil` for keys that do not sign.
    package init?(_ key: PublicKey, _ hash: HashAlgorithm) {
        switch key {
        case .rsa: kind = .rsa
        case .ec: kind = .ecdsa
        case .ed25519: kind = .ed25519
        case .x25519: return nil
        }
        self.hash = kind == .ed25519 ? .sha512 : hash
    }

    private init(_ kind: Kind, _ hash: HashAlgorithm) {
        self.kind = kind
        self.hash = hash
    }

    /// Reads an AlgorithmIdentifier, DER; `nil` for an unknown one. Its parameters may be NULL or absent, whichever it
    /// should have (RFC 4055 §5): Yubico's authorities of 2025 leave them out with RSA.
    init?(der: [UInt8]) {
        let name = Self.name(in: der)
        guard name != nil, let match = Self.identifiers.first(where: { Self.name(in: $0.1) == name })?.0 else {
            return nil
        }
        self = match
    }

    /// The identifier in an AlgorithmIdentifier; `nil` if it has parameters other than NULL.
    private static func name(in der: [UInt8]) -> [UInt8]? {
        guard let outer = try? TLV.list(der), outer.count == 1, outer[0].tag == 0x30,
            let parts = try? TLV.list(outer[0].value), let name = parts.first, name.tag == 0x06,
            parts.count == 1 || parts.count == 2 && parts[1] == TLV(0x05, [])
        else { return nil }
        return name.value
    }

    /// The AlgorithmIdentifier, DER.
    package var der: [UInt8] { Self.identifiers.first { $0.0 == self }?.1 ?? [] }

    private static let identifiers: [(SignatureAlgorithm, [UInt8])] = [
        (SignatureAlgorithm(.rsa, .sha1), rsa(0x05)), (SignatureAlgorithm(.rsa, .sha256), rsa(0x0B)),
        (SignatureAlgorithm(.rsa, .sha384), rsa(0x0C)), (SignatureAlgorithm(.rsa, .sha512), rsa(0x0D)),
        (SignatureAlgorithm(.ecdsa, .sha1), ecdsa([0x01])), (SignatureAlgorithm(.ecdsa, .sha256), ecdsa([0x03, 0x02])),
        (SignatureAlgorithm(.ecdsa, .sha384), ecdsa([0x03, 0x03])),
        (SignatureAlgorithm(.ecdsa, .sha512), ecdsa([0x03, 0x04])),
        (SignatureAlgorithm(.ed25519, .sha512), TLV(0x30, TLV(0x06, [0x2B, 0x65, 0x70]).encoded).encoded),
    ]

    private static func rsa(_ last: UInt8) -> [UInt8] {
        let name: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, last]
        return TLV(0x30, TLV(0x06, name).encoded + [0x05, 0x00]).encoded
    }

    private static func ecdsa(_ last: [UInt8]) -> [UInt8] {
        TLV(0x30, TLV(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04] + last).encoded).encoded
    }
}
