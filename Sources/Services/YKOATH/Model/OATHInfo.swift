// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
public import YKWire

/// The OATH application's reply to SELECT.
public struct OATHInfo: Sendable, Hashable {
    /// The reported version: the firmware version on a YubiKey, a vendor-specific number elsewhere.
    public let version: FirmwareVersion?
    /// The salt of the access key; a reset changes it.
    public let salt: [UInt8]
    /// Whether a password is set.
    public internal(set) var hasPassword: Bool
    /// Whether the application is locked until the password is given.
    public internal(set) var isLocked: Bool
    /// Whether this is known to be a YubiKey, so that `version` determines its features.
    public internal(set) var isYubiKey: Bool
    /// Unrecognized data objects of the reply.
    public let others: [TLV]

    /// The challenge to answer while locked.
    let challenge: [UInt8]?

    /// The application's identifier: 16 bytes of SHA-256 over the salt, in base64 without padding.
    public var deviceID: String {
        Base64.encode(Array(HashAlgorithm.sha256.hash(salt).prefix(16)), padded: false)
    }

    /// Returns whether a feature is supported; `nil` if it can only be found out by trying.
    public func supports(_ feature: OATHFeature) -> Bool? {
        guard isYubiKey, let version else { return nil }
        return version >= feature.firstVersion
    }
}

/// An OATH feature that requires a minimum firmware version.
public enum OATHFeature: String, Sendable, Hashable, CaseIterable {
    /// Accounts whose codes require a touch.
    case touch
    /// HMAC-SHA-512.
    case sha512
    /// Renaming an account in place.
    case rename

    /// The first YubiKey firmware that supports it.
    public var firstVersion: FirmwareVersion {
        switch self {
        case .touch: FirmwareVersion(4, 2, 6)
        case .sha512: FirmwareVersion(4, 3, 1)
        case .rename: FirmwareVersion(5, 3, 1)
        }
    }
}
