// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Values of open sets: what is not known is kept, and described by its raw value.
@Suite struct OpenSetTests {
    private struct Model: OpenSet {
        let rawValue: [UInt8]
        static let first = Model([0x0A, 0xFF])
    }

    @Test func unknownValuesAreKept() {
        expect(AttestationFormat(rawValue: "packed"), is: .packed)
        expect(AttestationFormat("of-tomorrow").rawValue, is: "of-tomorrow")
        expect(CCID.Reply.Kind(0x7F).rawValue, is: 0x7F)
        expect(Set([StatusWord(0x9000), .ok]).count, is: 1)
    }

    @Test func describesWordsNumbersAndBytes() {
        expect("\(AttestationFormat.fidoU2F)", is: "fido-u2f")
        expect("\(CCID.Command.Kind.setParameters)", is: "97")
        expect("\(Model.first)", is: "0aff")
        expect("\(OTPCommand(0x7E))", is: "slot command 7e")
    }

    @Test(arguments: [
        ("", ""), (" ", ""), ("a", "a"), ("\t a b \r\n", "a b"), ("\u{A0}\u{2003}é\u{3000}", "é"),
        ("\u{85}x\u{B}\u{C}", "x"), ("\u{200B}x", "\u{200B}x"),
    ])
    func trimsWhiteSpace(_ text: String, _ trimmed: String) {
        expect(text.trimmed, is: trimmed)
        expect(text[...].trimmed, is: trimmed)
    }

    @Test(.timeLimit(.minutes(1))) func trimsWhiteSpaceInTimeThatGrowsWithItsLength() {
        let space = String(repeating: " ", count: 1 << 20)
        expect((space + "a" + space).trimmed, is: "a")
    }
}
