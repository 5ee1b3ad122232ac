// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// An OTP feature that requires a minimum firmware version.
public enum OTPFeature: String, Sendable, Hashable, CaseIterable {
    /// Reading the serial number.
    case serial = "the serial number"
    /// Passwords as scan codes.
    case staticPassword = "a static password"
    /// HOTP.
    case hotp = "HOTP"
    /// Challenge-response.
    case challengeResponse = "challenge-response"
    /// Updating the settings of a slot.
    case update = "updating a slot"
    /// Swapping the slots.
    case swap = "swapping the slots"
    /// An NDEF record for a slot.
    case ndef = "NDEF"
    /// A scan-code map.
    case scanCodeMap = "a scan-code map"
    /// The numeric keypad, the fast trigger, and dormant slots.
    case laterSettings = "numeric keypad, fast trigger and dormant slots"
    /// An LED that is off when idle.
    case invertedLight = "an inverted LED"
    /// Setting, changing or removing the access code in an update: firmware 4.3.2 to 4.3.5 does this incorrectly.
    case accessCodeUpdate = "changing the access code without rewriting the slot"
    /// Reading whether a FIPS key is in approved mode.
    case fipsMode = "the FIPS mode"

    /// The first YubiKey firmware that supports it.
    public var firstVersion: FirmwareVersion {
        switch self {
        case .staticPassword: FirmwareVersion(2, 0, 0)
        case .hotp: FirmwareVersion(2, 1, 0)
        case .serial, .challengeResponse: FirmwareVersion(2, 2, 0)
        case .update, .swap, .laterSettings: FirmwareVersion(2, 3, 0)
        case .invertedLight: FirmwareVersion(2, 4, 0)
        case .ndef, .scanCodeMap: FirmwareVersion(3, 0, 0)
        case .accessCodeUpdate: FirmwareVersion(2, 3, 0)
        case .fipsMode: FirmwareVersion(4, 4, 0)
        }
    }

    /// Returns whether this firmware supports it.
    public func isSupported(by version: FirmwareVersion) -> Bool {
        guard version >= firstVersion else { return false }
        switch self {
        case .accessCodeUpdate: return !(FirmwareVersion(4, 3, 2)..<FirmwareVersion(4, 3, 6)).contains(version)
        case .invertedLight: return version < FirmwareVersion(3, 0, 0) || version >= FirmwareVersion(3, 1, 0)
        case .fipsMode: return version < FirmwareVersion(5, 0, 0)
        default: return true
        }
    }
}
