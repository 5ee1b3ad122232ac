// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
import YKProtocols
import YKTransport
package import YKWire

/// The replies to APDUs.
struct APDUReplies: Report {
    var application: String?
    var selected: [UInt8]?
    var replies: [ResponseAPDU] = []

    static let members: [Member<APDUReplies>] = [
        Member("application", "that was selected") { $0.application },
        Member("select", "the reply to SELECT in hexadecimal") { $0.selected.map { Hex.encode($0) } },
        Member("exchanges") { $0.replies },
    ]
}

extension ResponseAPDU: Report {
    package static let members: [Member<ResponseAPDU>] = [
        Member("data", "in hexadecimal") { Hex.encode($0.data) },
        Member("status", "the status word in hexadecimal") { $0.status.hex },
    ]
}

/// Sends APDUs to an application unchanged.
struct APDUCommand: Verb {
    static let about = About(
        "apdu", "Send commands to a smart-card application.",
        discussion: """
            A command is written [CLA]INS[P1P2][:DATA][/LE][=SW], all in hexadecimal; '=' alone expects 9000.
            Example: ykit apdu -a oath a1 a4:00 . Long replies are collected. --send sends a command unmodified, byte \
            for byte, and shows its raw reply; such commands are sent after the others.
            """,
        examples: [
            Example("ykit apdu -a piv fd", "Send GET VERSION to the PIV application."),
            Example("ykit apdu -a oath a1", "Send LIST to the OATH application."),
        ])

    @Option(["-a", "--app"], help: "Select this application first: a name or an AID.") var app: String?

    @Option(["-s", "--send <hex>"], help: "Send this command APDU unmodified; may be repeated.") var send: [String] = []

    @Flag("--short", help: "Write lengths in one byte.") var short = false

    @Flag("--extended", help: "Write lengths in two bytes.") var extended = false

    @Argument("apdu", help: "Commands.") var commands: [String] = []

    func check() throws {
        if commands.isEmpty, send.isEmpty, app == nil {
            throw UsageError("give a command, or an application to select")
        }
        if short, extended { throw UsageError("--short and --extended cannot be combined") }
    }

    func run(in run: Run) async throws -> Outcome<APDUReplies> {
        let texts = try commands.map { text throws(Explanation) in try APDUText(text) }
        let whole = try send.map { text throws(Explanation) in try APDUText.whole(text) }
        let aid = try app.map { name throws(Explanation) in try ApplicationName.aid(name) }
        let card = try await run.open(CardService.self)
        if short || extended {
            let form = short ? APDU.Form.short : .extended
            await card.perform { $0.form = form }
        }
        var report = APDUReplies()
        var lines: [String] = []
        if let aid {
            let reply = try await card.select(aid)
            (report.application, report.selected) = (aid.title, reply)
            if texts.isEmpty, whole.isEmpty { lines.append(Self.line(ResponseAPDU(.ok, data: reply))) }
        }
        for text in texts {
            let response = try await card.send(text.apdu)
            report.replies.append(response)
            if let expected = text.expected, expected != response.status {
                throw Self.unexpectedStatus(expected, response)
            }
        }
        for command in whole {
            report.replies.append(try ResponseAPDU(decoding: try await card.exchange(raw: command)))
        }
        return Outcome(report, lines + report.replies.map(Self.line))
    }

    private static func line(_ response: ResponseAPDU) -> String {
        (response.data.isEmpty ? [] : [Hex.encode(response.data)]).joined() + (response.data.isEmpty ? "" : " ")
            + response.status.hex
    }

    private static func unexpectedStatus(_ expected: StatusWord, _ response: ResponseAPDU) -> Explanation {
        Explanation(
            "unexpected-status", .failed, "the key answered \(response.status), expected \(expected.hex)",
            retriesLeft: response.status.triesLeft)
    }
}
