// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// Where a key was made (Yubico). An open set.
public struct KeyOrigin: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code.
    public let rawValue: UInt8
    /// Wraps a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// On the card.
    public static let generated = KeyOrigin(rawValue: 1)
    /// Elsewhere.
    public static let imported = KeyOrigin(rawValue: 2)

    /// The name, else the code.
    public var description: String { [1: "generated", 2: "imported"][rawValue] ?? "origin \(rawValue)" }
}

/// What the card says of the key in a slot (Yubico GET METADATA).
public struct SlotMetadata: Hashable, Sendable {
    /// The kind of key.
    public let algorithm: PIVAlgorithm
    /// When it may be used.
    public let policies: KeyPolicies
    /// Where it was made; `nil` when the card does not say.
    public let origin: KeyOrigin?
    /// The public key; `nil` when the card does not say, or it is of a kind that is not known.
    public let publicKey: PublicKey?
}

/// What the card says of PIN or PUK.
public struct PINMetadata: Hashable, Sendable {
    /// Whether it is still the one of every new card; `nil` when the card does not say.
    public let isDefault: Bool?
    /// How many wrong tries there are in all; `nil` when the card does not say.
    public let triesTotal: Int?
    /// How many wrong tries are left.
    public let triesLeft: Int

    /// Whether no try is left.
    public var isBlocked: Bool { triesLeft == 0 }
}

/// What the card says of the management key.
public struct ManagementKeyMetadata: Hashable, Sendable {
    /// The cipher.
    public let type: ManagementKeyType
    /// Whether it is still the one of every new card; `nil` when the card does not say.
    public let isDefault: Bool?
    /// When it needs a touch.
    public let touch: TouchPolicy
}

/// What the card says of fingerprints.
public struct FingerprintMetadata: Hashable, Sendable {
    /// Whether any is enrolled.
    public let isConfigured: Bool
    /// How many wrong tries are left.
    public let triesLeft: Int
    /// Whether a temporary PIN is good at the moment.
    public let hasTemporaryPIN: Bool
}
