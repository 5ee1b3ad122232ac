// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// One of the two slots of the OTP application.
public enum OTPSlot: Int, Sendable, Hashable, CaseIterable {
    /// The slot triggered by a short touch.
    case one = 1
    /// The slot triggered by a long touch.
    case two = 2

    func command(_ first: OTPCommand, _ second: OTPCommand) -> OTPCommand { self == .one ? first : second }
}

/// The reported state of a slot; `nil` if the firmware does not report it.
public struct OTPSlotState: Sendable, Hashable {
    /// Whether it is in use.
    public let isProgrammed: Bool?
    /// Whether it types when touched, rather than answering challenges.
    public let isTouchTriggered: Bool?

    init(_ status: OTPStatus, _ slot: OTPSlot) {
        isProgrammed = status.isProgrammed(slot.rawValue)
        isTouchTriggered = isProgrammed == false ? false : status.isTouchTriggered(slot.rawValue)
    }
}

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

/// How a slot types, and its other settings; all of them can be updated without rewriting the slot.
public struct OTPSettings: Sendable, Hashable {
    /// How long the key waits between characters.
    public enum Pacing: Int, Sendable, Hashable, CaseIterable {
        /// Not at all.
        case none = 0
        /// 20 ms.
        case short = 20
        /// 40 ms.
        case medium = 40
        /// 60 ms.
        case long = 60
    }

    /// Tabs, delays and Enter.
    public var ticket: OTPTicketFlags = .enter
    /// The delay between characters.
    public var pacing = Pacing.none
    /// The serial number's visibility, the numeric keypad, the trigger, the LED, and whether settings can be updated.
    public var extended: OTPExtendedFlags = [.serialByCommand, .allowsUpdate, .fastTrigger]

    /// The settings of a new slot that types: Enter at the end, no delay, a fast trigger, updates allowed.
    public init() {}

    /// The settings of a new slot that answers challenges.
    public static var challengeResponse: OTPSettings {
        var settings = OTPSettings()
        settings.ticket = []
        settings.extended.remove(.fastTrigger)
        return settings
    }

    /// The flags for the delay.
    var configuration: OTPConfigurationFlags {
        switch pacing {
        case .none: []
        case .short: .pacing10
        case .medium: .pacing20
        case .long: [.pacing10, .pacing20]
        }
    }

    /// The firmware features that it requires.
    var features: [OTPFeature] {
        var features: [OTPFeature] = []
        if extended.contains(.numericKeypad) || extended.contains(.dormant) { features.append(.laterSettings) }
        if extended.contains(.invertedLight) { features.append(.invertedLight) }
        return features
    }
}
