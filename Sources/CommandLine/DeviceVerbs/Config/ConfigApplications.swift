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
        "Enable and disable applications over USB, and set timeouts.",
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

/// Enables and disables applications over NFC.
struct ConfigNFC: Verb {
    static let about = About(
        "Enable and disable applications over NFC, or turn NFC off until the key is next plugged into a USB port.",
        examples: [
            Example("ykit config nfc --list"),
            Example("ykit config nfc --restrict", "Keep NFC off until the key is next plugged into a USB port."),
        ])

    @OptionGroup var switches: ApplicationSwitches

    @Flag(["-D", "--disable-all"], help: "Disable all.") var disableAll = false

    @Flag(
        ["-R", "--restrict"],
        help: "Keep NFC off until the key is in a USB port again, for example to send it by mail; firmware 5.7.")
    var restrict = false

    @Flag(["--list", "-l"], help: "List what is enabled, and change nothing.") var list = false

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var lock: LockCodeOptions

    func check() throws {
        let isToggle = switches.areGiven || disableAll
        guard [isToggle, restrict, list].count(where: \.self) == 1 else {
            throw UsageError("give the applications to enable or disable, or --restrict, or --list")
        }
    }

    func run(in run: Run) async throws -> Outcome<ApplicationsReport> {
        let service = try await run.key.open(ManagementService.self)
        let info = try await service.deviceInfo()
        guard let nfc = info.nfc else { throw ManagementError.noNFC }
        if list { return ConfigUSB.listing(nfc) }
        var change = ConfigurationChange()
        if restrict, !info.isNFCRestricted {
            change.configuration.restrictsNFC = true
            change.note("keep NFC off until the key is in a USB port again")
        }
        try change.toggle(
            .nfc, on: switches.on(nfc), off: (disableAll ? nfc.supported : []).union(switches.disable.capability), info)
        return try await change.write(.nfc, info, service, lock, isForced: force, in: run)
    }
}

/// An application name on the command line.
struct SwitchedApplication: ExpressibleByArgument, Hashable {
    let capability: Capability

    private static let names: [(String, Capability)] = [
        ("otp", .otp), ("u2f", .u2f), ("fido2", .fido2), ("oath", .oath), ("piv", .piv), ("openpgp", .openPGP),
        ("hsmauth", .hsmAuth),
    ]

    init?(argument: String) {
        guard let match = Self.names.first(where: { $0.0 == argument.lowercased() }) else { return nil }
        capability = match.1
    }

    static var allValueStrings: [String] { names.map(\.0) }
}

extension [SwitchedApplication] {
    /// The union of all capabilities.
    var capability: Capability { reduce(into: []) { $0.formUnion($1.capability) } }
}

/// What was changed, and the applications over a transport.
struct ApplicationsReport: Report {
    let applications: DeviceInfo.Applications?
    var changes: [String] = []
    var restarts = false
    var unconfirmed: [String] = []

    static let members: [Member<ApplicationsReport>] = [
        Member("changed") { !$0.changes.isEmpty }, Member("changes") { $0.changes },
        Member("restarts") { $0.restarts },
        Member("supported") { $0.applications?.supported.names ?? [] },
        Member("enabled") { $0.applications?.enabled.names ?? [] },
        Member("unconfirmed") { $0.unconfirmed },
    ]
}

/// A change of a key's configuration, with its description.
struct ConfigurationChange {
    var configuration = DeviceConfiguration()
    private(set) var words: [String] = []

    /// Adds to the description.
    mutating func note(_ words: String) { self.words.append(words) }

    /// Enables and disables applications, if that changes anything.
    mutating func toggle(
        _ transport: DeviceInfo.Transport, on: Capability, off: Capability, _ info: DeviceInfo
    ) throws {
        let both = on.intersection(off)
        guard both.isEmpty else { throw Explanation.usage("\(both.sentence): both enabled and disabled") }
        guard let now = info.applications(over: transport) else { throw ManagementError.noNFC }
        let missing = on.union(off).subtracting(now.supported)
        guard missing.isEmpty else { throw ManagementError.notThere(missing, over: transport) }
        let wanted = now.enabled.union(on).subtracting(off)
        guard wanted != now.enabled else { return }
        let name = transport.rawValue.uppercased()
        let (come, go) = (wanted.subtracting(now.enabled), now.enabled.subtracting(wanted))
        if !come.isEmpty { note("enable over \(name): \(come.sentence)") }
        if !go.isEmpty { note("disable over \(name): \(go.sentence)") }
        if transport == .usb { configuration.usbEnabled = wanted } else { configuration.nfcEnabled = wanted }
    }

    /// Asks for confirmation, writes the change, and reports the result.
    func write(
        _ transport: DeviceInfo.Transport, _ info: DeviceInfo, _ service: ManagementService, _ lock: LockCodeOptions,
        isForced: Bool, in run: Run
    ) async throws -> Outcome<ApplicationsReport> {
        guard !words.isEmpty else {
            return result(["nothing to change"], transport, ConfigurationOutcome(info: info))
        }
        try configuration.check(info)
        if !isForced { run.perform { words.forEach(run.terminal.say) } }
        try run.confirm("change this on \(Self.name(info))?", unless: isForced)
        let code = try await lock.code(for: info, run)
        let outcome = try await service.write(configuration, lockCode: code)
        var lines = ["changed on \(Self.name(info)):"] + words.map { "  \($0)" }
        if outcome.restarts { lines.append("the key restarts and will be back in a few seconds") }
        return result(lines, transport, outcome)
    }

    private func result(
        _ lines: [String], _ transport: DeviceInfo.Transport, _ outcome: ConfigurationOutcome
    ) -> Outcome<ApplicationsReport> {
        let report = ApplicationsReport(
            applications: outcome.info.applications(over: transport), changes: words, restarts: outcome.restarts,
            unconfirmed: outcome.unconfirmed)
        var result = Outcome(report, lines)
        if !outcome.unconfirmed.isEmpty {
            result.answer.warnings.append(
                Warning(
                    "unconfirmed",
                    "the key does not yet report this for \(outcome.unconfirmed.listed()): remove it, insert it "
                        + "again and check with ykit info"))
        }
        return result
    }

    private static func name(_ info: DeviceInfo) -> String {
        info.productName + (info.serial.map { " \($0)" } ?? "")
    }
}
