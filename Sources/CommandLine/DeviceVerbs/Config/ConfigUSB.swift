// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKManagement
import YKWire

/// Enables and disables applications over USB.
struct ConfigUSB: Verb {
    static let about = About(
        "usb", "Enable and disable applications over USB, and set timeouts.",
        discussion: """
            A disabled application keeps its data. At least one must stay enabled: with everything disabled over USB, \
            the key could not be reconfigured. When a USB interface is added or removed, the key restarts by itself.
            """,
        examples: [Example("ykit config usb --list"), Example("ykit config usb --disable otp")])

    @OptionGroup var switches: ApplicationSwitches

    @Flag(["--list", "-l"], help: "List what is enabled, and change nothing.") var list = false

    @Flag(
        "--touch-eject", inversion: .prefixedNo,
        help: "A touch ejects and inserts the smart card, if it is the only interface.")
    var touchEject: Bool?

    @Flag("--remote-wakeup", inversion: .prefixedNo, help: "The key may wake the computer.") var remoteWakeup: Bool?

    @Option("--auto-eject-timeout <seconds>", help: "Eject the smart card after this long, 0 for never.")
    var autoEjectTimeout: UInt16?

    @Option(
        "--chalresp-timeout <seconds>", help: "Wait this long for a touch in challenge-response, 0 for the default.")
    var challengeResponseTimeout: UInt8?

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var lock: LockCodeOptions

    func check() throws {
        let isChange =
            switches.areGiven || touchEject != nil || remoteWakeup != nil
            || autoEjectTimeout != nil || challengeResponseTimeout != nil
        guard isChange != list else {
            throw UsageError("give a setting to change, or --list")
        }
    }

    func run(in run: Run) async throws -> Outcome<ApplicationsReport> {
        let service = try await run.key.open(ManagementService.self)
        let info = try await service.deviceInfo()
        if list { return Self.listing(info.usb) }
        var change = ConfigurationChange()
        try change.toggle(
            .usb, on: switches.on(info.usb), off: switches.disable.capability, info)
        setFlags(&change, info)
        setTimeouts(&change, info)
        return try await change.write(.usb, info, service, lock, isForced: force, in: run)
    }

    private func setFlags(_ change: inout ConfigurationChange, _ info: DeviceInfo) {
        var flags = info.flags
        if let touchEject { if touchEject { flags.insert(.touchEject) } else { flags.remove(.touchEject) } }
        if let remoteWakeup { if remoteWakeup { flags.insert(.remoteWakeUp) } else { flags.remove(.remoteWakeUp) } }
        guard flags != info.flags else { return }
        change.configuration.flags = flags
        let changed = flags.symmetricDifference(info.flags)
        for (flag, words) in [
            (DeviceInfo.Flags.touchEject, "ejection by touch"), (.remoteWakeUp, "waking the computer"),
        ]
        where changed.contains(flag) { change.note("\(words): \(flags.contains(flag) ? "on" : "off")") }
    }

    private func setTimeouts(_ change: inout ConfigurationChange, _ info: DeviceInfo) {
        if let autoEjectTimeout, .seconds(autoEjectTimeout) != info.autoEjectTimeout {
            change.configuration.autoEjectTimeout = .seconds(autoEjectTimeout)
            change.note("eject the smart card after \(autoEjectTimeout) s")
        }
        if let challengeResponseTimeout, .seconds(challengeResponseTimeout) != info.challengeResponseTimeout {
            change.configuration.challengeResponseTimeout = .seconds(challengeResponseTimeout)
            change.note("challenge-response waits \(challengeResponseTimeout) s for a touch")
        }
    }

    /// The enabled applications, one per line.
    static func listing(_ applications: DeviceInfo.Applications) -> Outcome<ApplicationsReport> {
        Outcome(ApplicationsReport(applications: applications), applications.enabled.names)
    }
}

/// Which applications to enable and disable over a transport.
struct ApplicationSwitches: ParsableArguments {
    @Option(["--enable <application>", "-e"], help: "Enable this application; may be repeated.")
    var enable: [SwitchedApplication] = []

    @Option(["--disable <application>", "-d"], help: "Disable this application; may be repeated.")
    var disable: [SwitchedApplication] = []

    @Flag(["-a", "--enable-all"], help: "Enable all.") var enableAll = false

    /// Whether anything is to be enabled or disabled.
    var areGiven: Bool { !enable.isEmpty || !disable.isEmpty || enableAll }

    /// Returns the applications to enable.
    func on(_ transport: DeviceInfo.Applications) -> Capability {
        (enableAll ? transport.supported : []).union(enable.capability)
    }
}
