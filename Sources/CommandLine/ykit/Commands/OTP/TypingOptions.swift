// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOTP
import YKWire

/// How a slot types, and its other settings.
struct TypingOptions: ParsableArguments {
    static let title = "Typing"

    @Flag(inversion: .prefixedNo, help: "Press Enter at the end.") var enter = true

    @Option(help: ArgumentHelp("Pause between characters, in milliseconds: 0, 20, 40 or 60.", valueName: "ms"))
    var pacing = 0

    @Option(
        help: ArgumentHelp(
            "Press Tab: first, after-first or after-second part; may be repeated.", valueName: "place"))
    var tab: [TabPlace] = []

    @Option(
        help: ArgumentHelp(
            "Wait half a second: after-first or after-second part; may be repeated.", valueName: "place"))
    var delay: [DelayPlace] = []

    @Flag(help: "Type digits on the numeric keypad.") var numericKeypad = false

    @Flag(inversion: .prefixedNo, help: "Allow a short touch when only slot 1 is in use.") var fastTrigger = true

    @Flag(help: "Type the serial number if the key is touched while it is being plugged in.") var serialAtStart = false

    @Flag(help: "Show the serial number in the USB descriptor.") var serialInUsb = false

    @Flag(inversion: .prefixedNo, help: "Tell programs the serial number.") var serialByCommand = true

    @Flag(help: "Keep the slot dormant until its settings are updated.") var dormant = false

    @Flag(help: "Keep the light off while the key is idle.") var invertLight = false

    @Flag(inversion: .prefixedNo, help: "Allow later updates of the settings.") var updates = true

    /// The places for a Tab.
    enum TabPlace: String, CaseIterable, ExpressibleByArgument {
        case first
        case afterFirst = "after-first"
        case afterSecond = "after-second"
    }

    /// The places for a delay.
    enum DelayPlace: String, CaseIterable, ExpressibleByArgument {
        case afterFirst = "after-first"
        case afterSecond = "after-second"
    }

    func check() throws {
        if OTPSettings.Pacing(rawValue: pacing) == nil { throw UsageError("--pacing is 0, 20, 40 or 60") }
    }

    /// The settings.
    var settings: OTPSettings {
        var settings = OTPSettings()
        settings.ticket = enter ? .enter : []
        for place in tab {
            switch place {
            case .first: settings.ticket.insert(.tabFirst)
            case .afterFirst: settings.ticket.insert(.tabAfterFirst)
            case .afterSecond: settings.ticket.insert(.tabAfterSecond)
            }
        }
        for place in delay { settings.ticket.insert(place == .afterFirst ? .delayAfterFirst : .delayAfterSecond) }
        settings.pacing = OTPSettings.Pacing(rawValue: pacing) ?? .none
        settings.extended = []
        let extended: [(Bool, OTPExtendedFlags)] = [
            (serialAtStart, .serialAtStart), (serialInUsb, .serialInUSB), (serialByCommand, .serialByCommand),
            (numericKeypad, .numericKeypad), (fastTrigger, .fastTrigger), (updates, .allowsUpdate),
            (dormant, .dormant), (invertLight, .invertedLight),
        ]
        for (isSet, flag) in extended where isSet { settings.extended.insert(flag) }
        return settings
    }
}
