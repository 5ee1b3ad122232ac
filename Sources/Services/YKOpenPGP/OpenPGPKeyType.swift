// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The type of a slot's key.
public enum OpenPGPKeyType: Sendable, Hashable, CustomStringConvertible {
    /// RSA with a modulus of this many bits.
    case rsa(bits: Int)
    /// ECDSA or ECDH on a curve.
    case curve(VerificationKey.Curve)
    /// Ed25519 (RFC 8032).
    case ed25519
    /// X25519 (RFC 7748).
    case x25519

    /// The types that cards are known to support.
    public static let known: [OpenPGPKeyType] =
        [2048, 3072, 4096].map { .rsa(bits: $0) } + VerificationKey.Curve.allCases.map { .curve($0) }
        + [.ed25519, .x25519]

    /// Parses a name: `rsa2048`, `ecc-p256` or `p256`, `ed25519`, `x25519`, `brainpoolP256r1`, `secp256k1`, or GnuPG's
    /// (`nistp256`, `cv25519`); `nil` for any other string.
    public init?(_ text: String) {
        let text = text.lowercased().filter { $0 != "-" }
        let others: [String: OpenPGPKeyType] = [
            "p256": .curve(.p256), "p384": .curve(.p384), "p521": .curve(.p521), "nistp256": .curve(.p256),
            "nistp384": .curve(.p384), "nistp521": .curve(.p521), "cv25519": .x25519,
        ]
        guard
            let type = others[text]
                ?? Self.known.first(where: { known in
                    known.description.lowercased().filter { $0 != "-" } == text
                })
        else { return nil }
        self = type
    }

    /// The type of a public key.
    public init(_ key: PublicKey) {
        switch key {
        case .rsa(let modulus, _): self = .rsa(bits: modulus.count * 8)
        case .ec(let curve, _): self = .curve(curve)
        case .ed25519: self = .ed25519
        case .x25519: self = .x25519
        }
    }

    /// The type of the attributes; `nil` if they are unknown. Some firmware reports X25519 as EdDSA.
    public init?(_ algorithm: OpenPGPAlgorithm) {
        switch algorithm {
        case .rsa(let bits): self = .rsa(bits: bits)
        case .curve(_, let identifier):
            guard let type = Self.known.first(where: { $0.identifier == identifier }) else { return nil }
            self = type
        case .other: return nil
        }
    }

    /// The name.
    public var description: String {
        switch self {
        case .rsa(let bits): "rsa\(bits)"
        case .ed25519: "ed25519"
        case .x25519: "x25519"
        case .curve(let curve):
            switch curve {
            case .p256: "ecc-p256"
            case .p384: "ecc-p384"
            case .p521: "ecc-p521"
            case .secp256k1: "secp256k1"
            case .brainpoolP256: "brainpoolP256r1"
            case .brainpoolP384: "brainpoolP384r1"
            case .brainpoolP512: "brainpoolP512r1"
            }
        }
    }

    /// Whether a slot can hold such a key: Ed25519 signs, X25519 decrypts, and neither attests.
    public func fits(_ slot: OpenPGPSlot) -> Bool {
        switch self {
        case .ed25519: slot == .signature || slot == .authentication
        case .x25519: slot == .decryption
        default: true
        }
    }

    /// The curve's object identifier without tag and length; `nil` for RSA.
    var identifier: [UInt8]? {
        switch self {
        case .rsa: nil
        case .curve(let curve): curve.objectIdentifier
        case .ed25519: [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01]
        case .x25519: [0x2B, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01]
        }
    }

    /// The attributes for a slot (§4.4.3.9); `list` has those of the card's algorithm information, which show the form
    /// that the card accepts.
    func attributes(for slot: OpenPGPSlot, among list: [[UInt8]]) -> [UInt8] {
        switch self {
        case .rsa(let bits):
            let standard: [UInt8] = [
                0x01, UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits), 0, 0x20, 0,
            ]
            // The form with the most numbers: a card that lists several may support only that one (§4.4.3.9).
            return list.filter { $0.count >= 5 && $0.starts(with: standard[..<3]) }
                .max { ($0.count > 5 ? $0[5] : 0) < ($1.count > 5 ? $1[5] : 0) } ?? standard
        case .curve, .ed25519, .x25519:
            let kind: UInt8 = self == .ed25519 ? 0x16 : slot == .decryption ? 0x12 : 0x13
            let standard = [kind] + (identifier ?? [])
            return list.first { $0.starts(with: standard) } ?? standard
        }
    }
}

/// A key of the card as OpenPGP identifies it.
public struct OpenPGPPublicKey: Hashable, Sendable {
    /// The key itself.
    public let key: PublicKey
    /// When it was generated, in seconds since 1970; part of the fingerprint.
    public let created: Int64
    /// The version 4 fingerprint (RFC 4880 §12.2), 20 bytes.
    public let fingerprint: [UInt8]

    /// Calculates the fingerprint of a key in a slot.
    ///
    /// - Parameter created: Seconds since 1970, clamped to the four bytes that OpenPGP has for them.
    public init(_ key: PublicKey, in slot: OpenPGPSlot, created: Int64) {
        self.key = key
        self.created = Int64(UInt32(clamping: created))
        algorithmNumber = Self.number(key, slot)
        let body = [0x04] + Self.time(created) + [algorithmNumber] + Self.material(key, slot)
        let length = [UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)]
        fingerprint = HashAlgorithm.sha1.hash([0x99] + length + body)
    }

    /// A time in seconds since 1970 as four bytes (RFC 9580 §3.5), clamped.
    static func time(_ seconds: Int64) -> [UInt8] {
        let seconds = UInt32(clamping: seconds)
        return (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * UInt32($0))) }
    }

    /// The number of the algorithm (RFC 9580 §9.1): RSA, ECDH, ECDSA or EdDSA.
    let algorithmNumber: UInt8

    private static func number(_ key: PublicKey, _ slot: OpenPGPSlot) -> UInt8 {
        switch key {
        case .rsa: 0x01
        case .ec: slot == .decryption ? 0x12 : 0x13
        case .ed25519: 0x16
        case .x25519: 0x12
        }
    }

    /// The key's integers (RFC 4880 §5.5.2, RFC 6637 §9).
    private static func material(_ key: PublicKey, _ slot: OpenPGPSlot) -> [UInt8] {
        let type = OpenPGPKeyType(key)
        switch key {
        case .rsa(let modulus, let exponent): return integer(modulus) + integer(exponent)
        case .ec(let curve, let point):
            return named(type) + integer(point) + (slot == .decryption ? derivation(curve.fieldSize) : [])
        case .ed25519(let bytes): return named(type) + integer([0x40] + bytes)
        case .x25519(let bytes): return named(type) + integer([0x40] + bytes) + derivation(32)
        }
    }

    private static func named(_ type: OpenPGPKeyType) -> [UInt8] {
        let identifier = type.identifier ?? []
        return [UInt8(truncatingIfNeeded: identifier.count)] + identifier
    }

    /// The hash and cipher of ECDH, as chosen by GnuPG; the fingerprint depends on them.
    private static func derivation(_ size: Int) -> [UInt8] {
        size <= 32 ? [0x03, 0x01, 0x08, 0x07] : size <= 48 ? [0x03, 0x01, 0x09, 0x09] : [0x03, 0x01, 0x0A, 0x09]
    }

    /// A multiprecision integer (RFC 4880 §3.2).
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        let bits = digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
        return [UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits)] + digits
    }
}
