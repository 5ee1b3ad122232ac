// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKTransport
import YKWire

/// Reads a recording and says whether it is one.
struct CaptureCheck: Verb {
    static let configuration = CommandConfiguration(commandName: "check", abstract: "Validate a recording.")
    static let members = ["file", "link", "device", "firmware", "events", "exchanges", "secrets"]

    @Argument(help: "A recording, or - for standard input.", completion: .file())
    var file: String

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) throws -> Answer {
        let capture = try Capture(file: file)
        var answer = Answer(
            "\(file): a recording of \(capture.events.count) events on a \(capture.header.link.rawValue) link",
            [
                "file": .string(file), "link": .string(capture.header.link.rawValue),
                "device": capture.header.device.map(JSON.string) ?? .null,
                "firmware": capture.header.fields["firmware"] ?? .null,
                "events": .int(Int64(capture.events.count)), "exchanges": .int(Int64(capture.exchangeCount)),
                "secrets": .bool(capture.header.keepsSecrets),
            ])
        answer.warnings = Self.warnings(capture)
        if world.options.strict, let first = answer.warnings.first { throw Explain.malformed("\(file): \(first)") }
        return answer
    }

    /// What is legal but hints at a broken recording.
    private static func warnings(_ capture: Capture) -> [String] {
        var warnings: [String] = []
        if capture.header.keepsSecrets { warnings.append("the recording holds secrets, do not pass it on") }
        for event in capture.events {
            guard case .exchange(let command, let reply) = event.kind else { continue }
            if (try? APDU(decoding: command)) == nil { warnings.append("line \(event.line): the command is no APDU") }
            if reply.count < 2 { warnings.append("line \(event.line): the reply has no status word") }
        }
        return warnings
    }
}

extension Capture {
    var exchangeCount: Int {
        events.count { if case .exchange = $0.kind { true } else { false } }
    }
}
