// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ykit

@Suite("Spelling")
struct SpellingTests {
    @Test(
        "The word that was meant",
        arguments: [
            ("oaht", "oath"), ("calc", "calculate"), ("lsit", "list"), ("lits", "list"), ("dotcor", "doctor"),
            ("fdo2", "fido2"), ("deleet", "delete"),
        ])
    func meant(word: String, known: String) {
        let words = ["list", "oath", "calculate", "doctor", "fido2", "delete", "info"]
        #expect(Spelling.nearest(word, among: words) == known)
    }

    @Test("Words like nothing", arguments: ["", "x", "xyzzy", "certificate", String(repeating: "list", count: 4000)])
    func unlike(word: String) {
        #expect(Spelling.nearest(word, among: ["list", "oath", "calculate", "doctor"]) == nil)
    }
}
