// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// CALCULATE and CALCULATE ALL.
struct OATHCodeTests {
    @Test("HOTP gives the codes of RFC 4226 appendix D, one after the other")
    func hotpVectors() throws {
        let bench = Bench()
        try expect(bench.put("h", type: 0x11), is: .ok)
        for code in [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ] {
            try expect(bench.code("h"), is: code)
        }
        expect(bench.card.state.oath.accounts[0].counter, is: 10)
    }

    @Test(
        "TOTP gives the codes of RFC 6238 appendix B",
        arguments: [
            (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
        ])
    func totpVectors(_ time: UInt64, _ sha1: String, _ sha256: String, _ sha512: String) throws {
        let bench = Bench()
        let digits = Array("1234567890".utf8)
        for (type, length, code) in [(0x21, 20, sha1), (0x22, 32, sha256), (0x23, 64, sha512)] {
            let secret = (0..<length).map { digits[$0 % 10] }
            try expect(bench.put("t", type: UInt8(type), digits: 8, secret: secret), is: .ok)
            try expect(bench.code("t", time / 30), is: code)
        }
    }

    @Test("an initial counter is where HOTP starts")
    func initialCounter() throws {
        let bench = Bench()
        try expect(bench.put("h", type: 0x11, rest: [0x7A, 4, 0, 0, 0, 9]), is: .ok)
        try expect(bench.code("h"), is: "520489")
    }

    @Test("a counter goes on after the largest initial value")
    func largeCounter() throws {
        let bench = Bench()
        try expect(bench.put("h", type: 0x11, rest: [0x7A, 4, 0xFF, 0xFF, 0xFF, 0xFF]), is: .ok)
        _ = try bench.code("h")
        expect(bench.card.state.oath.accounts[0].counter, is: 0x1_0000_0000)
    }

    @Test("the whole response is the HMAC, its digits before it")
    func fullResponse() throws {
        let bench = Bench()
        _ = try bench.put("t")
        let reply = try bench.send(0xA2, Bench.calculate("t", Bench.bytes(1)))
        try expect(TLV.list(reply.data).value(0x75), is: [6] + Bench.hmac(Bench.rfcSecret, Bench.bytes(1)))
    }

    @Test("calculate all marks HOTP and touch accounts and leaves their counters")
    func all() throws {
        let bench = Bench()
        _ = try bench.put("t", digits: 8)
        _ = try bench.put("h", type: 0x11)
        _ = try bench.put("x", digits: 7, rest: [0x78, 0x02])
        bench.inputs.touch = { _ in .pending }
        let reply = try bench.send(0xA4, p2: 1, TLV(0x74, Bench.bytes(1)).encoded)
        expect(Hex.encode(reply.data), is: "710174" + "7605084" + "1397eea" + "710168" + "770106" + "710178" + "7c0107")
        expect(bench.card.state.oath.accounts[1].counter, is: 0)
        let full = try TLV.list(try bench.send(0xA4, TLV(0x74, Bench.bytes(1)).encoded).data)
        expect(full.map(\.tag.rawValue), is: [0x71, 0x75, 0x71, 0x77, 0x71, 0x7C])
    }

    @Test("a touch account waits, times out, or answers")
    func touch() throws {
        let bench = Bench()
        _ = try bench.put("h", type: 0x11, rest: [0x78, 0x02])
        let command = try APDU(ins: 0xA2, p2: 1, data: Bench.calculate("h", [])).encoded(.short)
        bench.inputs.touch = { _ in .pending }
        expect(bench.exchange(command), is: nil)
        bench.inputs.touch = { _ in .notTouched }
        expect(bench.exchange(command), is: [0x69, 0x85])
        expect(bench.card.state.oath.accounts[0].counter, is: 0)
        bench.inputs.touch = { $0 == Array("h".utf8) ? .touched : .notTouched }
        try expect(bench.code("h"), is: "755224")
    }

    @Test("an account with rising challenges refuses one that does not rise")
    func increasing() throws {
        let bench = Bench()
        _ = try bench.put("t", rest: [0x78, 0x01])
        _ = try bench.code("t", 5)
        try expect(
            bench.send(0xA2, p2: 1, Bench.calculate("t", Bench.bytes(5))).status, is: .securityStatusNotSatisfied)
        try expect(bench.send(0xA2, p2: 1, Bench.calculate("t", [6])).status, is: .ok)
        try expect(bench.send(0xA2, p2: 1, Bench.calculate("t", [0, 6])).status, is: .securityStatusNotSatisfied)
        _ = try bench.code("t", 7)
    }

    @Test(
        "what calculate cannot do",
        arguments: [
            (0, 2, "710174 740100", StatusWord.wrongParameters), (1, 1, "710174 740100", .wrongParameters),
            (0, 1, "710175 740100", .dataInvalid), (0, 1, "710174 7400", .incorrectParameters),
            (0, 1, "710174", .incorrectParameters), (0, 1, "710174 740900", .incorrectParameters),
            (0, 1, "", .incorrectParameters), (0, 1, "710174 740100 00", .incorrectParameters),
        ])
    func refusals(_ p1: UInt8, _ p2: UInt8, _ data: String, _ status: StatusWord) throws {
        let bench = Bench()
        _ = try bench.put("t")
        let bytes = try Hex.decode(data.filter { $0 != " " })
        try expect(bench.send(0xA2, p1: p1, p2: p2, bytes).status, is: status)
    }
}
