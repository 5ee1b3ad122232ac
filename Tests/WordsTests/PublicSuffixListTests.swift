// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Testing
import YKFIDO
import YKTestSupport
import YKWire

/// What is said about a Public Suffix List.
struct PublicSuffixListTests {
    @Test func saysItsAge() {
        let list = PublicSuffixList.builtIn
        expect(list.title, is: "the Public Suffix List of \(list.date) (built into ykit)")
        expect(list.outdated(at: list.date.seconds), is: nil)
        let advice = list.outdated(at: list.date.seconds + 366 * 86_400).map { Explanation($0).inOneLine }
        expect(advice?.hasPrefix("\(list.title) is older than a year; update ykit"), is: true)
    }
}
