// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import DeviceVerbs
@testable import TerminalIO
@testable import Verbs

/// What stands in a table takes the columns that a terminal gives it.
@Suite struct ColumnsTests {
    @Test(arguments: [
        ("Acme:alice", 10), ("", 0), ("アリス", 6), ("王小明", 6), ("한글", 4), ("ｱﾘｽ", 3), ("Ｗ", 2), ("é", 1), ("e\u{301}", 1),
        ("🔑", 2), ("👩‍👩‍👧‍👦", 2), ("🇨🇭", 2), ("❤\u{FE0F}", 2), ("משה", 3), ("ไทย", 3), ("\u{301}", 0), ("—…", 2),
    ])
    func columns(_ text: String, _ expected: Int) { expect(text.columns, is: expected) }

    @Test func rowsAreAligned() {
        let lines = Table.lines([["王小明", "1"], ["e\u{301}va", "2"], ["🔑", "3"], ["Acme:alice", "4"]])
        expect(lines.map(\.columns), is: [13, 13, 13, 13])
        expect(lines[0], is: "王小明      1")
    }

    @Test func longTextIsClippedBetweenCharacters() {
        expect("王小明".clipped(to: 6), is: "王小明")
        expect("王小明".clipped(to: 5), is: "王小…")
        expect("王小明".clipped(to: 4), is: "王…")
        expect("Acme".clipped(to: 0), is: "…")
    }

    @Test(arguments: [
        ("short", ["short"]),
        ("made a key in 9a, its public key is in pub.pem", ["made a key in 9a, its public", "  key is in pub.pem"]),
        ("extensions  credBlob, hmac-secret, more", ["extensions  credBlob,", "            hmac-secret, more"]),
        ("    with protocol 2 FIDO2 compares 16", ["    with protocol 2 FIDO2", "    compares 16"]),
        ("credential  AgE8hzbhXBLuVmHQ8fnKaD6om1hGbXNQPynRel", ["credential  AgE8hzbhXBLuVmHQ8fnKaD6om1hGbXNQPynRel"]),
        ("   -> sudo systemctl enable --now pcscd.socket", ["   -> sudo systemctl enable --now pcscd.socket"]),
        ("   -> put the card or key on the reader", ["   -> put the card or key on", "      the reader"]),
        (
            "   -> set a reset code, unless you have: ykit openpgp access set-reset-code",
            ["   -> set a reset code, unless", "      you have:", "      ykit openpgp access set-reset-code"]
        ),
        (
            "hint: the recording does not have this exchange; 'ykit capture show FILE' lists what it has",
            [
                "hint: the recording does not", "  have this exchange;", "  'ykit capture show FILE'",
                "  lists what it has",
            ]
        ),
        (
            "start it with: --device /dev/hidraw0 -v /run/pcscd:/run/pcscd, or not",
            ["start it with:", "  --device /dev/hidraw0 -v /run/pcscd:/run/pcscd,", "  or not"]
        ),
        ("hint: sudo systemctl enable --now pcscd.socket", ["hint:", "  sudo systemctl enable --now pcscd.socket"]),
    ])
    func linesAreBrokenBetweenWords(_ line: String, _ expected: [String]) { expect(line.wrapped(to: 30), is: expected) }

    @Test func adviceIsIndentedBelowItsArrow() {
        let advice =
            "end that program, or release the key in it; then plug the key in again, and look: sudo ykit doctor"
        for check in [Check("holder", .bad, "held", remedy: advice)] {
            for width in 40...120 {
                let lines = check.lines[1].wrapped(to: width)
                #expect(lines.allSatisfy { $0.columns <= width })
                #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("            ") && !$0.hasPrefix("             ") })
                expect(lines.map(\.trimmed).joined(separator: " "), is: "-> " + advice)
                expect(lines.last?.hasSuffix("sudo ykit doctor"), is: true)
            }
        }
    }

    @Test(arguments: ["\u{200B}", "\u{202E}", "\u{61C}", "\u{2060}", "\u{1B}", "\u{FEFF}"])
    func whatIsNotSeenIsShown(_ text: String) { #expect(text.printable.hasPrefix("\\u{")) }
}
