// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// SELECT, SET CODE, VALIDATE and RESET.
struct OATHAccessTests {
    private static let key = [UInt8](repeating: 0x5A, count: 16)
    private static let challenge: [UInt8] = [9, 9, 9, 9, 9, 9, 9, 9]

    private func setCode(_ key: [UInt8], type: UInt8 = 0x21, response: [UInt8]? = nil) -> [UInt8] {
        TLV(0x73, [type] + key).encoded + TLV(0x74, Self.challenge).encoded
            + TLV(0x75, response ?? Bench.hmac(key, Self.challenge)).encoded
    }

    private func validate(_ key: [UInt8]) -> [UInt8] {
        TLV(0x75, Bench.hmac(key, [1, 2, 3, 4, 5, 6, 7, 8])).encoded + TLV(0x74, Self.challenge).encoded
    }

    private func locked() throws -> Bench {
        let bench = Bench()
        _ = try bench.put("a")
        try expect(bench.send(0x03, setCode(Self.key)).status, is: .ok)
        return bench
    }

    @Test("select gives version and salt, and a challenge once there is a key")
    func select() throws {
        var bench = Bench()
        try expect(bench.send("00a4040007a000000527210100"), is: "7903050701" + "71080102030405060708" + "9000")
        bench = try locked()
        #expect(
            try bench.send("00a4040008a00000052721010100")
                == "7903050701" + "71080102030405060708" + "74080102030405060708" + "7b0101" + "9000")
    }

    @Test("setting a key leaves the session open, the next one is locked")
    func lock() throws {
        let bench = try locked()
        try expect(bench.send("00a1000000"), is: "72022161" + "9000")
        _ = try bench.send("00a4040007a0000005272101")
        for instruction: UInt8 in [0x01, 0x02, 0x03, 0x05, 0xA1, 0xA2, 0xA4] {
            try expect(bench.send(instruction).status, is: .securityStatusNotSatisfied)
        }
    }

    @Test("validate proves both sides to each other")
    func unlock() throws {
        let bench = try locked()
        _ = try bench.send("00a4040007a0000005272101")
        try expect(bench.send(0xA3, validate([1, 2, 3])).status, is: .incorrectParameters)
        try expect(bench.send(0xA3, [0x75]).status, is: .incorrectParameters)
        let reply = try bench.send(0xA3, validate(Self.key))
        expect(reply.status, is: .ok)
        try expect(TLV.list(reply.data).value(0x75), is: Bench.hmac(Self.key, Self.challenge))
        try expect(bench.send("00a1000000"), is: "72022161" + "9000")
        bench.card.powerOff()
        try expect(bench.send("00a1000000"), is: "6d00")
    }

    @Test("validate without a key on the application is 6984")
    func nothingToValidate() throws {
        let bench = Bench()
        try expect(bench.send(0xA3, validate(Self.key)).status, is: .dataInvalid)
    }

    @Test("other parameters are refused, and a locked application has no rest")
    func parameters() throws {
        let bench = try locked()
        for instruction: UInt8 in [0x01, 0x02, 0x03, 0x05, 0xA1, 0xA3] {
            try expect(bench.send(instruction, p1: 1).status, is: .wrongParameters)
            try expect(bench.send(instruction, p2: 1).status, is: .wrongParameters)
        }
        _ = try bench.send("00a4040007a0000005272101")
        try expect(bench.send("00a5000000"), is: "6982")
        let short = TLV(0x75, Bench.hmac(Self.key, Self.challenge)).encoded + TLV(0x74, [1]).encoded
        try expect(bench.send(0xA3, short).status, is: .incorrectParameters)
    }

    @Test("an empty key removes the lock")
    func remove() throws {
        let bench = try locked()
        try expect(bench.send(0x03, [0x73, 0]).status, is: .ok)
        expect(bench.card.state.oath.accessKey, is: nil)
    }

    @Test("set code refuses a key that the host does not show to know")
    func badSetCode() throws {
        let bench = Bench()
        try expect(bench.send(0x03, setCode(Self.key, response: [1])).status, is: .incorrectParameters)
        let wrong = [UInt8](repeating: 1, count: 20)
        try expect(bench.send(0x03, setCode(Self.key, response: wrong)).status, is: .dataInvalid)
        try expect(bench.send(0x03, setCode(Self.key, type: 0x22)).status, is: .incorrectParameters)
        try expect(bench.send(0x03, setCode([])).status, is: .incorrectParameters)
        try expect(bench.send(0x03, TLV(0x73, [0x21] + Self.key).encoded).status, is: .incorrectParameters)
        expect(bench.card.state.oath.accessKey, is: nil)
    }

    @Test("reset forgets all, even when locked, and makes another device of it")
    func reset() throws {
        let bench = try locked()
        bench.card.state.oath.salt = [0]
        _ = try bench.send("00a4040007a0000005272101")
        try expect(bench.send(0x04).status, is: .wrongParameters)
        try expect(bench.send(0x04, p1: 0xDE, p2: 0xAD).status, is: .ok)
        expect(bench.card.state.oath, is: OATHMemory(salt: [1, 2, 3, 4, 5, 6, 7, 8]))
        try expect(bench.send("00a1000000"), is: "9000")
    }

    @Test("without randomness nothing is drawn and nothing is lost")
    func noRandomness() throws {
        struct Dry: RandomSource {
            func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] { throw .timedOut("random") }
        }
        let bench = try locked()
        bench.inputs.random = Dry()
        try expect(bench.send(0x04, p1: 0xDE, p2: 0xAD).status, is: .memoryFailure)
        expect(bench.card.state.oath.accounts.count, is: 1)
        try expect(bench.send("00a4040007a0000005272101"), is: "6581")
    }
}
