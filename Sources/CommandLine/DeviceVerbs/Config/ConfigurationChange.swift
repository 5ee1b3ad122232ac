// SPDX-License-Identifier: Apache-2.0

import Verbs
import YKManagement
import YKWire

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
        guard both.isEmpty else { throw Explanation.usage("\(both.sentence): on and off at once") }
        guard let now = info.applications(over: transport) else { throw ManagementError.noNFC }
        let missing = on.union(off).subtracting(now.supported)
        guard missing.isEmpty else { throw ManagementError.notThere(missing, over: transport) }
        let wanted = now.enabled.union(on).subtracting(off)
        guard wanted != now.enabled else { return }
        let name = transport.rawValue.uppercased()
        let (come, go) = (wanted.subtracting(now.enabled), now.enabled.subtracting(wanted))
        if !come.isEmpty { note("switch on over \(name): \(come.sentence)") }
        if !go.isEmpty { note("switch off over \(name): \(go.sentence)") }
        if transport == .usb { configuration.usbEnabled = wanted } else { configuration.nfcEnabled = wanted }
    }

    /// Asks for confirmation, writes the change, and reports the result.
    func write(
        _ transport: DeviceInfo.Transport, _ info: DeviceInfo, _ service: ManagementService, _ lock: LockCodeOptions,
        isForced: Bool, in world: World
    ) async throws -> Answer {
        guard !words.isEmpty else {
            return answer(["nothing to change"], transport, ConfigurationOutcome(info: info))
        }
        try configuration.check(info)
        if !isForced, world.plan == nil {
            words.forEach(world.terminal.say)
            try Prompt.confirm("change this on \(Self.name(info))?")
        }
        let code = try await lock.code(for: info, world)
        let outcome = try await service.write(configuration, lockCode: code)
        var lines = ["changed on \(Self.name(info)):"] + words.map { "  \($0)" }
        if outcome.restarts { lines.append("the key restarts by itself and is there again in a few seconds") }
        return answer(lines, transport, outcome)
    }

    private func answer(
        _ lines: [String], _ transport: DeviceInfo.Transport, _ outcome: ConfigurationOutcome
    ) -> Answer {
        let now = outcome.info.applications(over: transport)
        var answer = Answer(
            lines,
            [
                "changes": .array(words.map(JSONValue.string)), "restarts": .bool(outcome.restarts),
                "supported": .array(now?.supported.names.map(JSONValue.string) ?? []),
                "enabled": .array(now?.enabled.names.map(JSONValue.string) ?? []),
                "unconfirmed": .array(outcome.unconfirmed.map(JSONValue.string)),
            ])
        if !outcome.unconfirmed.isEmpty {
            answer.warnings.append(
                "the key does not yet say so of \(outcome.unconfirmed.listed()): take it out, insert it "
                    + "again and look with ykit info")
        }
        return answer
    }

    private static func name(_ info: DeviceInfo) -> String {
        info.productName + (info.serial.map { " \($0)" } ?? "")
    }
}
