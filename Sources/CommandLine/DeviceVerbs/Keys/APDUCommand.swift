// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
import YKProtocols
import YKTransport
package import YKWire

extension ResponseAPDU: Report {
    package static let members: [Member<ResponseAPDU>] = [
        Member("data", "in hexadecimal") { Hex.encode($0.data) },
        Member("status", "the status word in hexadecimal") { $0.status.hex },
    ]
}

/// Sends APDUs to an application unchanged.
struct APDUCommand: Verb {
    static let about = About(
        "Send commands to a smart-card application.",
        discussion: """
            A command is written [CLA]INS[P1P2][:DATA][/LE][=SW], all in hexadecimal; '=' alone expects 9000.
            Example: ykit apdu -a oath a1 a4:00 . Long replies are collected. --send sends a command unmodified, byte \
            for byte, and shows its raw reply; such commands are sent after the others.
            """,
        examples: [
            Example("ykit apdu -a piv fd", "Send GET VERSION to the PIV application."),
            Example("ykit apdu -a oath a1", "Send LIST to the OATH application."),
        ])
    typealias Reported = (application: String?, selected: [UInt8]?, replies: [ResponseAPDU])
    static let answer = Shape<Reported>(
        Member("application", "that was selected") { $0.application },
        Member("select", "the reply to SELECT in hexadecimal") { $0.selected.map { Hex.encode($0) } },
        Member("exchanges") { $0.replies })

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

    func run(in run: Run) async throws -> Outcome<Reported> {
        let texts = try commands.map { text throws(Explanation) in try APDUText(text) }
        let whole = try send.map { text throws(Explanation) in try APDUText.whole(text) }
        let aid = try app.map { name throws(Explanation) in try ApplicationName.aid(name) }
        let card = try await run.open(CardService.self)
        if short || extended {
            let form = short ? APDU.Form.short : .extended
            await card.perform { $0.form = form }
        }
        var report: Reported = (application: nil, selected: nil, replies: [])
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

/// A command in the form `[CLA]INS[P1P2][:DATA][/LE][=SW]`, all in hexadecimal.
struct APDUText: Hashable {
    /// The command.
    var apdu: APDU
    /// The expected status word, if any.
    var expected: StatusWord?

    /// Parses the form; the error states the expected form.
    init(_ text: String) throws(Explanation) {
        let (beforeStatus, status) = text.cut("=")
        let (beforeLe, le) = beforeStatus.cut("/")
        let (head, data) = beforeLe.cut(":")
        let bytes = try Self.hex(head, "the header", text)
        switch bytes.count {
        case 1: apdu = APDU(ins: bytes[0])
        case 2: apdu = APDU(cla: bytes[0], ins: bytes[1])
        case 3: apdu = APDU(ins: bytes[0], p1: bytes[1], p2: bytes[2])
        case 4: apdu = APDU(cla: bytes[0], ins: bytes[1], p1: bytes[2], p2: bytes[3])
        default: throw Self.refusal(text, "the header must have 1 to 4 bytes")
        }
        if let data { apdu.data = try Self.hex(data, "DATA", text) }
        if let le { apdu.le = try Self.le(le, text) }
        if let status { expected = status.isEmpty ? .ok : try Self.status(status, text) }
    }

    /// Parses a complete command APDU in hexadecimal, of at least the four header bytes.
    static func whole(_ text: String) throws(Explanation) -> [UInt8] {
        guard let bytes = try? Hex.decode(text), bytes.count >= 4 else {
            throw .usage("'\(text.printable)' is not a complete command: at least four bytes in hexadecimal")
        }
        return bytes
    }

    private static func le(_ text: String, _ whole: String) throws(Explanation) -> APDU.Le {
        let bytes = try hex(text, "LE", whole)
        guard (1...2).contains(bytes.count) else { throw refusal(whole, "LE must have one or two bytes") }
        let value = bytes.reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        return value == 0 ? .max : .bytes(value)
    }

    private static func status(_ text: String, _ whole: String) throws(Explanation) -> StatusWord {
        let bytes = try hex(text, "SW", whole)
        guard bytes.count == 2 else { throw refusal(whole, "SW must have two bytes") }
        return StatusWord(UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    }

    private static func hex(_ text: String, _ what: String, _ whole: String) throws(Explanation) -> [UInt8] {
        do { return try Hex.decode(text) } catch { throw refusal(whole, "\(what): \(error)") }
    }

    private static func refusal(_ text: String, _ why: String) -> Explanation {
        .usage("'\(text.printable)' is not [CLA]INS[P1P2][:DATA][/LE][=SW]: \(why)")
    }
}

extension String {
    /// The parts before and after the first `separator`.
    func cut(_ separator: Character) -> (String, String?) {
        guard let index = firstIndex(of: separator) else { return (self, nil) }
        return (String(self[..<index]), String(self[self.index(after: index)...]))
    }
}

/// An application, given by name or by its AID in hexadecimal.
enum ApplicationName {
    static var names: [(String, AID)] { CardVocabularies.known.all.map { ($0.keyword, $0.aid) } }

    static func aid(_ text: String) throws(Explanation) -> AID {
        if let known = names.first(where: { $0.0 == text.lowercased() }) { return known.1 }
        guard let bytes = try? Hex.decode(text), (5...16).contains(bytes.count) else {
            let list = names.map(\.0).listed()
            throw .usage(
                "'\(text.printable)' is not an application", hint: "one of \(list), or 5 to 16 bytes in hexadecimal")
        }
        return AID(rawValue: bytes)
    }
}
