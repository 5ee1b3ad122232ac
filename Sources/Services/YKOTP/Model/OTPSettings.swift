// SPDX-License-Identifier: Apache-2.0

public import YKWire

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
