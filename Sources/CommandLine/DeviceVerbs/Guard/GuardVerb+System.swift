// SPDX-License-Identifier: Apache-2.0

import Glibc
import TerminalIO
import Verbs
import YKBridge
import YKHardware
import YKKeys
import YKTransport

/// The system part.
extension GuardVerb {
    /// Serves the user's part until it is interrupted. Another process gives the key back if this one is killed.
    func serveSystem(_ run: Run) throws -> Outcome<GuardReport> {
        let (owner, listener) = try served(run)
        guard let keeper = Keeper.start({ TakenNodes().giveBack() }) else { throw GuardError.noKeeper }
        defer { keeper.end() }
        OneProcessor.leave()
        let selection = run.keys.selection
        let events = GuardEvents(run.terminal, run.log)
        var machine = GuardSystem.Machine()
        (machine.listener, machine.showsKey) = (listener, asKey)
        machine.isChosen = { device in
            device.isFIDO && (selection.serial == nil || device.serial == selection.serial)
                && (selection.path.map { $0 == "/dev/\(device.node)" || $0 == device.usbPath } ?? true)
        }
        if selection.serial == nil, selection.path == nil, listener == nil { try checkSingle() }
        let system: GuardSystem
        do {
            system = try GuardSystem(
                owner, machine, program: Program.version, cancellation: run.environment.cancellation,
                report: { events.report($0) })
        } catch { throw RemoteError.device(error) }
        let isOrphaned = Cancellation()
        keeper.whenEnded {
            isOrphaned.cancel()
            system.stop()
        }
        try system.run()
        if isOrphaned.isCancelled { throw GuardError.noKeeper }
        return Outcome(GuardReport(), [])
    }

    /// Who is served, and the socket that systemd listens on, whose descriptor is 3 (sd_listen_fds(3)): then whoever is at
    /// the machine.
    private func served(_ run: Run) throws -> (GuardSystem.Owner, Int32?) {
        let isStarted = run.variable("LISTEN_PID") == "\(getpid())" && run.variable("LISTEN_FDS") == "1"
        guard let user = try owner.user(run) else {
            if isStarted { return (.activeUser, 3) }
            throw Explanation.usage(
                "--system needs the user it serves", hint: "sudo ykit guard --system, or --owner USER")
        }
        guard let number = Accounts.number(of: user) else {
            throw Explanation.usage(
                "there is no user '\(user.printable)'", hint: "sudo ykit guard --system, or --owner USER")
        }
        return (.user(number, name: user), isStarted ? 3 : nil)
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
