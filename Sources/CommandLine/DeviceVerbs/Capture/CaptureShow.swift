// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCapture
import YKCrypto
import YKKeys
import YKSecureChannel
import YKUse
import YKWire

/// An event of a recording in words.
struct NarratedEvent: Report {
    let narration: Narration
    /// The event with its secrets overwritten.
    let event: Capture.Event

    static let members: [Member<NarratedEvent>] = [
        Member("line", "the header is line 1") { $0.event.line },
        Member("summary") { $0.narration.summary },
        Member("details") { $0.narration.details },
        Member("application") { $0.narration.application },
        Member("known", "whether the command is") { $0.narration.isKnown },
        Member("ms", "since the start") { $0.event.milliseconds },
        Member("bytes", "in hexadecimal, secrets overwritten") { $0.bytes.map(\.hex) },
    ]

    /// The bytes sent (`>`) and received (`<`).
    var bytes: [(direction: String, hex: String)] {
        switch event.kind {
        case .exchange(let command, let reply): [(">", Hex.encode(command)), ("<", Hex.encode(reply))]
        case .written(let bytes), .featureSet(let bytes): [(">", Hex.encode(bytes))]
        case .delivered(let bytes), .featureGot(let bytes): [("<", Hex.encode(bytes))]
        case .http, .link: []
        }
    }
}

/// Describes the exchanges of a recording.
struct CaptureShow: Verb {
    static let about = About(
        "Explain every event of a recording in words. Secrets are never shown.",
        discussion: """
            Recorded SCP03 channels are decrypted with --scp-keys FILE, --scp-keys-fd N or YKIT_SCP_KEYS, or with the \
            factory keys for --scp 03.
            """,
        examples: [
            Example("ykit capture show session.jsonl"),
            Example("ykit capture show session.jsonl --brief", "Print one line for each event."),
        ])
    static let uses: GlobalUse = .channel
    typealias Reported = (file: String, header: Capture.Header, events: [NarratedEvent])
    static let answer = Shape<Reported>(
        Member("file") { $0.file },
        Member("header", "as in the file, without the host's random bytes") { recording in
            var fields = recording.header.fields
            fields["random"] = nil
            return JSONValue.object(fields)
        },
        Member("events") { $0.events })

    @Flag(["--brief", "-b"], help: "One line per event, without details.") var brief = false

    @Flag("--bytes", help: "Show the bytes too, secrets overwritten.") var bytes = false

    @Argument("file", help: "A recording, or - for standard input.", completion: .input) var file: String

    /// Returns the SCP03 keys that decrypt a recorded channel, given in any way; `nil` without any.
    private static func keys(_ channel: SecureChannelOptions, _ terminal: Terminal) throws -> SCP03Keys? {
        let choice = channel.scp?.kind == .scp03 ? channel.scp : nil
        if channel.$scp, choice == nil {
            throw Explanation.usage(
                "a recorded channel of SCP11 cannot be decrypted: its keys existed only during the session")
        }
        guard choice != nil || channel.scpKeys != nil || channel.keySource.isGiven(terminal) else { return nil }
        return try channel.keyText(choice?.version ?? 0, terminal).map { try SCP03Keys(given: $0.value) } ?? .factory
    }

    func run(in run: Run) throws -> Outcome<Reported> {
        var narrator: Narrator?
        var redactor = Redactor()
        var decoder = try Self.keys(run.options.channel, run.terminal).map { SecureChannelDecoder($0) }
        var shownLines: [String] = []
        var events: [NarratedEvent] = []
        var unknown: Explanation?
        let header = try Capture.read(file) { header, event in
            if narrator == nil {
                narrator = Narrator(header.link)
                shownLines = Self.title(header)
            }
            let decoded = decoder?.decode(event)
            guard var narration = narrator?.narrate(decoded?.event ?? event) else { return }
            if let state = decoded?.state { narration.details.append(state.description) }
            let narrated = NarratedEvent(narration: narration, event: redactor.redacted(event))
            if !narration.isKnown, run.options.strict, unknown == nil {
                unknown = Explanation.malformed("line \(event.line): \(narration.summary.printable)")
            }
            if run.options.json { return events.append(narrated) }
            shownLines += lines(narrated)
            if shownLines.count >= Self.linesAtOnce {
                run.terminal.lines(shownLines)
                shownLines.removeAll(keepingCapacity: true)
            }
        }
        if narrator == nil { shownLines = Self.title(header) }
        var outcome = Outcome((file: file, header: header, events: events), shownLines)
        outcome.answer.failure = unknown
        return outcome
    }

    /// The number of lines written at once, so that a long recording is never entirely in memory.
    private static let linesAtOnce = 256

    private static func title(_ header: Capture.Header) -> [String] {
        let parts = [header.device, header.fields["firmware"]?.string.map { "firmware \($0)" }, header.note]
        let known = parts.compactMap { $0?.printable }
        return [
            (header.link == .http
                ? "a recording of requests to a server" : "a recording on a \(header.link.rawValue) link")
                + (known.isEmpty ? "" : ": ")
                + known.joined(separator: "; ")
        ]
    }

    private func lines(_ narrated: NarratedEvent) -> [String] {
        let place = String(narrated.event.line).padded(to: 4)
        var lines = [Style.dim.around(place) + " " + narrated.narration.summary.printable]
        if bytes { lines += narrated.bytes.map { "       " + Style.dim.around("\($0.direction) \($0.hex)") } }
        if !brief { lines += narrated.narration.details.map { "       " + $0.printable } }
        return lines
    }
}
