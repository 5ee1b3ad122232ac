// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// What the products differ in, as other projects' device tests expect it of them.
struct ModelTests {
    private func padded(_ pin: String) -> [UInt8] {
        Array(pin.utf8) + [UInt8](repeating: 0xFF, count: 8 - pin.utf8.count)
    }

    private func change(_ bench: Bench, _ reference: UInt8, _ old: String, _ new: String) throws -> StatusWord {
        try bench.send(0x24, p2: reference, padded(old) + padded(new)).status
    }

    private func u2f(_ bench: Bench, _ ins: UInt8, _ data: String = "") throws -> UInt16 {
        try bench.send(ins, Array(data.utf8)).status.rawValue
    }

    @Test("U2F of a YubiKey 4 FIPS: PIN, tries, registration behind it, FIPS mode until a reset")
    func fipsU2F() throws {
        let bench = try Bench(model: .yubiKey4FIPS, aid: .fido)
        let registration = [UInt8](repeating: 1, count: 64)
        try expect(u2f(bench, 0x46), is: 0x6A81)
        try expect(u2f(bench, 0x43, "012345"), is: 0x6986)
        try expect(bench.send(0x01, registration).status, is: .ok)
        try expect(u2f(bench, 0x44, "\u{5}01234"), is: 0x6700)
        try expect(u2f(bench, 0x44, "\u{6}012345"), is: 0x9000)
        try expect(u2f(bench, 0x46), is: 0x9000)
        try expect(bench.send(0x01, registration).status, is: .securityStatusNotSatisfied)
        try expect(u2f(bench, 0x43, "012345"), is: 0x9000)
        try expect(bench.send(0x01, registration).status, is: .ok)
        try expect(u2f(bench, 0x44, "\u{6}012345543210"), is: 0x9000)
        try expect(u2f(bench, 0x43, "012345"), is: 0x63C0)
        try expect(u2f(bench, 0x43, "543210"), is: 0x9000)
        bench.card.powerOff()
        _ = try bench.select(.fido)
        try expect(bench.send(0x01, registration).status, is: .securityStatusNotSatisfied)
        try expect(u2f(bench, 0x43, "wrong1"), is: 0x63C0)
        try expect(u2f(bench, 0x44, "\u{6}012345"), is: 0x6700)
        try expect(u2f(bench, 0x43, "wrong2"), is: 0x63C0)
        try expect(u2f(bench, 0x43, "wrong3"), is: 0x6983)
        try expect(u2f(bench, 0x43, "543210"), is: 0x6983)
        try expect(u2f(bench, 0x45), is: 0x9000)
        try expect(u2f(bench, 0x46), is: 0x6A81)
        try expect(u2f(bench, 0x44, "\u{6}012345"), is: 0x9000)
        try expect(u2f(bench, 0x46), is: 0x6A81)
    }

    @Test("the reset of U2F waits for a touch, and is refused long after power came")
    func fipsReset() throws {
        let inputs = VirtualInputs(random: CountingRandom(from: 1), touch: { _ in .notTouched })
        let bench = try Bench(model: .yubiKey4FIPS, aid: .fido, inputs: inputs)
        try expect(u2f(bench, 0x45), is: 0x6985)
        bench.card.state.profile.fido.resetWindow = -1
        try expect(u2f(bench, 0x45), is: 0x6986)
    }

    @Test("other keys have no U2F PIN", arguments: [DeviceModel.yubiKey, .yubiKey4, .neo, .yubiKey5FIPS])
    func noU2FPIN(_ model: DeviceModel) throws {
        let bench = try Bench(model: model, aid: .fido)
        for ins in [UInt8(0x43), 0x44, 0x45, 0x46] { try expect(u2f(bench, ins, "\u{6}012345"), is: 0x6D00) }
    }

    @Test("keys before CTAP2 refuse its messages on the card", arguments: [DeviceModel.neo, .yubiKey4, .yubiKey4FIPS])
    func noCTAP2(_ model: DeviceModel) throws {
        let bench = try Bench(model: model, aid: .fido)
        try expect(bench.send("80100000010400"), is: "6e00")
        try expect(bench.send("00030000" + "00"), is: "5532465f56329000")
    }

    @Test("an early NEO is locked after SET CODE until it is selected and unlocked again")
    func neoUnlock() throws {
        let bench = Bench(version: FirmwareVersion(3, 1, 2), select: false)
        #expect(try bench.select(.oath).hasPrefix("7903000201"))
        let key = [UInt8](repeating: 7, count: 16)
        let proof =
            TLV(0x74, [1, 2, 3, 4, 5, 6, 7, 8]).encoded
            + TLV(0x75, Bench.hmac(key, [1, 2, 3, 4, 5, 6, 7, 8])).encoded
        try expect(bench.send(0x03, TLV(0x73, [0x21] + key).encoded + proof).status, is: .ok)
        try expect(bench.send(0xA1).status, is: .securityStatusNotSatisfied)
        let newer = try Bench(model: .neo, aid: .oath)
        try expect(newer.send(0x03, TLV(0x73, [0x21] + key).encoded + proof).status, is: .ok)
        try expect(newer.send(0xA1).status, is: .ok)
    }

    @Test("a YubiKey 5 FIPS refuses trivial and short PIV PINs, and no try is lost")
    func complexPIV() throws {
        let bench = try Bench(model: .yubiKey5FIPS, aid: .piv)
        for new in ["33333333", "11111111", "password", "12341234", "7351902"] {
            try expect(change(bench, 0x80, "123456", new), is: .conditionsNotSatisfied, "\(new)")
            try expect(change(bench, 0x81, "12345678", new), is: .conditionsNotSatisfied, "\(new)")
        }
        try expect(bench.send(0x20, p2: 0x80).status.rawValue, is: 0x63C3)
        try expect(change(bench, 0x80, "123456", "CMPLXPIN"), is: .ok)
        try expect(
            bench.send(0x2C, p2: 0x80, padded("12345678") + padded("22222222")).status, is: .conditionsNotSatisfied)
        let usual = try Bench(model: .yubiKey, aid: .piv)
        try expect(change(usual, 0x80, "123456", "333333"), is: .ok)
    }

    @Test("PIV reset and FIDO reset of a Bio block each other; the whole key can be reset")
    func bioReset() throws {
        let bench = try Bench(model: .yubiKeyBio, aid: .piv)
        expect(bench.card.state.resetBlocked, is: 0)
        try expect(bench.send(0xF7, p2: 0x80).data, is: Hex.decode("0101ff" + "050101" + "06020808"))
        try expect(change(bench, 0x80, "123456", "multipin"), is: .ok)
        expect(bench.card.state.resetBlocked, is: 0x200)
        _ = try bench.select(.fido)
        try expect(bench.send("80100000010700"), is: "309000")
        _ = try bench.select(.management)
        #expect(try bench.send("001d010000").contains("18020200"))
        try expect(bench.send(0x1F).status, is: .ok)
        expect(bench.card.state.resetBlocked, is: 0)
    }

    @Test("fingerprints of a Bio in PIV: no finger, a finger, a temporary PIN; other keys have none")
    func bioPIV() throws {
        let bench = try Bench(model: .yubiKeyBio, aid: .piv)
        try expect(bench.send(0xF7, p2: 0x96).data, is: Hex.decode("070100" + "060103" + "080100"))
        try expect(bench.send(0x20, p2: 0x96).status.rawValue, is: 0x63C3)
        try expect(bench.send(0x20, p2: 0x96, [0x03, 0x00]).status.rawValue, is: 0x63C3)
        bench.card.state.fido.fingerprints = [VirtualFingerprint(id: [1], name: "")]
        try expect(bench.send(0x20, p2: 0x96, [0x03, 0x00]).status, is: .ok)
        try expect(bench.send(0x20, p2: 0x96).status, is: .ok)
        let temporary = try bench.send(0x20, p2: 0x96, [0x02, 0x00])
        #expect(temporary.status == .ok && temporary.data.count == 16)
        try expect(bench.send(0xF7, p2: 0x96).data, is: Hex.decode("070101" + "060103" + "080101"))
        try expect(bench.send(0x20, p2: 0x96, TLV(0x01, temporary.data).encoded).status, is: .ok)
        let wrong = [UInt8](repeating: 0xEE, count: 16)
        try expect(bench.send(0x20, p2: 0x96, TLV(0x01, wrong).encoded).status.rawValue, is: 0x63C0)
        try expect(bench.send(0x20, p2: 0x96, [0x04, 0x00]).status, is: .incorrectParameters)
        bench.inputs.verify = { .wrong }
        for left in [2, 1, 0] {
            try expect(bench.send(0x20, p2: 0x96, [0x03, 0x00]).status.rawValue, is: 0x63C0 | UInt16(left))
        }
        try expect(bench.send(0x20, p2: 0x96, [0x03, 0x00]).status, is: .authenticationBlocked)
        try expect(bench.send("0020008008313233343536ffff"), is: "9000")
        try expect(bench.send(0xF7, p2: 0x96).data.dropFirst(3).prefix(3), is: [0x06, 0x01, 0x03])
        try expect(bench.send(0x24, p2: 0x81, [UInt8](repeating: 0x31, count: 16)).status, is: .unknownInstruction)
        let usual = try Bench(model: .yubiKey, aid: .piv)
        try expect(usual.send(0x20, p2: 0x96, [0x03, 0x00]).status, is: .referenceNotFound)
        try expect(usual.send(0xF7, p2: 0x96).status, is: .referenceNotFound)
    }

    @Test("a Security Key has FIDO and nothing else")
    func securityKey() throws {
        let bench = try Bench(model: .securityKey, aid: .fido)
        for aid in [AID.oath, .piv, .otp] { try expect(bench.select(aid), is: "6a82") }
    }
}
