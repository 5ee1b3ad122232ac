// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKProtocols
import YKTestSupport
import YKWire

@testable import YKCapture

/// Records each verb of fixtures/verbs.txt on the virtual key: none asks a card what it has asked before, with nothing
/// written in between.
@Suite struct RepeatedQuestionTests {
    @Test func noVerbAsksTwice() async throws {
        let shell = try Shell()
        let lines = try VerbTests.lines().map(\.command).filter { !$0.contains("--record") }
        let script = lines.enumerated().map { "line=\($0.offset); \($0.element)" }.joined(separator: "\n")
        try (VerbTests.preparation + Self.recording + script).write(
            to: shell.folder.appendingPathComponent("all.sh"), atomically: true, encoding: .utf8)
        _ = try await shell.run(". ./all.sh")
        var count = 0
        for (index, line) in lines.enumerated() {
            let file = shell.folder.appendingPathComponent("recorded/\(index).jsonl")
            guard let bytes = try? Data(contentsOf: file), let capture = try? Capture(parsing: Array(bytes)) else {
                continue
            }
            count += 1
            let repeated = Self.repetitions(in: capture)
            expect(repeated, is: [], "\(line)")
        }
        #expect(count > 80)
    }

    /// The commands that repeat an earlier read.
    static func repetitions(in capture: Capture) -> [String] {
        var applet: (any CardVocabulary.Type)?
        var asked: Set<APDU> = []
        var isChanged = false
        var found: [String] = []
        for transaction in CardTransaction.all(in: capture) {
            let command = transaction.command
            if command.ins == ISO7816.select, command.p1 == 0x04 {
                let next = CardVocabularies.known.selected(by: command)
                if applet != nil, applet == next, !isChanged, transaction.reply.status == .ok {
                    found.append("SELECT \(next?.title ?? "")")
                }
                applet = next
                asked = []
                isChanged = false
                continue
            }
            guard let applet, case .read = applet.effect(of: command) else {
                asked = []
                isChanged = true
                continue
            }
            if movesOn(command) {
                asked = []
            } else if !asked.insert(command).inserted {
                found.append("\(applet.title) \(applet.name(of: command) ?? "") \(Hex.encode(command.header))")
            }
        }
        return found
    }

    /// Whether a read has another answer each time, or decides what the next ones return.
    private static func movesOn(_ command: APDU) -> Bool {
        [ISO7816.select, 0x84, 0x87, 0xA3, 0xA5].contains(command.ins)
    }

    private static let recording = #"""
        mkdir recorded
        y() {
            case $1 in
                virtual | capture | completion) ykit --json "$@" ;;
                *) ykit --virtual key.json --record recorded/$line.jsonl --json "$@" ;;
            esac
        }

        """#
}

extension APDU {
    fileprivate var header: [UInt8] { [cla, ins, p1, p2] }
}
