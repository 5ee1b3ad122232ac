// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// PUT, LIST, DELETE and RENAME.
struct OATHAccountTests {
    private func names(_ bench: Bench) -> [String] {
        bench.card.state.oath.accounts.map { String(decoding: $0.name, as: UTF8.self) }
    }

    @Test("list gives type and name, in the order of adding")
    func list() throws {
        let bench = Bench()
        try expect(bench.send("00a1000000"), is: "9000")
        _ = try bench.put("a:b")
        _ = try bench.put("c", type: 0x12)
        try expect(bench.send("00a1000000"), is: "7204" + "21613a62" + "7202" + "1263" + "9000")
    }

    @Test("the same name again replaces the account in its place")
    func overwrite() throws {
        let bench = Bench()
        _ = try bench.put("a", type: 0x11, rest: [0x78, 0x02, 0x7A, 4, 0, 0, 0, 7])
        _ = try bench.put("b")
        let old = bench.card.state.oath.accounts[0]
        #expect(old.properties == .touch && old.counter == 7)
        try expect(bench.put("a", digits: 8), is: .ok)
        expect(names(bench), is: ["a", "b"])
        #expect(bench.card.state.oath.accounts[0].digits == 8 && bench.card.state.oath.accounts[0].kind == .totp)
    }

    @Test(
        "a full key answers 6A84, and still replaces",
        arguments: [
            (FirmwareVersion(5, 7, 0), 64), (FirmwareVersion(5, 6, 9), 32), (FirmwareVersion(4, 2, 4), 32),
        ])
    func capacity(_ version: FirmwareVersion, _ places: Int) throws {
        let bench = Bench(version: version)
        for number in 0..<places { try expect(bench.put("account \(number)"), is: .ok) }
        try expect(bench.put("one more"), is: .noSpace)
        try expect(bench.put("account 3", digits: 7), is: .ok)
        expect(bench.card.state.oath.accounts.count, is: places)
    }

    @Test(
        "put checks what it is given",
        arguments: [
            ("", 0x21, 6, 20, []), ("x", 0x31, 6, 20, []), ("x", 0x20, 6, 20, []), ("x", 0x24, 6, 20, []),
            ("x", 0x21, 5, 20, []), ("x", 0x21, 9, 20, []), ("x", 0x21, 6, 13, []), ("x", 0x21, 6, 65, []),
            ("x", 0x22, 6, 65, []), ("x", 0x23, 6, 129, []), ("x", 0x21, 6, 20, [0x78]),
            ("x", 0x21, 6, 20, [0x78, 0x04]), ("x", 0x21, 6, 20, [0x7A, 3, 0, 0, 0]),
            ("x", 0x21, 6, 20, [0x7A, 5, 0, 0, 0, 0, 0]), ("x", 0x21, 6, 20, [0x7C, 0]),
            ("x", 0x21, 6, 20, [0x7A, 4, 0, 0, 0, 0, 1]),
            (String(repeating: "x", count: 65), 0x21, 6, 20, []),
        ] as [(String, UInt8, UInt8, Int, [UInt8])])
    func badPut(_ name: String, _ type: UInt8, _ digits: UInt8, _ length: Int, _ rest: [UInt8]) throws {
        let bench = Bench()
        let secret = [UInt8](repeating: 7, count: length)
        try expect(bench.put(name, type: type, digits: digits, secret: secret, rest: rest), is: .incorrectParameters)
        #expect(names(bench).isEmpty)
    }

    @Test("the longest name, the shortest and the longest secrets are taken")
    func limits() throws {
        let bench = Bench()
        try expect(bench.put(String(repeating: "n", count: 64)), is: .ok)
        for (type, length) in [(0x21, 14), (0x21, 64), (0x22, 64), (0x23, 128)] {
            try expect(
                bench.put("s\(length)", type: UInt8(type), secret: [UInt8](repeating: 1, count: length)), is: .ok)
        }
        try expect(bench.send(0x01, [0x71]).status, is: .incorrectParameters)
    }

    @Test("older firmware refuses what came later")
    func versionGates() throws {
        let old = Bench(version: FirmwareVersion(4, 2, 4))
        try expect(old.put("x", rest: [0x78, 0x02]), is: .incorrectParameters)
        try expect(old.put("x", type: 0x23), is: .incorrectParameters)
        let middle = Bench(version: FirmwareVersion(4, 2, 6))
        try expect(middle.put("x", rest: [0x78, 0x02]), is: .ok)
        try expect(middle.put("y", type: 0x23), is: .incorrectParameters)
        let newer = Bench(version: FirmwareVersion(4, 3, 1))
        try expect(newer.put("y", type: 0x23), is: .ok)
        let rename = TLV(0x71, [0x79]).encoded + TLV(0x71, [0x7A]).encoded
        try expect(newer.send(0x05, rename).status, is: .unknownInstruction)
        let last = Bench(version: FirmwareVersion(5, 3, 0))
        _ = try last.put("y")
        try expect(last.send(0x05, rename).status, is: .unknownInstruction)
        let first = Bench(version: FirmwareVersion(5, 3, 1))
        _ = try first.put("y")
        try expect(first.send(0x05, rename).status, is: .ok)
    }

    @Test("delete forgets one account")
    func delete() throws {
        let bench = Bench()
        for name in ["a", "b", "c"] { _ = try bench.put(name) }
        try expect(bench.send(0x02, TLV(0x71, [0x62]).encoded).status, is: .ok)
        expect(names(bench), is: ["a", "c"])
        try expect(bench.send(0x02, TLV(0x71, [0x62]).encoded).status, is: .dataInvalid)
        try expect(bench.send(0x02, [0x71, 2, 0x61]).status, is: .incorrectParameters)
        expect(names(bench), is: ["a", "c"])
    }

    @Test("rename keeps everything but the name")
    func rename() throws {
        let bench = Bench()
        _ = try bench.put("old", type: 0x11)
        _ = try bench.put("taken")
        _ = try bench.code("old")
        func data(_ old: String, _ new: String) -> [UInt8] {
            TLV(0x71, Array(old.utf8)).encoded + TLV(0x71, Array(new.utf8)).encoded
        }
        try expect(bench.send(0x05, data("old", "new")).status, is: .ok)
        try expect(bench.code("new"), is: "287082")
        try expect(bench.send(0x05, data("old", "x")).status, is: .dataInvalid)
        try expect(bench.send(0x05, data("new", "taken")).status, is: .incorrectParameters)
        try expect(bench.send(0x05, data("new", "new")).status, is: .incorrectParameters)
        try expect(bench.send(0x05, data("new", "")).status, is: .incorrectParameters)
        try expect(bench.send(0x05, data("new", String(repeating: "n", count: 65))).status, is: .incorrectParameters)
        try expect(bench.send(0x05, TLV(0x71, [1]).encoded).status, is: .incorrectParameters)
        expect(names(bench), is: ["new", "taken"])
    }

    @Test("a YubiKey 4 FIPS has no SHA-512, and a reader's field is a touch")
    func models() throws {
        try expect(Bench(version: FirmwareVersion(4, 4, 5)).put("a", type: 0x23), is: .incorrectParameters)
        try expect(Bench(version: FirmwareVersion(4, 3, 7)).put("a", type: 0x23), is: .ok)
        let bench = Bench()
        try expect(bench.put("t", rest: [0x78, 0x02]), is: .ok)
        bench.inputs.touch = { _ in .notTouched }
        try expect(bench.send(0xA2, p2: 1, Bench.calculate("t", [1])).status, is: .conditionsNotSatisfied)
        bench.layOnReader()
        _ = try bench.send("00a4040007a0000005272101")
        try expect(bench.send(0xA2, p2: 1, Bench.calculate("t", [1])).status, is: .ok)
    }
}
