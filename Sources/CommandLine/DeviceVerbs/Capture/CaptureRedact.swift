// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCapture
import YKHardware
import YKTransport
import YKWire

/// Overwrites the secrets in a recording.
struct CaptureRedact: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "redact", "Overwrite the secrets in a recording and print it.",
        discussion: "With --output the result is written to a new file; the recording itself is not changed.",
        members: ["file", "output", "changed"],
        examples: [Example("ykit capture redact session.jsonl --output shared.jsonl")])

    @Argument("file", help: "A recording, or - for standard input.", completion: .file) var file: String

    @OptionGroup var output: RecordingOutput

    func check(with global: GlobalOptions) throws { try output.check(with: global) }

    func answer(in world: World) throws -> Answer {
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
        var answer = Answer()
        answer.members["file"] = .string(file)
        try output.put(text, "secrets overwritten in \(changed) of \(count) events", &answer, world)
        answer.members["changed"] = .int(Int64(changed))
        return answer
    }
}
