// SPDX-License-Identifier: Apache-2.0

public import Arguments
import TerminalIO
import Verbs
public import YKCapture
import YKTransport
import YKWire

/// A log that was converted to a recording.
struct ConvertedRecording: Report {
    let file: String
    let output: String?
    let events: Int

    static let members: [Member<ConvertedRecording>] = [
        Member("file") { $0.file },
        Member("output", "the new file") { $0.output },
        Member("eventCount") { $0.events },
    ]
}

/// Converts another tool's log to a recording.
struct CaptureImporting: Verb {
    static let uses: GlobalUse = .secrets
    static let about = About(
        "import", "Convert another tool's log to a recording.",
        discussion: """
            pcscd: 'pcscd --foreground --debug --apdu', or its journal. pcsc-spy: its output, or the log that it \
            reads. ykman: 'ykman --log-level TRAFFIC'. libfido2: what its tools print with -d, or programs with \
            FIDO_DEBUG. python-fido2: its loggers at level 5. usbmon: 'tcpdump -i usbmon0 -s 0 -w FILE', or \
            Wireshark's file. Secrets are overwritten unless --keep-secrets is given.
            """,
        examples: [Example("ykit capture import --from ykman ykman.log --output session.jsonl")])

    @Option("--from", help: "The tool that wrote the log: pcscd, pcsc-spy, ykman, libfido2, python-fido2 or usbmon.")
    var from: CaptureImport.Format

    @Argument("file", help: "A log, or - for standard input.", completion: .input) var file: String

    @Option("--session <n>", help: "Number of the card or device, from 1, if the log has several.") var session: Int?

    @OptionGroup var output: RecordingOutput

    func check(with global: GlobalOptions) throws { try output.check(with: global) }

    func run(in run: Run) throws -> Outcome<ConvertedRecording> {
        let log = try Files.read(file)
        let capture = try importing(log, keepsSecrets: run.options.keepSecrets)
        let report = ConvertedRecording(file: file, output: output.output, events: capture.events.count)
        var outcome = try output.put(
            capture.bytes, of: report, "a recording of \(capture.events.count) events", run)
        if run.options.keepSecrets {
            outcome.answer.warnings = ["the recording may contain secrets: do not share it"]
        }
        return outcome
    }

    private func importing(_ log: [UInt8], keepsSecrets: Bool) throws(Explanation) -> Capture {
        do {
            return try Capture(
                importing: log, from: from, session: session, keepsSecrets: keepsSecrets)
        } catch {
            throw Explanation.malformed(
                "\(file): \(error)", hint: "is it a \(from.rawValue) log? see ykit help capture import")
        }
    }
}

extension CaptureImport.Format: ExpressibleByArgument {}
