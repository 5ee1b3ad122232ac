// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs

/// Tables on terminals of different widths.
@Suite struct TableTests {
    private static let credentials = [
        ["example.com", "alice", String(repeating: "a", count: 88)],
        ["example.org", "a much longer name", String(repeating: "b", count: 88)],
    ]
    private static let codes = [
        ["Example Company:alice.with.a.long.name@example.com", "237930"], ["Acme:bob", "123456"],
    ]

    @Test(arguments: [50, 60, 80, 200])
    func aListHasALineForEachThing(_ width: Int) {
        for rows in [Self.credentials, Self.codes] {
            let lines = Table.lines(rows, within: width)
            expect(lines.count, is: rows.count)
            #expect(lines.allSatisfy { $0.columns <= width })
        }
    }

    @Test func theWidestColumnGivesWay() {
        let lines = Table.lines(Self.codes, within: 50)
        expect(
            lines, is: ["Example Company:alice.with.a.long.name@ex…  237930", "Acme:bob".padded(to: 44) + "123456"])
        let credentials = Table.lines(Self.credentials, within: 80)
        expect(credentials[0], is: "example.com  " + "alice".padded(to: 20) + String(repeating: "a", count: 46) + "…")
    }

    @Test func severalWideColumnsGiveWayToTheSameWidth() {
        let row = [String(repeating: "a", count: 40), String(repeating: "b", count: 60), "c"]
        expect(
            Table.lines([row], within: 45),
            is: [
                String(repeating: "a", count: 19) + "…  " + String(repeating: "b", count: 19) + "…  c"
            ])
    }

    @Test func elsewhereNothingIsShortened() {
        expect(Table.lines(Self.credentials, within: nil).map(\.columns), is: [121, 121])
        expect(Table.details([["a", String(repeating: "word ", count: 100)]], within: nil).count, is: 1)
    }

    @Test func theWordsOfADetailContinueBelow() {
        let rows = [["extensions", "credBlob, hmac-secret, more"], ["PIN", "set"]]
        expect(
            Table.details(rows, within: 30),
            is: [
                "extensions  credBlob,", "            hmac-secret, more", "PIN         set",
            ])
        expect(Table.details([["a", "b c"]], indent: "  ", within: 80), is: ["  a  b c"])
    }

    @Test func aLongWordOfADetailIsInOnePiece() {
        let url = "https://example.com/" + String(repeating: "x", count: 80)
        expect(Table.details([["link", url + " here"]], within: 50), is: ["link  " + url, "      here"])
    }
}
