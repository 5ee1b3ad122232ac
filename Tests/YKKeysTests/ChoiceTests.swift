// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware
@testable import YKKeys

/// A key that was chosen among several stays chosen, for each of its interfaces and for no other selection.
@Suite struct ChoiceTests {
    let machine = FakeMachine()
    let keys: KeyRing

    /// Two keys, each with a card and a FIDO node, behind readers of the smart card service.
    init() throws {
        keys = KeyRing(hardware: machine)
        for (place, serial) in [(0, UInt32(7)), (1, 8)] {
            let key = try FakeMachine.key(serial)
            machine.plug(
                key, into: "1-\(place + 2)", fido: "/dev/hidraw\(place * 2)", keyboard: "/dev/hidraw\(place * 2 + 1)",
                address: place + 4)
        }
    }

    private func candidates(_ body: () throws -> some Any) -> [KeyCandidate] {
        do { _ = try body() } catch KeyError.several(_, let candidates) { return candidates } catch {}
        return []
    }

    @Test func aCardThatWasChosenIsTheKeyOfEveryInterface() throws {
        let found = candidates { try keys.cardRoute() }
        expect(found.map(\.location), is: ["1-2", "1-3"])
        keys.choose(try #require(found.last))
        try expect(keys.cardRoute().name, is: "1-3")
        try expect(keys.fidoRoute(), is: .reports(path: "/dev/hidraw2"))
        try expect(keys.otpRoute(), is: .reports(path: "/dev/hidraw3"))
        try expect(keys.managementRoute(), is: .fido(path: "/dev/hidraw2"))
    }

    @Test func aTouchedKeyIsTheKeyOfTheCardThatFollows() throws {
        keys.choose(path: "/dev/hidraw2")
        try expect(keys.fidoRoute(), is: .reports(path: "/dev/hidraw2"))
        try expect(keys.cardRoute().name, is: "1-3")
        try expect(keys.otpRoute(), is: .reports(path: "/dev/hidraw3"))
    }

    @Test func aReaderThatWasChosenIsTheKeyInItsPort() throws {
        let plain = FakeMachine()
        for (place, serial) in [(0, UInt32(7)), (1, 8)] {
            let key = try FakeMachine.key(serial)
            plain.lay(key, on: "Reader \(place)")
        }
        let keys = KeyRing(hardware: plain)
        let found = candidates { try keys.cardRoute() }
        expect(found.map(\.serial), is: ["7", "8"])
        keys.choose(try #require(found.last))
        // It is in no port: the reader is all that is known of it.
        try expect(keys.cardRoute(), is: .reader("Reader 1"))
        try expect(keys.fidoRoute(), is: .card)
        try expect(keys.managementRoute(), is: .card)
    }

    @Test func copiesShareAChoice() throws {
        let copy = keys
        copy.choose(path: "1-3")
        try expect(keys.cardRoute().name, is: "1-3")
        try expect(keys.selecting(KeySelection()).cardRoute().name, is: "1-3")
    }

    @Test func aChoiceIsOfItsSelectionOnly() throws {
        keys.choose(path: "1-3")
        let other = keys.selecting(keys.selection.with(serial: "7"))
        try expect(other.cardRoute().name, is: "1-2")
        try expect(keys.cardRoute().name, is: "1-3")
        #expect(keys.selection == KeySelection() && other.selection.serial == "7")
        expect(candidates { try KeyRing(hardware: machine).cardRoute() }.count, is: 2)
    }

    /// What is chosen is opened without a question to any key.
    @Test func aChoiceCostsNoExchange() throws {
        keys.choose(path: "1-3")
        _ = try keys.card()
        expect(machine.opened, is: ["1-3"])
    }

    @Test func aSerialNumberNeedsNoChoice() throws {
        let named = keys.selecting(keys.selection.with(serial: "8"))
        try expect(named.cardRoute().name, is: "1-3")
        try expect(named.fidoRoute(), is: .reports(path: "/dev/hidraw2"))
        // The selection that it came from still matches both.
        expect(candidates { try keys.cardRoute() }.count, is: 2)
    }
}
