// SPDX-License-Identifier: Apache-2.0

import Arguments
import Synchronization
import TerminalIO
import Verbs
import YKCapture
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// Attaches a virtual key to this machine.
struct VirtualServe: Verb {
    static let uses: GlobalUse = .virtual
    static let about = About(
        "Plug a virtual key into a real pcscd, or into this machine's kernel.",
        discussion: """
            --vpcd puts it into the virtual reader of the vsmartcard project (Debian: vsmartcard-vpcd). --uhid makes its \
            FIDO interface a HID device of the kernel, with a /dev/hidraw node of its own. --usbip plugs the whole key \
            into the kernel's virtual USB: keyboard, FIDO and smart card reader. ^C unplugs the key.

            Rules for --fault:
            \(FaultPlan.grammar)
            """,
        examples: [
            Example("ykit virtual serve key.json --vpcd", "Attach the key to pcscd through its vpcd driver."),
            Example("sudo ykit virtual serve key.json --uhid"),
        ])
    typealias Reported = (address: VPCDAddress?, node: String?)
    static let answer = Shape<Reported>(
        Member("address", "of vpcd") { $0.address?.description },
        Member("node", "at which programs found the key") { $0.node })

    @Option(
        "--vpcd <host:port>", omitted: .unlessWord("127.0.0.1:35963"),
        help: "The address of vpcd, 127.0.0.1:35963 without a value.")
    var vpcd: String?

    @Flag("--nfc", help: "With --vpcd: the key is held to a contactless reader.") var nfc = false

    @Flag("--uhid", help: "Make it a HID device through /dev/uhid.") var uhid = false

    @Flag("--usbip", help: "Plug it into USB through the kernel's vhci-hcd.") var usbip = false

    @Option("--state <file>", help: "Keep the key in this file (default: the demonstration key, not saved).")
    var state: String?

    @OptionGroup var new: NewKeyOptions

    @Option("--fault <rules>", help: "Inject faults by these rules; may be repeated.") var fault: [String] = []

    @OptionGroup var reader: ServedReaderOptions

    @Option(
        "--touch <who>",
        help:
            "How touches are simulated: yes (immediately), no (time out), never (wait indefinitely), ask (press Enter), "
            + "signal (SIGUSR1; while nothing waits it makes slot 1 type, SIGUSR2 slot 2), or a time such as 2s after which it is touched."
    )
    var touch: TouchChoice = .yes

    @Argument("file", help: "The same as --state.", completion: .file) var file: String?

    func check() throws {
        let ways = [vpcd != nil, uhid, usbip].count { $0 }
        guard ways == 1 else { throw UsageError("give exactly one of --vpcd, --uhid and --usbip") }
        guard !nfc || vpcd != nil else { throw UsageError("--nfc requires --vpcd") }
        guard state == nil || file == nil else { throw UsageError("give only one state file") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        OneProcessor.leave()
        let faults = try read("--fault") { () throws(WireError) in
            try FaultPlan(parsing: fault.joined(separator: ";"))
        }
        guard faults.misfit(on: vpcd == nil ? .reports : .card) == nil else {
            throw Explanation.usage("--fault: a rule is only for \(vpcd == nil ? "cards" : "FIDO HID")")
        }
        let events = ServedEvents(terminal: run.terminal, log: run.log)
        if let vpcd {
            let address = try read("--vpcd") { () throws(WireError) in try VPCDAddress(parsing: vpcd) }
            return try serve(at: address, try key(run.terminal), faults, events, run)
        }
        let key = try key(run.terminal)
        if key.state.profile.model.isCard || key.state.profile.model.isContactCard {
            throw Explanation.usage("a card has no USB interface", hint: "ykit virtual serve --vpcd …")
        }
        return usbip ? try serveUSB(key, faults, events, run) : try serveHID(key, faults, events, run)
    }

    private func serveUSB(
        _ key: VirtualKey, _ faults: FaultPlan, _ events: ServedEvents, _ run: Run
    ) throws -> Outcome<Reported> {
        var server = USBIPServer(
            key, faults: faults, cancellation: run.environment.cancellation, report: events.report)
        server.level = reader.readerLevel
        server.cardFaults = try read("--card-fault") { () throws(WireError) in
            try FaultPlan(parsing: reader.cardFault.joined(separator: ";"))
        }
        guard server.cardFaults.misfit(on: .reader) == nil else {
            throw Explanation.usage("--card-fault: a rule is only for FIDO HID")
        }
        try server.run()
        return Outcome((address: nil, node: events.node))
    }

    private func serve(
        at address: VPCDAddress, _ key: VirtualKey, _ faults: FaultPlan, _ events: ServedEvents, _ run: Run
    ) throws -> Outcome<Reported> {
        var server = VPCDServer(
            key, at: address, faults: faults, cancellation: run.environment.cancellation, report: events.report)
        server.reconnects = true
        server.isContactless = nfc
        try server.run()
        return Outcome((address: address, node: nil))
    }

    private func serveHID(
        _ key: VirtualKey, _ faults: FaultPlan, _ events: ServedEvents, _ run: Run
    ) throws -> Outcome<Reported> {
        let server = UHIDServer(
            key, faults: faults, cancellation: run.environment.cancellation, report: events.report)
        try server.run()
        return Outcome((address: nil, node: events.node))
    }

    private func key(_ terminal: Terminal) throws -> VirtualKey {
        let finger = TouchSimulator(touch, terminal)
        var inputs = VirtualInputs(touch: finger.touch)
        inputs.verify = new.verify(finger.touch)
        inputs.press = finger.press
        guard let state = state ?? file else {
            var demonstration = VirtualKeyState.demonstration()
            if let profile = try new.profile(serial: demonstration.profile.serial) {
                demonstration = .demonstration(version: profile.version)
                demonstration.profile = profile
            }
            return VirtualKey(demonstration, inputs: inputs)
        }
        let profile = try new.profile(serial: UInt32.random(in: 10_000_000...99_999_999))
        return try VirtualKey(file: state, inputs: inputs, profile: profile)
    }

    private func read<Value>(_ option: String, _ body: () throws(WireError) -> Value) throws -> Value {
        do { return try body() } catch { throw Explanation.usage("\(option): \(error)") }
    }
}

/// The card reader that a served USB key contains.
struct ServedReaderOptions: ParsableArguments {
    static let title = "Card Reader on the USB"

    @Option(
        "--reader-level <level>",
        help: "The level of the card reader: extended, short, t1 or t0.",
        transform: ServedReaderOptions.level)
    var readerLevel: ReaderLevel = .extended

    @Option("--card-fault <rules>", help: "With --usbip: let the card misbehave by these rules; may be repeated.")
    var cardFault: [String] = []

    private static func level(_ text: String) throws -> ReaderLevel {
        guard let level = ReaderLevel(rawValue: text) else {
            throw UsageError("'\(text.printable)' is not a level, expected extended, short, t1 or t0")
        }
        return level
    }
}

/// Reports events of a served key.
final class ServedEvents: Sendable {
    let terminal: Terminal
    private let log: Log
    private let narrator = Mutex(Narrator())
    private let path = Mutex<String?>(nil)

    init(terminal: Terminal, log: Log) {
        self.terminal = terminal
        self.log = log
    }

    func report(_ event: VPCDServer.Event) {
        switch event {
        case .inserted: terminal.notice("the key is in the reader, ^C ends it")
        case .removed: terminal.notice("the key is out of the reader")
        case .powerOn: log.say(.info, "power on")
        case .powerOff: log.say(.info, "power off")
        case .reset: log.say(.info, "reset")
        case .exchange(let command, let response): exchange(command, response)
        case .failed(let error): terminal.warnNow(Explanation(error).message)
        }
    }

    /// The path at which programs last found the key.
    var node: String? { path.withLock { $0 } }

    func report(_ event: ServedKeyEvent) {
        switch event {
        case .inserted(let node):
            path.withLock { $0 = node.isEmpty ? nil : node }
            terminal.say(node.isEmpty ? "the key is plugged in, ^C ends it" : "the key is \(node), ^C ends it")
        case .removed: terminal.notice("the key is unplugged")
        case .winked: terminal.notice("the key blinks")
        case .written(let bytes): narrate(.written(bytes))
        case .delivered(let bytes): narrate(.delivered(bytes))
        case .exchange(let command, let response): exchange(command, response)
        case .failed(let error): terminal.warnNow(Explanation(error).message)
        }
    }

    private func narrate(_ kind: Capture.Event.Kind) {
        let narration = narrator.withLock { $0.narrate(.init(kind)) }
        log.say(.debug, narration.summary.printable)
        narration.details.forEach { log.say(.traffic, "  " + $0.printable) }
    }

    private func exchange(_ command: [UInt8], _ response: [UInt8]?) {
        let narration = narrator.withLock { narrator in
            guard let response else { return narrator.narrate(command: command) }
            return narrator.narrate(.init(.exchange(command: command, reply: response)))
        }
        log.say(.debug, narration.summary.printable + (response == nil ? ": no answer" : ""))
        narration.details.forEach { log.say(.traffic, "  " + $0.printable) }
    }
}
