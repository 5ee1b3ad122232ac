// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs

/// How keys choose a line. A person at a terminal is in Tests/Peers/prompts.py.
@Suite struct MenuTests {
    private static let names = ["alice", "bob", "Example Bank:4711"] + (4...12).map { "user \($0)" }

    private func choice(_ typed: String) -> Int? {
        var state = MenuState(Self.names)
        for key in Menu.keys(Array(typed.utf8)) {
            if key == .cancel { return -1 }
            if let choice = state.press(key) { return choice }
        }
        return nil
    }

    @Test(
        "arrows, numbers and parts of names",
        arguments: [
            ("\n", nil), ("\u{1B}[B\n", 0), ("\u{1B}OB\u{1B}[B\r", 1), ("\u{1B}[A\n", 11),
            ("\u{1B}[B\u{1B}[A\u{1B}[A\n", 0),
            ("\u{1B}[F\n", 11), ("\u{1B}[F\u{1B}[1~\n", 0), ("\u{1B}[6~\u{1B}[6~\n", 11), ("\u{0E}\u{0E}\u{10}\n", 0),
            ("2\n", 1), ("12\n", 11), ("13\n", nil), ("0\n", 9), ("00\n", nil), ("4711\n", 2), ("1\u{1B}[B\n", 1),
            ("BOB\n", 1), ("user\n", nil), ("user 1\u{1B}[B\u{1B}[B\n", 10), ("nobody\n", nil), ("nobody\u{15}2\n", 1),
            ("bo\u{7F}\u{7F}2\n", 1), ("\u{1B}", -1), ("\u{3}", -1), ("\u{4}", -1), ("\u{1B}[31m\n", nil),
        ] as [(String, Int?)])
    func keys(typed: String, wanted: Int?) { expect(choice(typed), is: wanted) }

    @Test("fits every terminal, and shows the highlighted line", arguments: [1, 2, 3, 4, 5, 10, 24, 60])
    func sizes(rows: Int) {
        for columns in [1, 2, 10, 40, 200] {
            var state = MenuState(Self.names)
            for turn in 0..<14 {
                let frame = state.frame("which account?", columns: columns, rows: rows)
                #expect(!frame.isEmpty && frame.count <= rows)
                #expect(frame.allSatisfy { $0.columns <= max(1, columns - 1) })
                if turn > 0, columns >= 40 { #expect(frame.contains { $0.contains("> ") }) }
                _ = state.press(.down)
            }
        }
    }

    @Test("foreign names and typed text drive nothing")
    func hostile() {
        var state = MenuState(["a\u{1B}[2J".printable])
        #expect(!state.frame("q", columns: 80, rows: 24).joined(separator: "\n").contains("\u{1B}"))
        for _ in 0..<500 {
            let bytes = (0..<12).map { _ in UInt8.random(in: 0...255) }
            for key in Menu.keys(bytes) { _ = state.press(key) }
            #expect(!state.frame("q", columns: 80, rows: 24).joined(separator: "\n").contains("\u{1B}"))
        }
    }
}
