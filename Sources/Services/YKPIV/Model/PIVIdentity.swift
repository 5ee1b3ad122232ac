// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Which PIV application it is.
public struct PIVIdentity: Hashable, Sendable {
    /// The version it names; on a YubiKey that of the firmware, elsewhere a number of the maker's own. `nil` when it
    /// names none.
    public let version: Version?
    /// Whether this is known to be a YubiKey, so that `version` decides what it can do.
    public let isYubiKey: Bool

    /// Whether a feature is there; `nil` when only trying can tell.
    public func supports(_ feature: PIVFeature) -> Bool? {
        guard isYubiKey, let version else { return nil }
        return version >= feature.firstVersion
    }

    /// The fewest bytes that a PIN or PUK has: 6 on YubiKeys from firmware 4 on, as NIST SP 800-73-4 Part 1 §2.4.3 has
    /// it; cards of other makers and older keys may hold one of 4.
    var leastPINLength: Int { isYubiKey && version.map { $0 >= Version(4, 0, 0) } ?? false ? 6 : 4 }

    /// What is known to be wrong with this firmware.
    public var warnings: [FirmwareWarning] { FirmwareWarning.all(isYubiKey ? version : nil) }

    /// Whether RSA keys made on this firmware can be broken: 4.2.0 to 4.3.4, as ykman and yubico-piv-tool have it; the
    /// advisory (YSA-2017-01) names 4.2.6 to 4.3.4.
    public var makesWeakRSA: Bool {
        guard isYubiKey, let version else { return false }
        return (Version(4, 2, 0)..<Version(4, 3, 5)).contains(version)
    }
}
