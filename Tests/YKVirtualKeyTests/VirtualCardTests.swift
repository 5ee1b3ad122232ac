// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The card around the applets.
struct VirtualCardTests {
    @Test(
        "each application is selected by its name or a beginning of it",
        arguments: [
            "00a4040007a000000527210100", "00a4040007a0000005272101", "00a4040008a00000052721010100",
            "00a4040005a00000052700", "00a40400000007a0000005272101", "00a40400000007a00000052721010000",
            "00a4040008a000000527471117", "00a4040007a0000005272001", "00a4040007d2760000850101",
        ])
    func select(_ command: String) throws {
        let bench = Bench(select: false)
        bench.layOnReader()
        #expect(try bench.send(command).hasSuffix("9000"))
        #expect(bench.card.selected != nil)
    }

    @Test(
        "what is not there is 6A82, and the old selection stays",
        arguments: [
            "00a4040008a0000006472f000200", "00a4040006d2760001240200",
            "00a4040004a000000500",
            "00a4040009a0000005272101010100", "00a4040000",
        ])
    func notFound(_ command: String) throws {
        let bench = Bench()
        try expect(bench.send(command), is: "6a82")
        try expect(bench.send("00a1000000"), is: "9000")
    }

    @Test(
        "commands that are wrong in themselves",
        arguments: [
            ("00", "6700"), ("00a100", "6700"), ("00a4040007a00000", "6700"), ("00a404000aa000000527210100", "6700"),
            ("80a1000000", "6e00"), ("04a1000000", "6e00"), ("0cff000000", "6e00"), ("00ff000000", "6d00"),
            ("0000000000", "6d00"), ("00a4040107a000000527210100", "6b00"), ("00c0000000", "6d00"),
            ("00a5000000", "6985"),
            ("00a4000c02e103", "6b00"),
        ])
    func refused(_ command: String, _ status: String) throws {
        let bench = Bench()
        try expect(bench.send(command), is: status)
    }

    @Test("nothing is selected after power on and after reset")
    func power() throws {
        let bench = Bench()
        bench.card.powerOff()
        try expect(bench.send("00a1000000"), is: "6d00")
        try expect(bench.send("00a5000000"), is: "6d00")
    }

    private func crowded(_ count: Int) throws -> Bench {
        let bench = Bench()
        for number in 0..<count { _ = try bench.put("somebody \(number)@example.com") }
        return bench
    }

    @Test("a long reply comes in pieces of 256 bytes, continued by A5")
    func responseChaining() throws {
        let bench = try crowded(40)
        let whole = try bench.send("00a10000000000")
        #expect(whole.hasSuffix("9000") && whole.count > 1024)
        for (first, next) in [("00a1000000", "00a5000000"), ("00a10000", "00a50000")] {
            var collected = try bench.send(first)
            #expect(collected.hasSuffix("6100") && collected.count == 516)
            while collected.dropLast(2).hasSuffix("61") {
                collected = String(collected.dropLast(4)) + (try bench.send(next))
            }
            expect(collected, is: whole)
        }
    }

    @Test("Le is how much comes, the rest is announced")
    func le() throws {
        let bench = try crowded(1)
        try expect(bench.send("00a1000004"), is: "7217" + "2173" + "6115")
        try expect(bench.send("00a5000001"), is: "6f" + "6114")
        try expect(bench.send("00a5000000").count, is: 0x14 * 2 + 4)
        try expect(bench.send("00a5000000"), is: "6985")
        try expect(bench.send("00a10000000003"), is: "721721" + "6116")
    }

    @Test("another command drops the rest of a reply")
    func abandoned() throws {
        let bench = try crowded(1)
        _ = try bench.send("00a1000004")
        _ = try bench.send("00ff000000")
        try expect(bench.send("00a5000000"), is: "6985")
    }

    @Test("outside OATH the rest of a reply comes by GET RESPONSE")
    func getResponse() throws {
        let bench = Bench(select: false)
        try expect(bench.send("00a4040008a00000052747111705"), is: Hex.encode(Array("Virtu".utf8)) + "6119")
        try expect(bench.send("00c0000000"), is: Hex.encode(Array("al mgr - FW version 5.7.1".utf8)) + "9000")
        try expect(bench.send("00c0000000"), is: "6985")
    }

    @Test("a command in several blocks is one command")
    func commandChaining() throws {
        let bench = Bench()
        let data = TLV(0x71, Array("chained".utf8)).encoded + TLV(0x73, [0x21, 6] + Bench.rfcSecret).encoded
        for block in data.dropLast(3).chunks(of: 5) {
            try expect(bench.send("10010000" + Hex.encode([UInt8(block.count)] + block)), is: "9000")
        }
        try expect(bench.send("0001000003" + Hex.encode(data.suffix(3))), is: "9000")
        expect(bench.card.state.oath.accounts.map(\.name), is: [Array("chained".utf8)])
    }

    @Test("a chain that another command breaks is forgotten")
    func brokenChain() throws {
        let bench = Bench()
        try expect(bench.send("1001000002" + "7101"), is: "9000")
        try expect(bench.send("00a1000000"), is: "9000")
        try expect(bench.send("0001000001" + "61"), is: "6a80")
    }

    @Test("a chain or a command longer than the key takes is 6700")
    func tooLong() throws {
        let bench = Bench()
        let block = "10010000ff" + String(repeating: "00", count: 255)
        for _ in 0..<12 { try expect(bench.send(block), is: "9000") }
        try expect(bench.send(block), is: "6700")
        try expect(bench.send("00010000" + "000c00" + String(repeating: "00", count: 3072)), is: "6700")
    }

    @Test(
        "the answers to reset have a right check byte and say what the key can",
        arguments: [
            (FirmwareVersion(3, 4, 0), DeviceProfile.Transport.usb, false), (FirmwareVersion(4, 3, 1), .usb, false),
            (FirmwareVersion(5, 7, 1), .usb, true), (FirmwareVersion(5, 7, 1), .nfc, true),
        ])
    func atr(_ version: FirmwareVersion, _ transport: DeviceProfile.Transport, _ isExtended: Bool) throws {
        let profile = DeviceProfile(version: version, serial: 1, transport: transport)
        let atr = try ATR(decoding: profile.atr)
        #expect(atr.isChecksumValid && atr.saysExtendedLength == isExtended)
        expect(atr.looksContactless, is: (transport == .nfc))
    }
}

extension Collection {
    fileprivate func chunks(of size: Int) -> [[Element]] {
        var rest = Array(self)
        var chunks: [[Element]] = []
        while !rest.isEmpty {
            chunks.append(Array(rest.prefix(size)))
            rest = Array(rest.dropFirst(size))
        }
        return chunks
    }
}
