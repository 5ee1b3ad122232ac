// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKTransport
import YKVirtualKey
import YKWire

/// Plugs a software key into this machine.
struct VirtualServe: Verb {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Plug a software key into a real pcscd, or into this machine's kernel.",
        discussion: """
            --vpcd puts it into the virtual reader of the vsmartcard project (Debian: vsmartcard-vpcd). --uhid makes its \
            FIDO interface a HID device of the kernel, with a /dev/hidraw node of its own. ^C takes the key out.

            Rules for --fault:
            \(FaultPlan.grammar)
            """)
    static let members = ["address", "node"]

    @Option(help: ArgumentHelp("Where vpcd listens, 127.0.0.1:35963 without a value.", valueName: "host:port"))
    var vpcd: String?

    @Flag(help: "Make it a HID device through /dev/uhid.")
    var uhid = false

    @Option(
        help: ArgumentHelp("Keep the key in this file; without one it is the demonstration key.", valueName: "file"),
        completion: .file())
    var state: String?

    @Option(help: ArgumentHelp("The firmware version of a new key.", valueName: "version"))
    var firmware: String?

    @Option(help: ArgumentHelp("Misbehave by these rules; may be given again.", valueName: "rules"))
    var fault: [String] = []

    @Option(
        help: ArgumentHelp(
            "Who touches the key: yes (at once), no (nobody, and its time is over), never (nobody), ask (you, with Enter), "
                + "signal (SIGUSR1), or a time such as 2s after which it is touched.", valueName: "who"))
    var touch: TouchChoice = .yes

    @Argument(help: ArgumentHelp("The same as --state.", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func validate() throws {
        let ways = [vpcd != nil, uhid].count { $0 }
        guard ways == 1 else { throw ValidationError("Name one way to plug the key in: --vpcd or --uhid.") }
        guard state == nil || file == nil else { throw ValidationError("Name one state file.") }
    }

    func answer(in world: World) async throws -> Answer {
        let faults = try read("--fault") { () throws(WireError) in
            try FaultPlan(parsing: fault.joined(separator: ";"))
        }
        guard faults.misfit(on: vpcd == nil ? .reports : .card) == nil else {
            throw Explanation.usage("--fault: a rule is only for \(vpcd == nil ? "cards" : "FIDO HID")")
        }
        let events = ServedEvents(terminal: world.terminal, log: world.log)
        if let vpcd {
            let address = try read("--vpcd") { () throws(WireError) in try VPCDAddress(parsing: vpcd) }
            return try serve(at: address, try key(world.terminal), faults, events)
        }
        return try serveHID(try key(world.terminal), faults, events)
    }

    private func serve(
        at address: VPCDAddress, _ key: VirtualKey, _ faults: FaultPlan, _ events: ServedEvents
    ) throws -> Answer {
        var server = VPCDServer(
            key, at: address, faults: faults, cancellation: Interruption.cancellation, report: events.report)
        server.reconnects = true
        events.terminal.say("serving a software key at \(address), ^C ends it")
        do { try server.run() } catch {
            throw Explanation(
                "vpcd", .noDevice, "\(error)", hint: "sudo apt install vsmartcard-vpcd && sudo systemctl restart pcscd")
        }
        return Answer([], ["address": .string(address.description)])
    }

    private func serveHID(_ key: VirtualKey, _ faults: FaultPlan, _ events: ServedEvents) throws -> Answer {
        let server = UHIDServer(key, faults: faults, cancellation: Interruption.cancellation, report: events.report)
        do { try server.run() } catch { throw Explain.uhid(error) }
        return Answer([], ["node": events.node.map(JSON.string) ?? .null])
    }

    private func key(_ terminal: Terminal) throws -> VirtualKey {
        let version = try firmware.map { text in
            guard let version = Version(text) else {
                throw Explanation.usage("'\(text.printable)' is no firmware version, expected one like 5.7.1")
            }
            return version
        }
        let world = VirtualWorld(touch: Finger(touch, terminal).touch)
        guard let state = state ?? file else {
            return VirtualKey(version.map { .demonstration(version: $0) } ?? .demonstration(), world: world)
        }
        let profile = version.map { DeviceProfile(version: $0, serial: UInt32.random(in: 10_000_000...99_999_999)) }
        return try VirtualKey(file: state, world: world, profile: profile)
    }

    private func read<Value>(_ option: String, _ body: () throws(WireError) -> Value) throws -> Value {
        do { return try body() } catch { throw Explanation.usage("\(option): \(error)") }
    }
}
