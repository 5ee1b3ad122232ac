// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The management, OTP, PIV and NDEF applications.
struct OtherAppletTests {
    private func bench(_ aid: AID, _ version: FirmwareVersion = FirmwareVersion(5, 7, 1)) throws -> Bench {
        let bench = Bench(version: version, select: false)
        _ = try bench.send("00a40400" + Hex.encode([UInt8(aid.rawValue.count)] + aid.rawValue) + "00")
        return bench
    }

    @Test("management says nothing before firmware 4.1, and little before 5")
    func older() throws {
        try expect(bench(.management, FirmwareVersion(4, 0, 0)).send("001d000000"), is: "6d00")
        try expect(
            bench(.management, FirmwareVersion(4, 1, 0)).send("001d000000"), is: "0c010133020401020304030133" + "9000"
        )
    }

    @Test("management pages: two from 5.7, one before; nothing else is known")
    func pages() throws {
        let new = try bench(.management)
        #expect(try new.send("001d000000").hasSuffix("1001019000"))
        #expect(try new.send("001d010000").hasSuffix("9000"))
        try expect(new.send("001d020000"), is: "6b00")
        try expect(new.send("001c000000"), is: "6700")
        let old = try bench(.management, FirmwareVersion(5, 2, 4))
        #expect(try old.send("001d000000").hasSuffix("9000"))
        try expect(old.send("001d010000"), is: "6b00")
    }

    @Test("OTP tells status and serial number, and refuses what is not a configuration")
    func otp() throws {
        let bench = try bench(.otp)
        try expect(bench.send("00a4040007a000000527200100"), is: "050701000000" + "9000")
        try expect(bench.send("0003000000"), is: "050701000000" + "9000")
        try expect(bench.send("0001100000"), is: "01020304" + "9000")
        #expect(try bench.send("0001130000").hasSuffix("9000"))
        try expect(bench.send("0001010000"), is: "6700")
        try expect(bench.send("0002000000"), is: "6d00")
        try expect(self.bench(.otp, FirmwareVersion(3, 4, 0)).send("0001130000"), is: "6986")
    }

    private func record(
        _ extended: OTPExtendedFlags, _ ticket: OTPTicketFlags = [], code: [UInt8] = OTPSlotRecord.noAccessCode
    ) throws -> [UInt8] {
        try OTPSlotRecord(
            fixed: [], identity: [1, 2, 3, 4, 5, 6], key: [UInt8](repeating: 7, count: 16), accessCode: code,
            extended: extended, ticket: ticket, configuration: []
        ).encoded
    }

    @Test("the serial number is told if a slot allows it, or while both are empty")
    func serial() throws {
        let bench = try bench(.otp)
        try expect(bench.send(0x01, p1: 0x01, record([])).status, is: .ok)
        try expect(bench.send("0001100000"), is: "9000")
        #expect(try bench.select(.piv).hasSuffix("9000") && bench.send("00f8000000") == "6985")
        _ = try bench.select(.otp)
        try expect(bench.send(0x01, p1: 0x03, record([.serialByCommand])).status, is: .ok)
        try expect(bench.send("0001100000"), is: "01020304" + "9000")
    }

    @Test("slots are swapped and updated as their flags allow, and the flag of slot 2 is kept out of slot 1")
    func slots() throws {
        let bench = try bench(.otp)
        try expect(bench.send(0x01, p1: 0x01, record([])).status, is: .ok)
        try expect(bench.send(0x01, p1: 0x06).status, is: .conditionsNotSatisfied)
        try expect(bench.send(0x01, p1: 0x04, record([.allowsUpdate])).status, is: .conditionsNotSatisfied)
        try expect(bench.send(0x01, p1: 0x01, record([.dormant])).status, is: .ok)
        try expect(bench.send(0x01, p1: 0x04, record([.allowsUpdate])).status, is: .ok)
        try expect(bench.send(0x01, p1: 0x06).status, is: .ok)
        try expect(bench.send(0x01, p1: 0x03, record([], .protectsSlot2)).status, is: .ok)
        try expect(bench.send(0x01, p1: 0x01, record([], .protectsSlot2)).status, is: .conditionsNotSatisfied)
        try expect(bench.send(0x01, p1: 0x12, [UInt8](repeating: 0, count: 45)).status, is: .ok)
    }

    @Test("a counter beyond the highest stays there")
    func counter() throws {
        let bench = try bench(.otp)
        try expect(bench.send(0x01, p1: 0x01, record([])).status, is: .ok)
        bench.card.state.otp.slots[0]?.counter = .max
        bench.layOnReader()
        _ = try bench.select(.ndef)
        try expect(bench.send("00a4000c02e104"), is: "9000")
        expect(bench.card.state.otp.slots[0]?.counter, is: 0x7FFF)
    }

    @Test("modes of older keys: told by SELECT, protected by an access code, without the sequence of empty slots")
    func modes() throws {
        let neo = try bench(.otp, FirmwareVersion(3, 4, 0))
        try expect(neo.select(.otp), is: "030400000000" + "060f0000" + "9000")
        try expect(neo.send("000111000182"), is: "030400000000" + "9000")
        try expect(neo.select(.otp), is: "030400000000" + "82000000" + "9000")
        let code: [UInt8] = [1, 2, 3, 4, 5, 6]
        try expect(neo.send(0x01, p1: 0x01, record([], code: code)).status, is: .ok)
        try expect(neo.send("000111000486000000"), is: "6985")
        try expect(bench(.otp).select(.otp), is: "050701000000" + "9000")
    }

    @Test("the last wrong PIN is told as one, and only what follows as blocked; a refused PIN costs no PUK try")
    func piv() throws {
        let bench = try bench(.piv)
        for word in ["63c2", "63c1", "63c0", "6983"] {
            try expect(bench.send("00200080083939393939 39ffff"), is: word)
        }
        try expect(bench.send("002c008010" + "3939393939393939" + "313233343536ffff"), is: "63c2")
        try expect(bench.send("002c008010" + "3132333435363738" + "313233ffffffffff"), is: "6a80")
        #expect(try bench.send("00f7008100").contains("06020302"))
        try expect(bench.send("002c008010" + "3132333435363738" + "313233343536ffff"), is: "9000")
        let old = try self.bench(.piv, FirmwareVersion(4, 2, 6))
        #expect(try old.send("0020008008313233343536ffff") == "9000" && old.send("00200080") == "63c3")
    }

    @Test("the attestation key signs nothing else, and only with its certificate")
    func attestation() throws {
        let bench = try bench(.piv)
        let digest = String(repeating: "11", count: 32)
        try expect(bench.send("0020008008313233343536ffff"), is: "9000")
        try expect(bench.send("008711f926" + "7c2482008120" + digest), is: "6a80")
        try expect(bench.send("0087119a26" + "7c2482008120" + digest), is: "6a80")
        try expect(bench.send("00f99a0000"), is: "6a80")
        bench.card.state.piv.keys[0x9A] = bench.card.state.piv.keys[0xF9]
        bench.card.state.piv.keys[0x9A]?.isImported = false
        try expect(bench.send(0xF9, p1: 0x9A).status, is: .ok)
        bench.card.state.piv.objects[0x5F_FF01] = nil
        try expect(bench.send("00f99a0000"), is: "6a80")
    }

    @Test("a lock code of zeros is that of a key without one")
    func unlocked() throws {
        let bench = try bench(.management)
        let zeros = TLV(0x0B, [UInt8](repeating: 0, count: 16)).encoded
        let ones = TLV(0x0B, [UInt8](repeating: 1, count: 16)).encoded
        try expect(bench.send(0x1C, [UInt8(ones.count)] + ones).status, is: .securityStatusNotSatisfied)
        try expect(bench.send(0x1C, [UInt8(zeros.count)] + zeros).status, is: .ok)
    }
}
