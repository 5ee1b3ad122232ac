// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// The origin of a key (Yubico).
public struct KeyOrigin: OpenSet {
    /// The code.
    public let rawValue: UInt8
    /// Wraps a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Generated on the card.
    public static let generated = KeyOrigin(rawValue: 1)
    /// Imported.
    public static let imported = KeyOrigin(rawValue: 2)

    /// Whether it is one of the above.
    var isKnown: Bool { self == .generated || self == .imported }

    /// The name, otherwise the code.
    public var description: String { [1: "generated", 2: "imported"][rawValue] ?? "origin \(rawValue)" }
}

/// Metadata of the key in a slot (Yubico GET METADATA).
public struct SlotMetadata: Hashable, Sendable {
    /// The algorithm.
    public let algorithm: PIVAlgorithm
    /// The PIN and touch policies.
    public let policies: KeyPolicies
    /// Its origin; `nil` if the card does not report it.
    public let origin: KeyOrigin?
    /// The public key; `nil` if the card does not report it, or its kind is unknown.
    public let publicKey: PublicKey?
}

/// Metadata of the PIN or PUK.
public struct PINMetadata: Hashable, Sendable {
    /// Whether it is the default; `nil` if the card does not report it.
    public let isDefault: Bool?
    /// The retry limit; `nil` if the card does not report it.
    public let triesTotal: Int?
    /// The remaining retries.
    public let triesLeft: Int

    /// Whether no retries are left.
    public var isBlocked: Bool { triesLeft == 0 }
}

/// Metadata of the management key.
public struct ManagementKeyMetadata: Hashable, Sendable {
    /// The cipher.
    public let type: ManagementKeyType
    /// Whether it is the default; `nil` if the card does not report it.
    public let isDefault: Bool?
    /// The touch policy.
    public let touch: TouchPolicy
}

/// Metadata of fingerprints.
public struct FingerprintMetadata: Hashable, Sendable {
    /// Whether fingerprints are enrolled.
    public let isConfigured: Bool
    /// The remaining retries.
    public let triesLeft: Int
    /// Whether a temporary PIN is currently valid.
    public let hasTemporaryPIN: Bool
}

extension SlotMetadata: CustomStringConvertible {
    /// Algorithm, origin and policies.
    public var description: String {
        ([algorithm.description] + [origin?.description].compactMap(\.self) + [policies.description])
            .joined(separator: ", ")
    }
}

extension PINMetadata: CustomStringConvertible {
    /// The remaining tries, and whether it was changed.
    public var description: String {
        let tries = triesTotal.map { "\(triesLeft) of \($0) tries left" } ?? "\(triesLeft) tries left"
        return isDefault == true ? tries + ", default" : tries
    }
}

extension ManagementKeyMetadata: CustomStringConvertible {
    /// Type and touch policy, and whether it was changed.
    public var description: String { "\(type), touch \(touch)" + (isDefault == true ? ", default" : "") }
}

/// Tags of GET METADATA (Yubico).
private enum Tag {
    static let algorithm: TLV.Tag = 0x01
    static let policies: TLV.Tag = 0x02
    static let origin: TLV.Tag = 0x03
    static let publicKey: TLV.Tag = 0x04
    static let isDefault: TLV.Tag = 0x05
    static let tries: TLV.Tag = 0x06
    static let fingerprints: TLV.Tag = 0x07
    static let temporaryPIN: TLV.Tag = 0x08
}

extension [TLV] {
    /// A value of this length; `nil` if the object is absent. Throws for another length.
    fileprivate func bytes(_ tag: TLV.Tag, _ count: Int, _ what: String) throws(WireError) -> [UInt8]? {
        guard let value = value(tag) else { return nil }
        guard value.count == count else {
            throw WireError(.malformed, at: 0, "\(what) of \(value.count) bytes, not \(count)")
        }
        return value
    }

    fileprivate func flag(_ tag: TLV.Tag, _ what: String) throws(WireError) -> Bool? {
        try bytes(tag, 1, what).map { $0[0] != 0 }
    }

    fileprivate func needed(_ tag: TLV.Tag, _ count: Int, _ what: String) throws(WireError) -> [UInt8] {
        guard let value = try bytes(tag, count, what) else {
            throw WireError(.missing, at: 0, "no \(what) (tag \(tag))")
        }
        return value
    }
}

extension SlotMetadata {
    /// Reads the metadata of a slot; `nil` for an empty one, of which PivApplet reports policies and the origin 0 instead
    /// of refusing the question.
    init?(_ objects: [TLV]) throws(WireError) {
        let code = try objects.bytes(Tag.origin, 1, "origin").map { $0[0] }
        if objects.value(Tag.algorithm) == nil, objects.value(Tag.publicKey) == nil, code == 0 { return nil }
        let algorithm = PIVAlgorithm(rawValue: try objects.needed(Tag.algorithm, 1, "algorithm")[0])
        self.algorithm = algorithm
        let codes = try objects.bytes(Tag.policies, 2, "policies") ?? [0, 0]
        policies = KeyPolicies(pin: PINPolicy(rawValue: codes[0]), touch: TouchPolicy(rawValue: codes[1]))
        origin = code.flatMap { $0 == 0 ? nil : KeyOrigin(rawValue: $0) }
        publicKey = try objects.value(Tag.publicKey).flatMap { value throws(WireError) in
            PIVAlgorithm.known.contains(algorithm) ? try PublicKey(pivObjects: value, algorithm) : nil
        }
    }
}

extension PINMetadata {
    init(_ objects: [TLV]) throws(WireError) {
        let tries = try objects.needed(Tag.tries, 2, "tries")
        self.init(
            isDefault: try objects.flag(Tag.isDefault, "default"), triesTotal: Int(tries[0]), triesLeft: Int(tries[1]))
    }
}

extension ManagementKeyMetadata {
    init(_ objects: [TLV]) throws(WireError) {
        let codes = try objects.bytes(Tag.policies, 2, "policies") ?? [0, 0]
        self.init(
            type: ManagementKeyType(rawValue: try objects.needed(Tag.algorithm, 1, "algorithm")[0]),
            isDefault: try objects.flag(Tag.isDefault, "default"), touch: TouchPolicy(rawValue: codes[1]))
    }
}

extension FingerprintMetadata {
    init(_ objects: [TLV]) throws(WireError) {
        self.init(
            isConfigured: try objects.flag(Tag.fingerprints, "fingerprints") ?? false,
            triesLeft: Int(try objects.needed(Tag.tries, 2, "tries")[1]),
            hasTemporaryPIN: try objects.flag(Tag.temporaryPIN, "temporary PIN") ?? false)
    }
}

extension PublicKey {
    /// Reads PIV's data objects for a public key (NIST SP 800-73-4 Part 2 Table 11): 81 modulus, 82 exponent, 86 point.
    init(pivObjects bytes: [UInt8], _ algorithm: PIVAlgorithm) throws(WireError) {
        let objects = try TLV.list(bytes)
        if let size = algorithm.modulusSize {
            let modulus = Array(try objects.required(0x81, "modulus").drop { $0 == 0 })
            let exponent = Array(try objects.required(0x82, "exponent").drop { $0 == 0 })
            guard modulus.count == size, (1...8).contains(exponent.count) else {
                throw WireError(.malformed, at: 0, "a modulus of \(modulus.count) bytes is not \(algorithm)")
            }
            self = .rsa(modulus: modulus, exponent: exponent)
            return
        }
        let point = try objects.required(0x86, "point")
        switch algorithm {
        case .ed25519 where point.count == 32: self = .ed25519(point)
        case .x25519 where point.count == 32: self = .x25519(point)
        default:
            guard let curve = algorithm.curve, point.count == 2 * curve.fieldSize + 1, point[0] == 0x04 else {
                throw WireError(.malformed, at: 0, "a point of \(point.count) bytes is not on \(algorithm)")
            }
            self = .ec(curve, point: point)
        }
        guard isPoint else { throw WireError(.malformed, at: 0, "a point that is not on \(algorithm)") }
    }
}
