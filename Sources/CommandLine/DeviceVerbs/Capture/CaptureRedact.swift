// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCapture
import YKHardware
import YKTransport
import YKWire

/// A recording whose secrets were overwritten.
struct RedactedRecording: Report {
    let file: String
    let output: String?
    let changed: Int

    static let members: [Member<RedactedRecording>] = [
        Member("file") { $0.file },
        Member("output", "the new file") { $0.output },
        Member("changedCount", "how many events") { $0.changed },
    ]
}

/// Overwrites the secrets in a recording.
struct CaptureRedact: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "redact", "Overwrite the secrets in a recording and print it.",
        discussion: "With --output the result is written to a new file; the recording itself is not changed.",
        examples: [Example("ykit capture redact session.jsonl --output shared.jsonl")])

    @Argument("file", help: "A recording, or - for standard input.", completion: .input) var file: String

    @OptionGroup var output: RecordingOutput

    func check(with global: GlobalOptions) throws { try output.check(with: global) }

    func run(in run: Run) throws -> Outcome<RedactedRecording> {
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
        let report = RedactedRecording(file: file, output: output.output, changed: changed)
        return try output.put(text, of: report, "secrets overwritten in \(changed) of \(count) events", run)
    }
}
