// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKBridge
import YKDesktop
import YKHardware
import YKInteraction
import YKKeys
import YKTransport
import YKVirtualKeyHost
import YKWire

/// Presents the FIDO cards in this machine's readers as a security key on HID.
struct BridgeVerb: Verb {
    static let about = About(
        "bridge", "Present a FIDO card in a reader as a security key to every program.",
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

    func run(in run: Run) async throws -> Outcome<BridgeReport> {
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
            BridgeReport(node: events.node, owner: try owner.user(run), readers: [], ceremonies: events.ceremonies))
    }

    private func settings(_ run: Run) throws -> BridgeSettings {
        var settings = BridgeSettings()
        settings.reader = run.selection.reader
        settings.staysPluggedIn = always
        settings.confirms = questions.ask != .none
        settings.owner = try owner.user(run)
        settings.patience = questions.patience
        return settings
    }

    private func plan(_ run: Run) throws -> Outcome<BridgeReport> {
        var readers: [ReaderStatus] = []
        var lines: [String] = []
        do throws(LinkError) { readers = try run.keys.readers() } catch { lines.append(Explanation(error).message) }
        if let wanted = run.selection.reader { readers = readers.filter { $0.name.mentions(wanted) } }
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
        let report = BridgeReport(
            node: nil, owner: user, readers: readers.map { BridgedReader(status: $0) }, ceremonies: 0)
        return Outcome(report, lines)
    }
}

/// What a bridge did, or would do.
struct BridgeReport: Report {
    let node: String?
    let owner: String?
    let readers: [BridgedReader]
    let ceremonies: Int

    static let members: [Member<BridgeReport>] = [
        Member("node", "the last path of the device, null if there was none") { $0.node },
        Member("owner", "the owner of the node, set by udev") { $0.owner },
        Member("readers", "with `--plan`, the readers that would be used") { $0.readers },
        Member("ceremonies", "the number of ceremony messages that the cards answered") { $0.ceremonies },
    ]
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
