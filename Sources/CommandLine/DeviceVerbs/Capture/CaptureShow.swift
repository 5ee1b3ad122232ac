// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCapture
import YKKeys
import YKSecureChannel
import YKTransport
import YKWire

/// Describes the exchanges of a recording.
struct CaptureShow: Verb {
    static let about = About(
        "show", "Explain every event of a recording in words. Secrets are never shown.",
        discussion: """
            Recorded SCP03 channels are decrypted with --scp-keys FILE, --scp-keys-fd N or YKIT_SCP_KEYS, or with the \
            factory keys for --scp 03.
            """,
        members: ["file", "header", "events"],
        examples: [
            Example("ykit capture show session.jsonl"),
            Example("ykit capture show session.jsonl --brief", "Print one line for each event."),
        ])
    static let uses: GlobalUse = .channel

    @Flag(["--brief", "-b"], help: "One line per event, without details.") var brief = false

    @Flag("--bytes", help: "Show the bytes too, secrets overwritten.") var bytes = false

    @Argument("file", help: "A recording, or - for standard input.", completion: .file) var file: String

    func answer(in world: World) throws -> Answer {
        var narrator: Narrator?
        var redactor = Redactor()
        var decoder = try world.options.channel.recordedKeys(world.terminal).map { SecureChannelDecoder($0) }
        var shownLines: [String] = []
        var events: [JSONValue] = []
        var unknown: Explanation?
        let header = try Capture.read(file) { header, event in
            if narrator == nil {
                narrator = Narrator(header.link)
                shownLines = Self.title(header)
            }
            let decoded = decoder?.decode(event)
            guard var narration = narrator?.narrate(decoded?.event ?? event) else { return }
            if let state = decoded?.state { narration.details.append(state.description) }
            let shown = redactor.redacted(event)
            if !narration.isKnown, world.options.strict, unknown == nil {
                unknown = Explanation.malformed("line \(event.line): \(narration.summary.printable)")
            }
            if world.options.json { return events.append(.object(Self.json(narration, shown))) }
            shownLines += lines(narration, shown)
            if shownLines.count >= Self.linesAtOnce {
                world.terminal.lines(shownLines)
                shownLines.removeAll(keepingCapacity: true)
            }
        }
        if narrator == nil { shownLines = Self.title(header) }
        var answer = Answer(
            shownLines, ["file": .string(file), "header": Self.json(header), "events": .array(events)])
        answer.failure = unknown
        return answer
    }

    /// How many lines are written together, so that a long recording is never in memory as a whole.
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

    private func lines(_ narration: Narration, _ event: Capture.Event) -> [String] {
        let place = String(event.line).padded(to: 4)
        var lines = [Style.dim.around(place) + " " + narration.summary.printable]
        if bytes { lines += Self.hex(event).map { "       " + Style.dim.around($0) } }
        if !brief { lines += narration.details.map { "       " + $0.printable } }
        return lines
    }

    private static func hex(_ event: Capture.Event) -> [String] {
        switch event.kind {
        case .exchange(let command, let reply): ["> " + Hex.encode(command), "< " + Hex.encode(reply)]
        case .written(let bytes), .featureSet(let bytes): ["> " + Hex.encode(bytes)]
        case .delivered(let bytes), .featureGot(let bytes): ["< " + Hex.encode(bytes)]
        case .http, .link: []
        }
    }

    /// The header without the host's random bytes.
    private static func json(_ header: Capture.Header) -> JSONValue {
        var fields = header.fields
        fields["random"] = nil
        return .object(fields)
    }

    private static func json(_ narration: Narration, _ event: Capture.Event) -> JSONValue.Object {
        var object = JSONValue.Object()
        object["line"] = .int(Int64(event.line))
        object["summary"] = .string(narration.summary)
        object["details"] = .array(narration.details.map(JSONValue.string))
        object["application"] = narration.application.map(JSONValue.string) ?? .null
        object["known"] = .bool(narration.isKnown)
        object["ms"] = event.milliseconds.map(JSONValue.double) ?? .null
        object["bytes"] = .array(hex(event).map { .string(String($0.dropFirst(2))) })
        return object
    }
}
