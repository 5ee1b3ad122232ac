// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKTransport
import YKVirtualKey
import YKWire

/// Puts a software key into a reader of a real smart card service.
struct VirtualServe: Verb {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Put a software key into the virtual reader of a real pcscd.",
        discussion: """
            The reader is vpcd of the vsmartcard project (Debian: vsmartcard-vpcd). ^C takes the key out.

            Rules for --fault:
            \(FaultPlan.grammar)
            """)
    static let members = ["address"]

    @Option(help: ArgumentHelp("Where vpcd listens, 127.0.0.1:35963 without a value.", valueName: "host:port"))
    var vpcd: String

    @Option(
        help: ArgumentHelp("Keep the key in this file; without one it is the demonstration key.", valueName: "file"),
        completion: .file())
    var state: String?

    @Option(help: ArgumentHelp("The firmware version of a new key.", valueName: "version"))
    var firmware: String?

    @Option(help: ArgumentHelp("Misbehave by these rules; may be given again.", valueName: "rules"))
    var fault: [String] = []

    @Option(help: "Who touches the key: yes (at once), no (nobody), ask (you, with Enter).")
    var touch: TouchChoice = .yes

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    /// Who touches the key.
    enum TouchChoice: String, CaseIterable, ExpressibleByArgument {
        case yes, no, ask
    }

    func answer(in world: World) throws -> Answer {
        let address = try read("--vpcd") { () throws(WireError) in try VPCDAddress(parsing: vpcd) }
        let faults = try read("--fault") { () throws(WireError) in
            try FaultPlan(parsing: fault.joined(separator: ";"))
        }
        let key = try key(world.terminal)
        let events = ServedEvents(terminal: world.terminal, log: world.log)
        var server = VPCDServer(
            key, at: address, faults: faults, cancellation: Interruption.cancellation, report: events.report)
        server.reconnects = true
        world.terminal.say("serving a software key at \(address), ^C ends it")
        do { try server.run() } catch {
            throw Explanation(
                "vpcd", .noDevice, "\(error)", hint: "sudo apt install vsmartcard-vpcd && sudo systemctl restart pcscd")
        }
        return Answer([], ["address": .string(address.description)])
    }

    private func key(_ terminal: Terminal) throws -> VirtualKey {
        let version = try firmware.map { text in
            guard let version = Version(text) else {
                throw Explanation.usage("'\(text.printable)' is no firmware version, expected one like 5.7.1")
            }
            return version
        }
        let world = VirtualWorld(touch: Finger(touch, terminal).touch)
        guard let state else {
            return VirtualKey(version.map { .demonstration(version: $0) } ?? .demonstration(), world: world)
        }
        let profile = version.map { DeviceProfile(version: $0, serial: UInt32.random(in: 10_000_000...99_999_999)) }
        return try VirtualKey(file: state, world: world, profile: profile)
    }

    private func read<Value>(_ option: String, _ body: () throws(WireError) -> Value) throws -> Value {
        do { return try body() } catch { throw Explanation.usage("\(option): \(error)") }
    }
}
