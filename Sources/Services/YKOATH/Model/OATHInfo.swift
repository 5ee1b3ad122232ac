// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// What the OATH application says of itself when it is selected.
public struct OATHInfo: Sendable, Hashable {
    /// The version it names; on a YubiKey that of the firmware, elsewhere a number of the maker's own.
    public let version: Version?
    /// The salt of the access key; a reset changes it.
    public let salt: [UInt8]
    /// Whether a password was set.
    public internal(set) var hasPassword: Bool
    /// Whether the password has to be given first.
    public internal(set) var isLocked: Bool
    /// Whether this is known to be a YubiKey, so that `version` decides what it can do.
    public internal(set) var isYubiKey: Bool
    /// Data objects of the reply that have no name here.
    public let others: [TLV]

    /// The challenge to answer, while locked.
    let challenge: [UInt8]?

    /// What tells this application from others: 16 bytes of SHA-256 over the salt, in base 64 without padding.
    public let deviceID: String

    /// Whether a feature is there; `nil` when only trying can tell.
    public func supports(_ feature: OATHFeature) -> Bool? {
        guard isYubiKey, let version else { return nil }
        return version >= feature.firstVersion
    }
}
