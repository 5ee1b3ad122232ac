// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
package import TerminalIO
import Verbs
package import YKCapture
import YKHardware
import YKWire

/// Commands for recordings.
struct CaptureGroup: ParsableCommand {
    static let about = About(
        "Show, check and convert recordings.",
        subcommands: [
            "show": CaptureShow.self, "check": CaptureCheck.self, "redact": CaptureRedact.self,
            "import": CaptureImporting.self,
        ],
        examples: [Example("ykit capture show session.jsonl")])
}

/// The destination of a recording: a file, or standard output.
struct RecordingOutput: ParsableArguments {
    @Option(["--output <file>", "-o"], help: "Where to write the recording.") var output: String?

    @OptionGroup var replacing: OutputOptions

    func check(with global: GlobalOptions) throws {
        if global.json, output == nil { throw UsageError("--json needs --output FILE") }
    }

    /// Writes a recording, and returns its outcome, with a line about the file if it was written to one.
    func put<Reported>(
        _ recording: [UInt8], of report: Reported, _ words: String, _ run: Run
    ) throws(Explanation) -> Outcome<Reported> {
        guard let output else {
            var outcome = Outcome(report)
            outcome.answer.raw = recording
            return outcome
        }
        return try FileOutput(output, isSecret: true, force: replacing.force, run)
            .put(recording, of: report, "\(output): \(words)")
    }
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
        "Validate a recording.",
        examples: [Example("ykit capture check session.jsonl")])
    typealias Reported = (file: String, capture: Capture, findings: [Capture.Finding])
    static let answer = Shape<Reported>(
        Member("file") { $0.file }, Member("link") { $0.capture.header.link.rawValue },
        Member("device") { $0.capture.header.device },
        Member("firmware") { $0.capture.header.fields["firmware"]?.string },
        Member("eventCount") { $0.capture.events.count }, Member("exchangeCount") { $0.capture.exchangeCount },
        Member("keepsSecrets") { $0.capture.header.keepsSecrets }, Member("findings") { $0.findings })

    @Argument("file", help: "A recording, or - for standard input.", completion: .input) var file: String

    func run(in run: Run) throws -> Outcome<Reported> {
        let capture = try Capture(file: file)
        let findings = capture.check()
        var outcome = Outcome(
            (file: file, capture: capture, findings: findings),
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

/// Overwrites the secrets in a recording.
struct CaptureRedact: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Overwrite the secrets in a recording and print it.",
        discussion: "With --output the result is written to a new file; the recording itself is not changed.",
        examples: [Example("ykit capture redact session.jsonl --output shared.jsonl")])
    typealias Reported = (file: String, output: String?, changed: Int)
    static let answer = Shape<Reported>(
        Member("file") { $0.file }, Member("output", "the new file") { $0.output },
        Member("changedCount", "how many events") { $0.changed })

    @Argument("file", help: "A recording, or - for standard input.", completion: .input) var file: String

    @OptionGroup var output: RecordingOutput

    func check(with global: GlobalOptions) throws { try output.check(with: global) }

    func run(in run: Run) throws -> Outcome<Reported> {
        var redactor = Redactor()
        var text: [UInt8] = []
        text.reserveCapacity(FileStatus(file)?.size ?? 0)
        var (changed, count) = (0, 0)
        func add(_ line: String) {
            text += line.utf8
            text.append(UInt8(ascii: "\n"))
        }
        let header = try Capture.read(file) { header, event in
            if count == 0 { add(header.redacted.text) }
            let redacted = redactor.redacted(event)
            if redacted.kind != event.kind { changed += 1 }
            count += 1
            add(redacted.text)
        }
        if count == 0 { add(header.redacted.text) }
        let report = (file: file, output: output.output, changed: changed)
        return try output.put(text, of: report, "secrets overwritten in \(changed) of \(count) events", run)
    }
}
