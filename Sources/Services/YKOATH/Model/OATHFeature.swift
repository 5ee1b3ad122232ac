// SPDX-License-Identifier: Apache-2.0

public import YKTransport

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
