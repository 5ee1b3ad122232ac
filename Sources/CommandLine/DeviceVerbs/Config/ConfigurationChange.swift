// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKManagement
import YKWire

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
