// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKBridge
import YKHardware
import YKKeys
import YKTransport

/// The system part.
extension GuardVerb {
    /// The user whose programs use the key.
    func user(_ run: Run) throws -> String? {
        if let owner { return owner }
        return system && User.name == "root" ? try BridgeNode.invoker(run) : nil
    }

    /// Serves the user's part until it is interrupted. Another process gives the key back if this one is killed.
    func serveSystem(_ run: Run) throws -> Outcome<GuardReport> {
        let name = try user(run)
        guard let user = name, let number = Accounts.number(of: user) else {
            throw Explanation.usage(
                name.map { "there is no user '\($0.printable)'" } ?? "--system needs the user it serves",
                hint: "sudo ykit guard --system, or --owner USER")
        }
        guard let keeper = Keeper.start({ TakenNodes().giveBack() }) else { throw GuardError.noKeeper }
        defer { keeper.end() }
        OneProcessor.leave()
        let selection = run.selection
        let events = GuardEvents(run.terminal, run.log)
        var machine = GuardSystem.Machine()
        machine.isChosen = { device in
            device.isFIDO && (selection.device == nil || device.serial == selection.device)
                && (selection.path.map { $0 == "/dev/\(device.node)" || $0 == device.usbPath } ?? true)
        }
        if selection.device == nil, selection.path == nil { try checkSingle() }
        let system = GuardSystem(
            .init(number: number, name: user), machine, program: Program.version,
            cancellation: run.environment.cancellation, report: { events.report($0) })
        let isOrphaned = Cancellation()
        keeper.whenEnded {
            isOrphaned.cancel()
            system.stop()
        }
        try system.run()
        if isOrphaned.isCancelled { throw GuardError.noKeeper }
        return Outcome(GuardReport(), [])
    }

    /// One of several keys has to be named: programs would still find the others.
    private func checkSingle() throws {
        let keys = try HIDRaw.devices().filter(\.isFIDO)
        guard keys.count > 1 else { return }
        throw Explanation(
            "several-devices", .severalDevices, "\(keys.count) keys are attached", hint: "name one with --path",
            candidates: keys.map { "\($0.path)  \($0.name)" })
    }
}
