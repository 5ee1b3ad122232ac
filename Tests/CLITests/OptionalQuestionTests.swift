// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKProtocols
import YKTestSupport
import YKWire

@testable import YKCapture

/// Runs card verbs on a virtual key that answers one optional question (``CardVocabulary/isOptional(_:)``) in every way in
/// which cards do: the verb ends as it does otherwise.
@Suite struct OptionalQuestionTests {
    /// A verb, and the members of its answer that stay the same.
    struct Verb: Sendable, CustomTestStringConvertible {
        let command: String
        var members: [String] = []
        var testDescription: String { command }
    }

    static let verbs = [
        Verb(command: "info", members: ["reader"]), Verb(command: "piv info", members: ["uris"]),
        Verb(command: "piv keys info 9a", members: ["slot", "algorithm", "publicKey"]),
        Verb(command: "piv keys generate 9e new.pem -f"), Verb(command: "piv keys import 9e key.pem -f"),
        Verb(command: "piv keys export 9a", members: ["publicKey"]),
        Verb(command: "piv certificates generate 9a --subject CN=Bob -f"),
        Verb(command: "piv certificates request 9a --subject CN=Bob"),
        Verb(command: "piv certificates import 9a cert.pem -f"),
        Verb(command: "piv certificates export 9a", members: ["certificate"]),
        Verb(command: "piv sign --slot 9a data", members: ["algorithm"]),
        Verb(command: "piv sign --slot 9c data --algorithm ecc-p256", members: ["algorithm"]),
        Verb(command: "piv decrypt --slot 9d message --algorithm rsa1024", members: ["plaintext"]),
        Verb(command: "piv derive --slot 9a pub.pem", members: ["secret"]), Verb(command: "ssh keys"),
        Verb(command: "piv access change-puk --puk-fd 3 --new-puk-fd 4 3< puk 4< puk"),
        Verb(command: "openpgp info", members: ["serial", "keys", "userRetries", "adminRetries"]),
        Verb(command: "openpgp sign data", members: ["algorithm", "slot"]),
        Verb(command: "openpgp keys generate aut -t nistp256 -f --admin-pin-stdin < puk"),
        Verb(command: "openpgp keys import aut key.pem -f --admin-pin-stdin < puk"),
        Verb(command: "openpgp access change-pin --new-pin-stdin < pin"),
        Verb(command: "openpgp access unblock-pin --admin-pin-fd 3 --new-pin-stdin 3< puk < pin"),
        Verb(command: "openpgp certificates import sig cert.pem -f --admin-pin-stdin < puk"),
        Verb(command: "--link pcsc fido2 info", members: ["aaguid", "hasPin", "options"]),
        Verb(command: "--link pcsc fido2 credentials list", members: ["credentials"]),
    ]

    /// What a card says instead: status words, and replies that are empty, short and long.
    static let answers =
        [
            "6700", "6982", "6985", "6a80", "6a81", "6a82", "6a86", "6a88", "6b00", "6d00", "6e00", "6f00",
        ].map { "status \($0)" } + [
            "garbage 9000", "garbage 019000", "garbage \(String(repeating: "5a", count: 64))9000",
        ]

    /// What a security key says instead: CTAP statuses, too, and a map without members.
    static let messages =
        answers
        + [
            "01", "02", "11", "14", "2b", "2e", "30", "31", "32", "33", "34", "36", "3c", "7f", "f0", "00", "00a0",
        ].map { "garbage \($0)9000" }

    @Test(arguments: verbs) func goesOn(_ verb: Verb) async throws {
        let shell = try Shell()
        let first = try await shell.run(Self.preparation + "\ny --record asked.jsonl \(verb.command)")
        try #require(first.status == 0, "\(first.output)\(first.errors)")
        let usual = try Self.object(first.output)
        let file = try Data(contentsOf: shell.folder.appendingPathComponent("asked.jsonl"))
        let questions = try Self.questions(try Capture(parsing: Array(file)))
        try #require(!questions.isEmpty)
        let runs = questions.flatMap { question in
            (question.hasPrefix("8010") ? Self.messages : Self.answers).map { (question, $0) }
        }
        let script = runs.map { "echo '§'; YKIT_FAULT='on \($0): \($1)' y \(verb.command); echo \"§ $?\"" }
        try script.joined(separator: "\n").write(
            to: shell.folder.appendingPathComponent("all.sh"), atomically: true, encoding: .utf8)
        let blocks = try await shell.run(Self.functions + "\n. ./all.sh").output.components(separatedBy: "§\n")
            .dropFirst()
        expect(blocks.count, is: runs.count)
        for ((question, answer), block) in zip(runs, blocks) where !Self.isNeeded(verb, question, answer) {
            let parts = block.components(separatedBy: "§ ")
            expect(parts.last, is: "0\n", "\(question): \(answer)\n\(parts[0])")
            let object = try Self.object(parts[0])
            for member in verb.members {
                expect(
                    object[member] as? NSObject, is: usual[member] as? NSObject, "\(question): \(answer)\n\(parts[0])")
            }
        }
    }

    /// What is not optional for a verb: that the card says the slot is empty, to a verb that shows its key; and a key
    /// derivation that is not understood, since a PIN that is sent without it costs a retry.
    private static func isNeeded(_ verb: Verb, _ question: String, _ answer: String) -> Bool {
        let showsKey = ["piv keys info", "piv keys export"].contains { verb.command.hasPrefix($0) }
        if showsKey, question.hasPrefix("00f7009a"), ["status 6a82", "status 6a88"].contains(answer) { return true }
        guard question.hasPrefix("00ca00f9"), verb.command != "openpgp info" else { return false }
        return answer.hasPrefix("garbage") || Self.unclear.contains(answer)
    }

    /// Refusals that do not say that there is no key derivation.
    private static let unclear: Set = ["status 6700", "status 6982", "status 6a80", "status 6b00", "status 6f00"]

    /// The beginnings of the commands that ask optional questions; of many slots the first two.
    private static func questions(_ capture: Capture) throws -> [String] {
        var applet: (any CardVocabulary.Type)?
        var questions: [String] = []
        var slots = 0
        for event in capture.events {
            guard case .exchange(let bytes, _) = event.kind, let command = try? APDU(decoding: bytes) else { continue }
            if command.ins == ISO7816.select, command.p1 == 0x04 {
                applet = CardVocabularies.known.selected(by: command)
                // In `info` each application is optional.
                if applet == ManagementProtocol.self || applet == OATHProtocol.self {
                    questions.append(Hex.encode(bytes.prefix(APDU.dataOffset(bytes) + command.data.count)))
                }
                continue
            }
            guard applet?.isOptional(command) == true else { continue }
            if command.ins == PIVProtocol.Instruction.getMetadata, PIVProtocol.Slot.retired.contains(command.p2) {
                slots += 1
                if slots > 2 { continue }
            }
            // A message's parameters after its subcommand and PIN protocol differ from one run to the next.
            let known = applet == FIDOProtocol.self ? min(command.data.count, 6) : command.data.count
            let count = command.data.isEmpty ? 4 : APDU.dataOffset(bytes) + known
            questions.append(Hex.encode(bytes.prefix(count)))
        }
        var seen: Set<String> = []
        return questions.filter { seen.insert($0).inserted }
    }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    private static let functions = """
        export YKIT_PIN=123456
        y() { cp base.json key.json; ykit --virtual key.json --json "$@"; }
        """

    private static let preparation =
        functions + "\n"
            + #"""
            printf '123456\n' > pin; printf '12345678\n' > puk; echo data > data
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
            {
                v="ykit --virtual base.json"
                $v piv keys generate 9a pub.pem; $v piv keys generate 9c sig.pem
                $v piv keys generate 9d rsa.pem --algorithm rsa1024
                $v piv certificates generate 9a --subject CN=Alice; $v piv certificates export 9a cert.pem
                openssl pkeyutl -encrypt -pubin -inkey rsa.pem -in data -out message
                $v openpgp keys generate sig -t nistp256 --admin-pin-stdin < puk
                $v fido2 pin set --new-pin-stdin < pin
                $v fido2 register --rp example.com --user alice --resident
            } > made 2>&1
            """#
}
