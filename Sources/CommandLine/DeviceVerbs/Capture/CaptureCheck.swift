// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCapture
import YKTransport
import YKWire

/// Checks whether a file is a valid recording.
struct CaptureCheck: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "check", "Validate a recording.",
        members: ["file", "link", "device", "firmware", "events", "exchanges", "secrets", "findings"],
        examples: [Example("ykit capture check session.jsonl")])

    @Argument("file", help: "A recording, or - for standard input.", completion: .file) var file: String

    func answer(in world: World) throws -> Answer {
        let capture = try Capture(file: file)
        var answer = Answer(
            "\(file): a recording of \(capture.events.count) events on \(capture.header.link.phrase)",
            [
                "file": .string(file), "link": .string(capture.header.link.rawValue),
                "device": capture.header.device.map(JSONValue.string) ?? .null,
                "firmware": capture.header.fields["firmware"] ?? .null,
                "events": .int(Int64(capture.events.count)), "exchanges": .int(Int64(capture.exchangeCount)),
                "secrets": .bool(capture.header.keepsSecrets),
            ])
        let findings = capture.check()
        answer.members["findings"] = .array(findings.map(\.json))
        let isBad = { (finding: Capture.Finding) in finding.isError || world.options.strict }
        answer.warnings = findings.filter { !isBad($0) }.map { $0.description.printable }
        let bad = findings.filter(isBad)
        if let first = bad.first {
            answer.lines = bad.map { Style.red.around("\(file): \($0.description.printable)") }
            answer.failure = Explanation.malformed("\(file) is not a valid recording: \(first.description.printable)")
        }
        return answer
    }
}

extension Capture.LinkKind {
    fileprivate var phrase: String { self == .http ? "a connection to a server" : "a \(rawValue) link" }
}

extension Capture {
    var exchangeCount: Int {
        events.count { event in
            switch event.kind {
            case .exchange, .http: true
            default: false
            }
        }
    }
}
