// SPDX-License-Identifier: Apache-2.0

import Testing
import Words
import YKFIDO
import YKWire

/// What is said about a Public Suffix List.
struct PublicSuffixListTests {
    @Test func saysItsAge() {
        let list = PublicSuffixList.builtIn
        #expect(list.source == "the Public Suffix List of \(list.date) (built into ykit)")
        #expect(list.advice(at: list.date.seconds) == nil)
        let advice = list.advice(at: list.date.seconds + 366 * 86_400)
        #expect(advice?.hasPrefix("\(list.source) is older than a year; update ykit") == true)
    }
}
