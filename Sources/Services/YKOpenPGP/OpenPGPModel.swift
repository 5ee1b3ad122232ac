// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A key slot of the card (OpenPGP card 3.4 §4.4.1); the fourth is Yubico's.
public enum OpenPGPSlot: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Creates OpenPGP signatures.
    case signature
    /// Decrypts, or performs a key agreement.
    case decryption
    /// Authenticates, as SSH does.
    case authentication
    /// Signs attestations of the other keys.
    case attestation

    /// The usual short name.
    public var description: String {
        switch self {
        case .signature: "signature"
        case .decryption: "decryption"
        case .authentication: "authentication"
        case .attestation: "attestation"
        }
    }
}

/// The identity of a card, from its AID (§4.2.1).
public struct OpenPGPIdentity: Sendable, Hashable {
    /// The version of the specification: two decimal numbers.
    public let version: String
    /// The number of the manufacturer.
    public let manufacturer: UInt16
    /// The serial number as the four bytes of the AID.
    public let serialBytes: [UInt8]

    /// The serial number in decimal if the bytes are decimal digits and the manufacturer uses that form, otherwise in
    /// hexadecimal.
    public var serial: String {
        let digits = serialBytes.flatMap { [$0 >> 4, $0 & 15] }
        guard manufacturer == Self.yubico, digits.allSatisfy({ $0 < 10 }) else { return hex }
        return String(digits.reduce(0) { $0 * 10 + Int($1) })
    }

    private var hex: String {
        serialBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.reduce("") { $0 + $1 }
    }

    static let yubico: UInt16 = 6
    static let canokeys: UInt16 = 0xF1D0
    static let fsij: UInt16 = 0xF517

    /// The manufacturer's name, if known.
    public var manufacturerName: String? {
        switch manufacturer {
        case 0x0001: "PPC Card Systems"
        case 0x0005: "ZeitControl"
        case Self.yubico: "Yubico"
        case 0x000B: "Feitian"
        case 0x000F: "Nitrokey"
        case 0x0011: "Token2"
        case 0xF1D0: "CanoKeys"
        case 0xF517: "FSIJ"
        case 0xFF00...0xFFFE: "unmanaged serial numbers"
        case 0x0000, 0xFFFF: "test card"
        default: nil
        }
    }
}

/// Algorithm attributes (§4.4.3.9).
public enum OpenPGPAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// RSA, with the length of the modulus in bits.
    case rsa(bits: Int)
    /// A curve by its object identifier, without tag and length; `kind` is 12 (ECDH), 13 (ECDSA) or 16 (EdDSA), in
    /// hexadecimal.
    case curve(kind: UInt8, identifier: [UInt8])
    /// Unknown attributes.
    case other([UInt8])

    private static let curves: [([UInt8], String)] = [
        ([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], "ecc-p256"), ([0x2B, 0x81, 0x04, 0x00, 0x22], "ecc-p384"),
        ([0x2B, 0x81, 0x04, 0x00, 0x23], "ecc-p521"), ([0x2B, 0x81, 0x04, 0x00, 0x0A], "secp256k1"),
        ([0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07], "brainpoolP256r1"),
        ([0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0B], "brainpoolP384r1"),
        ([0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0D], "brainpoolP512r1"),
        ([0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01], "ed25519"),
        ([0x2B, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01], "x25519"),
    ]

    /// Reads the value of C1, C2, C3 or DA. Bytes after a known curve are ignored: a format byte, or leftovers of some
    /// firmware.
    public init(attributes bytes: [UInt8]) {
        switch bytes.first {
        case 0x01 where bytes.count >= 5: self = .rsa(bits: Int(bytes[1]) << 8 | Int(bytes[2]))
        case 0x12, 0x13, 0x16:
            let rest = Array(bytes.dropFirst())
            let known = Self.curves.first { rest.starts(with: $0.0) }?.0
            self = .curve(kind: bytes[0], identifier: known ?? rest)
        default: self = .other(bytes)
        }
    }

    /// The name used by GnuPG, otherwise the bytes.
    public var description: String {
        switch self {
        case .rsa(let bits): "rsa\(bits)"
        case .curve(_, let identifier):
            Self.curves.first { $0.0 == identifier }?.1 ?? "curve of an unknown identifier"
        case .other: "unknown"
        }
    }
}

/// When a key requires a touch (§4.4.3.10; the cached ones are Yubico's).
public struct OpenPGPTouchPolicy: OpenSet {
    /// The first byte of the UIF object.
    public let rawValue: UInt8
    /// Wraps the first byte of the UIF object.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No touch.
    public static let off = OpenPGPTouchPolicy(rawValue: 0)
    /// A touch for each use.
    public static let on = OpenPGPTouchPolicy(rawValue: 1)
    /// The same, until the key is replaced or the application reset.
    public static let fixed = OpenPGPTouchPolicy(rawValue: 2)
    /// A touch is valid for 15 seconds (Yubico).
    public static let cached = OpenPGPTouchPolicy(rawValue: 3)
    /// The same, until the key is replaced or the application reset (Yubico).
    public static let cachedFixed = OpenPGPTouchPolicy(rawValue: 4)

    /// Whether it cannot be changed.
    public var isFixed: Bool { self == .fixed || self == .cachedFixed }

    /// The usual name, otherwise the number.
    public var description: String {
        let names = ["off", "on", "fixed", "cached", "cached-fixed"]
        return Int(rawValue) < names.count ? names[Int(rawValue)] : "policy \(rawValue)"
    }
}

/// The origin of a key (§4.4.3.8).
public struct OpenPGPKeyOrigin: OpenSet {
    /// The state byte.
    public let rawValue: UInt8
    /// Wraps a state byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No key.
    public static let none = OpenPGPKeyOrigin(rawValue: 0)

    /// In words.
    public var description: String {
        switch rawValue {
        case 0: "none"
        case 1: "generated"
        case 2: "imported"
        default: "state \(rawValue)"
        }
    }
}

/// A key of the card, as far as the card reports it.
public struct OpenPGPKeyInfo: Sendable, Hashable {
    /// Its slot.
    public let slot: OpenPGPSlot
    /// The algorithm of the slot's current or future key.
    public let algorithm: OpenPGPAlgorithm?
    /// The version 4 fingerprint, 20 bytes; `nil` if none is stored.
    public let fingerprint: [UInt8]?
    /// When it was generated, in seconds since 1970; `nil` if no time is stored.
    public let created: Int64?
    /// Its origin; `nil` on cards that do not report it.
    public let origin: OpenPGPKeyOrigin?
    /// When it requires a touch; `nil` on cards without touch policies.
    public let touch: OpenPGPTouchPolicy?
}

/// The PINs of the card (C4, §4.4.3.7).
public struct OpenPGPPINStatus: Sendable, Hashable {
    /// Whether each signature requires the PIN again.
    public let signatureNeedsPIN: Bool
    /// The remaining retries of the user PIN, the reset code and the admin PIN.
    public let retries: (user: Int, reset: Int, admin: Int)
    /// The maximum length of each in bytes.
    public let limits: (user: Int, reset: Int, admin: Int)

    /// The remaining retries of one of them.
    func left(_ reference: OpenPGPKDF.Reference) -> Int {
        switch reference {
        case .user: retries.user
        case .reset: retries.reset
        case .admin: retries.admin
        }
    }

    /// Whether all numbers are the same.
    public static func == (left: OpenPGPPINStatus, right: OpenPGPPINStatus) -> Bool {
        left.signatureNeedsPIN == right.signatureNeedsPIN && left.retries == right.retries
            && left.limits == right.limits
    }

    /// Hashes the numbers that change.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(signatureNeedsPIN)
        hasher.combine(retries.user)
        hasher.combine(retries.admin)
    }
}

/// Application related data (6E, §4.4.3.1).
public struct OpenPGPStatus: Sendable, Hashable {
    /// The card's identity.
    public let identity: OpenPGPIdentity
    /// The PINs and their retries.
    public let pins: OpenPGPPINStatus
    /// The keys: three slots, and a fourth for attestation on some cards.
    public let keys: [OpenPGPKeyInfo]
    /// The extended capabilities (C0), as stored.
    public let capabilities: [UInt8]
    /// The fingerprints of up to three trusted keys (C6), 20 bytes each; `nil` for an empty entry. Cards differ in
    /// which of them belongs to which slot.
    public let caFingerprints: [[UInt8]?]
    /// The status indicator of the historical bytes (§6); `nil` if they have none.
    public let lifeCycle: UInt8?

    /// Whether the historical bytes are those of Gnuk (its `openpgp-do.c`): the card capabilities differ from other cards'.
    let isGnuk: Bool

    /// Whether the card may be terminated and activated, which is what a reset consists of: the status indicator is 3 or 5,
    /// or there is none.
    public var hasLifeCycle: Bool { lifeCycle.map { $0 == 3 || $0 == 5 } ?? true }
    /// Whether PINs may be sent as hashes (KDF-DO, §4.3.2).
    public var supportsKDF: Bool { (capabilities.first ?? 0) & 0x01 != 0 }
    /// Whether algorithm attributes can be changed.
    public var changesAlgorithms: Bool { (capabilities.first ?? 0) & 0x04 != 0 }
    /// Whether the card generates random bytes (GET CHALLENGE).
    public var givesRandomBytes: Bool { (capabilities.first ?? 0) & 0x40 != 0 }
    /// Whether keys can be imported.
    public var supportsImport: Bool { (capabilities.first ?? 0) & 0x20 != 0 }
}

/// The cardholder (65, 5E, 5F50); `nil` for data that is not stored.
public struct OpenPGPCardholder: Sendable, Hashable {
    /// The name, stored as `Surname<<Given<Name`, in display order.
    public let name: String?
    /// Language codes of two letters.
    public let languages: [String]
    /// The login name.
    public let login: String?
    /// The URL of the public key.
    public let url: String?
}
