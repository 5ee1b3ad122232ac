// SPDX-License-Identifier: Apache-2.0

import Applications
import Testing
import YKKeys
import YKOATH
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import DeviceVerbs
@testable import TerminalIO
@testable import Verbs

@Suite struct MatchTests {
    private let ids = ["Acme:alice", "Acme:alice2", "acme:BOB", "_hidden:secret"].map {
        OATHAccountID(rawName: Array($0.utf8))
    }

    @Test func theExactIdWins() throws {
        expect(PartMatch("Acme:alice", in: ids).all.map(\.text), is: ["Acme:alice"])
    }

    @Test func aPartIsFoundInAnyLetterCase() throws {
        expect(PartMatch("bob", in: ids).all.map(\.text), is: ["acme:BOB"])
        expect(AccountMatch("ACME", in: ids).all.count, is: 3)
    }

    @Test func severalAreListed() throws {
        let query = try #require(EntryQuery(argument: "alic"))
        let error = OATHAccountID.several(query, PartMatch(query.text, in: ids).all)
        expect(error.exit, is: .severalDevices)
        expect(error.candidates.map(\.line), is: ["Acme:alice", "Acme:alice2"])
    }

    @Test func hiddenAccountsAreFoundByTheirWholeNameOnly() throws {
        expect(AccountMatch("secret", in: ids), is: .none)
        expect(AccountMatch("secret", in: ids, includesHidden: true).all.count, is: 1)
        expect(WholeMatch("_hidden:secret", in: ids).all.map(\.isHidden), is: [true])
    }

    @Test func onlyAWholeNameMayBeDestroyed() {
        expect(WholeMatch("Acme:alice", in: ids).all.map(\.text), is: ["Acme:alice"])
        expect(WholeMatch("30/Acme:alice", in: ids).all.map(\.text), is: ["Acme:alice"])
        #expect(WholeMatch("Acme:alic", in: ids).all.isEmpty && WholeMatch("acme:alice", in: ids).all.isEmpty)
    }

    @Test func nothingIsCalledByAnEmptyName() {
        #expect(WholeMatch("", in: [ids[0]]).all.isEmpty && PartMatch("", in: [ids[0]]).all.isEmpty)
        expect(AccountMatch("", in: [ids[0]]), is: .none)
        #expect(EntryQuery(argument: "") == nil && !"reader".mentions(""))
    }
}

@Suite struct APDUTextTests {
    @Test(arguments: [
        ("a1", APDU(ins: 0xA1)), ("80a1", APDU(cla: 0x80, ins: 0xA1)), ("a10102", APDU(ins: 0xA1, p1: 1, p2: 2)),
        ("00a40400:a0000005272101/00", APDU.select(.oath)), ("a1/10", APDU(ins: 0xA1, le: .bytes(16))),
        ("a1/0000", APDU(ins: 0xA1)), ("a1:01=9000", APDU(ins: 0xA1, data: [1])),
    ])
    func forms(_ text: String, _ expected: APDU) throws { try expect(APDUText(text).apdu, is: expected) }

    @Test func statusWord() throws {
        try expect(APDUText("a1=").expected, is: .ok)
        try expect(APDUText("a1=6a82").expected, is: .notFound)
        try expect(APDUText("a1").expected, is: nil)
    }

    @Test(arguments: ["", "z", "a", "0011223344", "a1:0", "a1/", "a1/010203", "a1=90", "a1:zz"])
    func refused(_ text: String) { #expect(throws: Explanation.self) { try APDUText(text) } }
}
