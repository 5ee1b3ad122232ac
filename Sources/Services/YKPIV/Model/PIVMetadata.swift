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
