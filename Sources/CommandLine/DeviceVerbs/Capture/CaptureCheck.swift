// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
package import YKCapture
import YKTransport
import YKWire

/// The result of checking a recording.
struct CheckedRecording: Report {
    let file: String
    let capture: Capture
    let findings: [Capture.Finding]

    static let members: [Member<CheckedRecording>] = [
        Member("file") { $0.file },
        Member("link") { $0.capture.header.link.rawValue },
        Member("device") { $0.capture.header.device },
        Member("firmware") { $0.capture.header.fields["firmware"]?.string },
        Member("eventCount") { $0.capture.events.count },
        Member("exchangeCount") { $0.capture.exchangeCount },
        Member("keepsSecrets") { $0.capture.header.keepsSecrets },
        Member("findings") { $0.findings },
    ]
}

extension Capture.Finding: Report {
    package static let members: [Member<Capture.Finding>] = [
        Member("line", "the header is line 1") { $0.line },
        Member("level", "error or warning") { $0.isError ? "error" : "warning" },
        Member("reason") { $0.reason },
    ]
}

/// Checks whether a file is a valid recording.
struct CaptureCheck: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "check", "Validate a recording.",
        examples: [Example("ykit capture check session.jsonl")])

    @Argument("file", help: "A recording, or - for standard input.", completion: .input) var file: String

    func run(in run: Run) throws -> Outcome<CheckedRecording> {
        let capture = try Capture(file: file)
        let findings = capture.check()
        var outcome = Outcome(
            CheckedRecording(file: file, capture: capture, findings: findings),
            "\(file): a recording of \(capture.events.count) events on \(capture.header.link.phrase)")
        let isBad = { (finding: Capture.Finding) in finding.isError || run.options.strict }
        outcome.answer.warnings = findings.filter { !isBad($0) }.map {
            Warning("recording", $0.description.printable)
        }
        let bad = findings.filter(isBad)
        if let first = bad.first {
            outcome.answer.lines = bad.map { Style.red.around("\(file): \($0.description.printable)") }
            outcome.answer.failure = Explanation.malformed(
                "\(file) is not a valid recording: \(first.description.printable)")
        }
        return outcome
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
