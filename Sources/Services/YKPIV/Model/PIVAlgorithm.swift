// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// The kind of a key pair, by its identifier (NIST SP 800-78-4 Table 6-2, Yubico's additions).
public struct PIVAlgorithm: OpenSet {
    /// The algorithm identifier.
    public let rawValue: UInt8
    /// Wraps an identifier.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// RSA with 1024 bits.
    public static let rsa1024 = PIVAlgorithm(0x06)
    /// RSA with 2048 bits.
    public static let rsa2048 = PIVAlgorithm(0x07)
    /// RSA with 3072 bits.
    public static let rsa3072 = PIVAlgorithm(0x05)
    /// RSA with 4096 bits.
    public static let rsa4096 = PIVAlgorithm(0x16)
    /// NIST P-256.
    public static let p256 = PIVAlgorithm(0x11)
    /// NIST P-384.
    public static let p384 = PIVAlgorithm(0x14)
    /// Ed25519, for signing.
    public static let ed25519 = PIVAlgorithm(0xE0)
    /// X25519, for key agreement.
    public static let x25519 = PIVAlgorithm(0xE1)

    /// Every known algorithm.
    public static let known: [PIVAlgorithm] = [
        .rsa1024, .rsa2048, .rsa3072, .rsa4096, .p256, .p384, .ed25519, .x25519,
    ]

    /// Parses `rsa2048`, `ecc-p256`, `p256` or `nistp256`, `ed25519`, `x25519`, with or without hyphens, in upper or lower
    /// case; `nil` for any other string.
    public init?(_ text: String) {
        let text = text.lowercased().filter { $0 != "-" }
        let names: [String: PIVAlgorithm] = ["p256": .p256, "p384": .p384, "nistp256": .p256, "nistp384": .p384]
        guard let algorithm = names[text] ?? Self.known.first(where: { $0.description.filter { $0 != "-" } == text })
        else { return nil }
        self = algorithm
    }

    /// The algorithm of a public key; `nil` if PIV has none for it.
    public init?(_ key: PublicKey) {
        switch key {
        case .rsa(let modulus, _):
            guard let match = Self.known.first(where: { $0.modulusSize == modulus.count }) else { return nil }
            self = match
        case .ec(.p256, _): self = .p256
        case .ec(.p384, _): self = .p384
        case .ec: return nil
        case .ed25519: self = .ed25519
        case .x25519: self = .x25519
        }
    }

    /// The length of an RSA modulus in bytes; `nil` for other kinds.
    public var modulusSize: Int? {
        switch self {
        case .rsa1024: 128
        case .rsa2048: 256
        case .rsa3072: 384
        case .rsa4096: 512
        default: nil
        }
    }

    /// The curve; `nil` for other kinds.
    public var curve: VerificationKey.Curve? {
        switch self {
        case .p256: .p256
        case .p384: .p384
        default: nil
        }
    }

    /// The feature that the card must support; `nil` if every card supports the algorithm.
    var feature: PIVFeature? {
        switch self {
        case .p384: .p384
        case .rsa3072, .rsa4096: .largeRSA
        case .ed25519, .x25519: .curve25519
        default: nil
        }
    }

    /// The name on the command line, otherwise the identifier.
    public var description: String {
        switch self {
        case .p256: "ecc-p256"
        case .p384: "ecc-p384"
        case .ed25519: "ed25519"
        case .x25519: "x25519"
        case let other: other.modulusSize.map { "rsa\($0 * 8)" } ?? "algorithm \(Hex.encode([rawValue]))"
        }
    }
}
