// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import TerminalIO
import Verbs
import YKBridge
import YKHardware
import YKInteraction
import YKKeys
import YKTransport
import YKVirtualKeyHost
import YKWire

/// Presents the FIDO cards in this machine's readers as a security key on HID.
struct BridgeVerb: Verb {
    static let about = About(
        "Present a FIDO card in a reader as a security key to every program.",
        discussion: """
            Browsers, ssh, pam_u2f and systemd look for keys on USB only. Until ^C, the bridge presents a card in a \
            contactless or contact reader as such a key, through the kernel's uhid. Placing the card on a contactless \
            reader counts as a touch, for one ceremony. The use of a card with contacts is confirmed at the terminal \
            or in a notification. As a service: sudo systemctl enable --now ykit-bridge@USER.
            """,
        examples: [
            Example("ykit bridge --plan", "Show the readers and what would be created, without creating it."),
            Example("sudo ykit bridge", "Bridge the cards of all readers."),
            Example("sudo ykit --reader ACR122U bridge --always", "Keep the device without a card."),
        ])
    static let uses: GlobalUse = [.reader, .plan, .ownPlan]
    typealias Reported = (node: String?, owner: String?, readers: [BridgedReader], ceremonies: Int)
    static let answer = Shape<Reported>(
        Member("node", "the last path of the device, null if there was none") { $0.node },
        Member("owner", "the owner of the node, set by udev") { $0.owner },
        Member("readers", "with `--plan`, the readers that would be used") { $0.readers },
        Member("ceremonies", "the number of ceremony messages that the cards answered") { $0.ceremonies })

    @Flag("--always", help: "Keep the device even while there is no card.") var always = false

    @Flag("--stdio", help: "Serve as the far end of 'ykit remote', over standard input and output.")
    var stdio = false

    @Option(
        "--vpcd <host:port>", omitted: .unlessWord("127.0.0.1:35963"),
        help: "The address of vpcd, 127.0.0.1:35963 without a value.")
    var vpcd: String?

    @OptionGroup var questions: QuestionOptions
    @OptionGroup var owner: OwnerOptions

    func check() throws {
        if stdio, always || questions.wait != nil {
            throw UsageError("--stdio cannot be combined with --always and --wait")
        }
        if vpcd != nil, !stdio { throw UsageError("--vpcd requires --stdio") }
        try questions.check(limit: 600)
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let reader: VPCDAddress
        do { reader = try VPCDAddress(parsing: vpcd ?? "") } catch { throw Explanation.usage("--vpcd: \(error)") }
        if run.options.plan { return try stdio ? farPlan(reader, run) : plan(run) }
        OneProcessor.leave()
        let events = BridgeEvents(run.terminal, run.log)
        if stdio { return try serveRemoteKey(run, events, reader) }
        let settings = try settings(run)
        let person = try questions.ask.person(run.terminal, .program(patience: settings.patience))
        let bridge = Bridge(
            settings, readers: SelectedReaders(keys: run.keys), person: person, environment: run.environment,
            report: events.report)
        run.terminal.notice(always ? "the bridge starts, ^C ends it" : "place a card on the reader; ^C ends the bridge")
        try bridge.run()
        return Outcome(
            (node: events.node, owner: try owner.user(run), readers: [], ceremonies: events.ceremonies))
    }

    private func settings(_ run: Run) throws -> BridgeSettings {
        var settings = BridgeSettings()
        settings.reader = run.options.reader
        settings.staysPluggedIn = always
        settings.confirms = questions.ask != .none
        settings.owner = try owner.user(run)
        settings.patience = questions.patience
        return settings
    }

    private func plan(_ run: Run) throws -> Outcome<Reported> {
        var readers: [ReaderStatus] = []
        var lines: [String] = []
        do throws(LinkError) { readers = try run.keys.readers() } catch { lines.append(Explanation(error).message) }
        if let wanted = run.options.reader { readers = readers.filter { $0.name.mentions(wanted) } }
        lines += readers.map { reader in
            let card =
                !reader.hasCard ? "no card" : reader.contactless == nil ? "a card with contacts" : "a contactless card"
            return "reader '\(reader.name.printable)': \(card)"
        }
        if readers.isEmpty { lines.append("no reader") }
        let user = try owner.user(run)
        lines.append(
            "would create a HID device \(BridgeNode.numbers) through /dev/uhid for "
                + (user.map { "the user \($0.printable)" } ?? "the users at this machine"))
        return Outcome((node: nil, owner: user, readers: readers.map(BridgedReader.init), ceremonies: 0), lines)
    }
}

/// A reader and whether it has a card.
struct BridgedReader: Report {
    let status: ReaderStatus

    static let members: [Member<BridgedReader>] = [
        Member("reader") { $0.status.name },
        Member("hasCard") { $0.status.hasCard },
        Member("isContactless", "whether the card is on a contactless reader") { $0.status.contactless != nil },
    ]
}

/// The readers, with the log of the run.
struct SelectedReaders: BridgeReaders {
    let keys: KeyRing

    func events() -> AsyncStream<ReaderEvent> { keys.hardware.readerEvents() }

    func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        keys.decoration.logged(try keys.hardware.connect(reader: reader, deadline: deadline))
    }
}

/// The bridge to a key at the other end of an SSH connection.
extension BridgeVerb {
    /// Serves the near end at standard input and output. Messages from this end go to standard error, which the near
    /// end shows.
    func serveRemoteKey(
        _ run: Run, _ events: BridgeEvents, _ reader: VPCDAddress
    ) throws -> Outcome<Reported> {
        guard isatty(0) == 0, isatty(1) == 0 else {
            throw Explanation.usage(
                "--stdio is for 'ykit remote', not for a terminal",
                hint: "on the machine with the key: ykit remote HOST")
        }
        var end = FarEnd(
            input: 0, output: 1, program: Program.version, owner: try owner.user(run),
            cancellation: run.environment.cancellation, report: events.report)
        end.reader = reader
        try end.run()
        return Outcome((node: events.node, owner: try owner.user(run), readers: [], ceremonies: 0))
    }

    /// The plan for a key at the near end.
    func farPlan(_ reader: VPCDAddress, _ run: Run) throws -> Outcome<Reported> {
        let user = try owner.user(run)
        return Outcome(
            (node: nil, owner: user, readers: [], ceremonies: 0),
            [
                "would create a HID device \(BridgeNode.numbers) through /dev/uhid for "
                    + (user.map { "the user \($0.printable)" } ?? "the users at this machine"),
                "or put a card of the other end into the virtual reader at \(reader)",
                "would pass its messages to 'ykit remote' over standard output",
            ])
    }
}

/// The device of a bridge, and its owner.
enum BridgeNode {
    /// Vendor and product number.
    static var numbers: String { "\(hex(Bridge.vendor)):\(hex(Bridge.product))" }

    private static func hex(_ number: UInt16) -> String {
        Hex.encode([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
    }

    /// Whether a text can be a user name (useradd(8)), which udev receives as a part of the device.
    static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count <= 32 else { return false }
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) }
        guard isLetter(first) || first == UInt8(ascii: "_") else { return false }
        return bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_-.".utf8.contains($0) }
    }
}
