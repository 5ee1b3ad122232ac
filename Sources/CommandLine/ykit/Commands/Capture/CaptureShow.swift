// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCapture
import YKTransport
import YKWire

/// Describes the exchanges of a recording.
struct CaptureShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Explain every event of a recording in words. Secrets are never shown.")
    static let members = ["file", "header", "events"]

    @Flag(name: .shortAndLong, help: "One line an event, without details.")
    var brief = false

    @Flag(help: "Show the bytes too, secrets overwritten.")
    var bytes = false

    @Argument(help: "A recording, or - for standard input.", completion: .file)
    var file: String

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) throws -> Answer {
        let capture = try Capture(file: file)
        var answer = Answer(Self.title(capture.header), ["file": .string(file), "header": Self.json(capture.header)])
        var narrator = Narrator(capture.header.link)
        var redactor = Redactor()
        var decoder = try global.scpKeys.map { SecureChannelDecoder(try World.keySet(in: $0)) }
        var events: [JSON] = []
        for event in capture.events {
            let decoded = decoder?.decode(event)
            var narration = narrator.narrate(decoded?.event ?? event)
            if let note = decoded?.note { narration.details.append(note) }
            let shown = redactor.redacted(event)
            answer.lines += lines(narration, shown, world.terminal)
            events.append(.object(Self.json(narration, shown)))
            if !narration.isKnown, world.options.strict {
                throw Explain.malformed("line \(event.line): \(narration.summary.printable)")
            }
        }
        answer.members["events"] = .array(events)
        return answer
    }

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

    private func lines(_ narration: Narration, _ event: Capture.Event, _ terminal: Terminal) -> [String] {
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
    private static func json(_ header: Capture.Header) -> JSON {
        var fields = header.fields
        fields["random"] = nil
        return .object(fields)
    }

    private static func json(_ narration: Narration, _ event: Capture.Event) -> JSON.Object {
        var object = JSON.Object()
        object["line"] = .int(Int64(event.line))
        object["summary"] = .string(narration.summary)
        object["details"] = .array(narration.details.map(JSON.string))
        object["application"] = narration.application.map(JSON.string) ?? .null
        object["known"] = .bool(narration.isKnown)
        object["ms"] = event.milliseconds.map(JSON.double) ?? .null
        object["bytes"] = .array(hex(event).map { .string(String($0.dropFirst(2))) })
        return object
    }
}
