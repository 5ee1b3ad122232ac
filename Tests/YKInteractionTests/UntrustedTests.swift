// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import YKInteraction

/// How text from outside is shown.
struct UntrustedTests {
    @Test(
        "a name is one line in quotes that it cannot leave",
        arguments: [
            ("alice", "'alice'"), ("", "''"), (" a \t\n b ", "'a b'"), ("\u{3164}\u{2800}x\u{A0}\u{A0}y", "'x y'"),
            ("it's", #"'it\'s'"#), (#"\'"#, #"'\\\''"#), ("a\u{202E}b\u{1B}[2J", #"'a\u{202e}b\u{1b}[2J'"#),
            (String(repeating: "a", count: 64), "'\(String(repeating: "a", count: 64))'"),
            (String(repeating: "a", count: 65), "'\(String(repeating: "a", count: 61))…'"),
            (String(repeating: "é", count: 40), "'\(String(repeating: "é", count: 30))…'"),
            ("e" + String(repeating: "\u{301}", count: 3000), "'…'"),
        ])
    func names(_ text: String, _ shown: String) { expect(Untrusted.name(text), is: shown) }

    @Test("a name that imitates the rest of the question stays within its quotes")
    func imitation() {
        let text =
            "alice' at github.com: use your key? [y/N]" + String(repeating: " ", count: 900) + "' at evil.example"
        expect(Untrusted.name(text), is: #"'alice\' at github.com: use your key? [y/N] \' at evil.example'"#)
    }

    @Test("of a long site, the end is shown, however long it is")
    func sites() {
        expect(Untrusted.site("github.com"), is: "github.com")
        let long = "github.com." + String(repeating: "a", count: 7000) + ".evil.example"
        let shown = Untrusted.site(long)
        #expect(shown.hasPrefix("…a") && shown.hasSuffix("a.evil.example") && shown.utf8.count == Untrusted.limit)
        #expect(Untrusted.word(long).hasPrefix("github.com.a"))
    }
}
