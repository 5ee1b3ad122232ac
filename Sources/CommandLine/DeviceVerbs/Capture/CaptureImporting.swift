// SPDX-License-Identifier: Apache-2.0

public import Arguments
import TerminalIO
import Verbs
public import YKCapture
import YKWire

/// A piece of a log that could not be read.
struct SkippedPiece: Report {
    let error: CaptureError

    static let members: [Member<SkippedPiece>] = [
        Member("line") { $0.error.line },
        Member("reason") { $0.error.reason },
    ]
}

/// Converts another tool's log to a recording.
struct CaptureImporting: Verb {
    static let uses: GlobalUse = .secrets
    static let about = About(
        "Convert another tool's log to a recording.",
        discussion: """
            The log may be a whole bug report: other text, prefixes, quoting and time stamps are passed over, and what \
            is traffic but cannot be read is skipped with a warning. The tool is recognized unless --from names it. \
            Secrets are overwritten unless --keep-secrets is given.

            Tools, and where their logs come from: \(sources).
            """,
        examples: [
            Example("ykit capture import ykman.log --output session.jsonl")
        ])
    typealias Reported = (file: String, output: String?, capture: Capture, log: CaptureImport.Log)
    static let answer = Shape<Reported>(
        Member("file") { $0.file }, Member("output", "the new file") { $0.output },
        Member("eventCount") { $0.capture.events.count },
        Member("format", "the tool that wrote the log") { $0.log.format.rawValue },
        Member("skipped", "traffic that cannot be read, up to 100 pieces") { $0.log.skipped.map(SkippedPiece.init) })

    private static let sources = CaptureImport.Format.allCases.map { "\($0.rawValue) (\($0.source))" }
        .listed()

    @Option("--from", help: "The tool that wrote the log: \(CaptureImporting.names).") var from: CaptureImport.Format?

    private static let names = CaptureImport.Format.allCases.map(\.rawValue).listed()

    @Argument("file", help: "A log, or - for standard input.", completion: .input) var file: String

    @Option("--session <n>", help: "Number of the card or device, from 1, if the log has several.") var session: Int?

    @OptionGroup var output: RecordingOutput

    func check(with global: GlobalOptions) throws { try output.check(with: global) }

    func run(in run: Run) throws -> Outcome<Reported> {
        let bytes = try Files.read(file)
        let what = "reading a log of \(bytes.count >> 20) MiB"
        if bytes.count > 4 << 20, !run.terminal.isErrorTerminal { run.terminal.notice(what) }
        let log = try run.showing(what) {
            try read(bytes, keepsSecrets: run.options.keepSecrets)
        }
        let capture: Capture
        do { capture = try log.session(session) } catch { throw refusal(error) }
        if run.options.strict, let first = log.skipped.first { throw refusal(first) }
        var outcome = try output.put(
            capture.bytes, of: (file: file, output: output.output, capture: capture, log: log),
            "a recording of \(capture.events.count) events", run)
        outcome.answer.warnings = log.skipped.prefix(Self.shown).map {
            Warning("skipped", "skipped: \($0.description.printable)")
        }
        if log.skipped.count > Self.shown {
            outcome.answer.warnings.append(
                Warning("skipped", "skipped: \(log.skipped.count - Self.shown) more pieces; --json lists them"))
        }
        if run.options.keepSecrets {
            outcome.answer.warnings.append(
                Warning("keeps-secrets", "the recording may contain secrets: do not share it"))
        }
        return outcome
    }

    /// The number of skipped pieces that have a warning each.
    private static let shown = 10

    private func read(_ log: [UInt8], keepsSecrets: Bool) throws(Explanation) -> CaptureImport.Log {
        do { return try CaptureImport.read(log, from: from, keepsSecrets: keepsSecrets) } catch { throw refusal(error) }
    }

    private func refusal(_ error: CaptureError) -> Explanation {
        let hint = from.map { "is it a \($0.rawValue) log? see" } ?? "name the tool with --from; its logs are listed by"
        return .malformed(
            "\(file == "-" ? "standard input" : file): \(error)", hint: "\(hint) ykit help capture import")
    }
}

extension CaptureImport.Format: ExpressibleByArgument {}
