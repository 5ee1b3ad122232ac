// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKProtocols
import YKTransport
import YKWire

/// Sends APDUs to an application unchanged.
struct APDUCommand: Verb {
    static let about = About(
        "apdu", "Send commands to a smart-card application.",
        discussion: """
            A command is written [CLA]INS[P1P2][:DATA][/LE][=SW], all in hexadecimal; '=' alone expects 9000.
            Example: ykit apdu -a oath a1 a4:00 . Long replies are collected. --send sends a command unmodified, byte \
            for byte, and shows its raw reply; such commands are sent after the others.
            """, members: ["application", "select", "exchanges"],
        examples: [
            Example("ykit apdu -a piv fd", "Send GET VERSION to the PIV application."),
            Example("ykit apdu -a oath a1", "Send LIST to the OATH application."),
        ])

    @Option(["-a", "--app"], help: "Select this application first: a name or an AID.") var app: String?

    @Option(["-s", "--send <hex>"], help: "Send this command APDU as it is; may be repeated.") var send: [String] = []

    @Flag("--short", help: "Write lengths in one byte.") var short = false

    @Flag("--extended", help: "Write lengths in two bytes.") var extended = false

    @Argument("apdu", help: "Commands.") var commands: [String] = []

    func check() throws {
        if commands.isEmpty, send.isEmpty, app == nil {
            throw UsageError("give a command, or an application to select")
        }
        if short, extended { throw UsageError("--short and --extended cannot be combined") }
    }

    func answer(in world: World) throws -> Answer {
        let texts = try commands.map { text throws(Explanation) in try APDUText(text) }
        let whole = try send.map { text throws(Explanation) in try APDUText.whole(text) }
        let aid = try app.map { name throws(Explanation) in try ApplicationName.aid(name) }
        let channel = try world.connect()
        if short || extended { channel.form = short ? .short : .extended }
        var answer = Answer()
        if let aid {
            let reply = try channel.select(aid)
            answer.members["application"] = .string(aid.title)
            answer.members["select"] = .string(Hex.encode(reply))
            if texts.isEmpty, whole.isEmpty { answer.lines.append(Self.line(ResponseAPDU(.ok, data: reply))) }
        }
        var exchanges: [JSONValue] = []
        for text in texts {
            let response = try channel.transmit(text.apdu)
            answer.lines.append(Self.line(response))
            exchanges.append(["data": .string(Hex.encode(response.data)), "status": .string(response.status.hex)])
            if let expected = text.expected, expected != response.status {
                throw Self.unexpectedStatus(expected, response)
            }
        }
        for command in whole {
            let response = try ResponseAPDU(decoding: try channel.exchange(raw: command))
            answer.lines.append(Self.line(response))
            exchanges.append(["data": .string(Hex.encode(response.data)), "status": .string(response.status.hex)])
        }
        answer.members["exchanges"] = .array(exchanges)
        return answer
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
