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
        #expect(try u2f(bench, 0x46) == 0x6A81)
        #expect(try u2f(bench, 0x43, "012345") == 0x6986)
        #expect(try bench.send(0x01, registration).status == .ok)
        #expect(try u2f(bench, 0x44, "\u{5}01234") == 0x6700)
        #expect(try u2f(bench, 0x44, "\u{6}012345") == 0x9000)
        #expect(try u2f(bench, 0x46) == 0x9000)
        #expect(try bench.send(0x01, registration).status == .securityStatusNotSatisfied)
        #expect(try u2f(bench, 0x43, "012345") == 0x9000)
        #expect(try bench.send(0x01, registration).status == .ok)
        #expect(try u2f(bench, 0x44, "\u{6}012345543210") == 0x9000)
        #expect(try u2f(bench, 0x43, "012345") == 0x63C0)
        #expect(try u2f(bench, 0x43, "543210") == 0x9000)
        bench.card.powerOff()
        _ = try bench.select(.fido)
        #expect(try bench.send(0x01, registration).status == .securityStatusNotSatisfied)
        #expect(try u2f(bench, 0x43, "wrong1") == 0x63C0)
        #expect(try u2f(bench, 0x44, "\u{6}012345") == 0x6700)
        #expect(try u2f(bench, 0x43, "wrong2") == 0x63C0)
        #expect(try u2f(bench, 0x43, "wrong3") == 0x6983)
        #expect(try u2f(bench, 0x43, "543210") == 0x6983)
        #expect(try u2f(bench, 0x45) == 0x9000)
        #expect(try u2f(bench, 0x46) == 0x6A81)
        #expect(try u2f(bench, 0x44, "\u{6}012345") == 0x9000)
        #expect(try u2f(bench, 0x46) == 0x6A81)
    }

    @Test("the reset of U2F waits for a touch, and is refused long after power came")
    func fipsReset() throws {
        let inputs = VirtualInputs(random: CountingRandom(from: 1), touch: { _ in .notTouched })
        let bench = try Bench(model: .yubiKey4FIPS, aid: .fido, inputs: inputs)
        #expect(try u2f(bench, 0x45) == 0x6985)
        bench.card.state.profile.fido.resetWindow = -1
        #expect(try u2f(bench, 0x45) == 0x6986)
    }

    @Test("other keys have no U2F PIN", arguments: [DeviceModel.yubiKey, .yubiKey4, .neo, .yubiKey5FIPS])
    func noU2FPIN(_ model: DeviceModel) throws {
        let bench = try Bench(model: model, aid: .fido)
        for ins in [UInt8(0x43), 0x44, 0x45, 0x46] { #expect(try u2f(bench, ins, "\u{6}012345") == 0x6D00) }
    }

    @Test("keys before CTAP2 refuse its messages on the card", arguments: [DeviceModel.neo, .yubiKey4, .yubiKey4FIPS])
    func noCTAP2(_ model: DeviceModel) throws {
        let bench = try Bench(model: model, aid: .fido)
        #expect(try bench.send("80100000010400") == "6e00")
        #expect(try bench.send("00030000" + "00") == "5532465f56329000")
    }

    @Test("an early NEO is locked after SET CODE until it is selected and unlocked again")
    func neoUnlock() throws {
        let bench = Bench(version: FirmwareVersion(3, 1, 2), select: false)
        #expect(try bench.select(.oath).hasPrefix("7903000201"))
        let key = [UInt8](repeating: 7, count: 16)
        let proof =
            TLV(0x74, [1, 2, 3, 4, 5, 6, 7, 8]).encoded
            + TLV(0x75, Bench.hmac(key, [1, 2, 3, 4, 5, 6, 7, 8])).encoded
        #expect(try bench.send(0x03, TLV(0x73, [0x21] + key).encoded + proof).status == .ok)
        #expect(try bench.send(0xA1).status == .securityStatusNotSatisfied)
        let newer = try Bench(model: .neo, aid: .oath)
        #expect(try newer.send(0x03, TLV(0x73, [0x21] + key).encoded + proof).status == .ok)
        #expect(try newer.send(0xA1).status == .ok)
    }

    @Test("a YubiKey 5 FIPS refuses trivial and short PIV PINs, and no try is lost")
    func complexPIV() throws {
        let bench = try Bench(model: .yubiKey5FIPS, aid: .piv)
        for new in ["33333333", "11111111", "password", "12341234", "7351902"] {
            #expect(try change(bench, 0x80, "123456", new) == .conditionsNotSatisfied, "\(new)")
            #expect(try change(bench, 0x81, "12345678", new) == .conditionsNotSatisfied, "\(new)")
        }
        #expect(try bench.send(0x20, p2: 0x80).status.rawValue == 0x63C3)
        #expect(try change(bench, 0x80, "123456", "CMPLXPIN") == .ok)
        #expect(
            try bench.send(0x2C, p2: 0x80, padded("12345678") + padded("22222222")).status == .conditionsNotSatisfied)
        let usual = try Bench(model: .yubiKey, aid: .piv)
        #expect(try change(usual, 0x80, "123456", "333333") == .ok)
    }

    @Test("PIV reset and FIDO reset of a Bio block each other; the whole key can be reset")
    func bioReset() throws {
        let bench = try Bench(model: .yubiKeyBio, aid: .piv)
        #expect(bench.card.state.resetBlocked == 0)
        #expect(try bench.send(0xF7, p2: 0x80).data == Hex.decode("0101ff" + "050101" + "06020808"))
        #expect(try change(bench, 0x80, "123456", "multipin") == .ok)
        #expect(bench.card.state.resetBlocked == 0x200)
        _ = try bench.select(.fido)
        #expect(try bench.send("80100000010700") == "309000")
        _ = try bench.select(.management)
        #expect(try bench.send("001d010000").contains("18020200"))
        #expect(try bench.send(0x1F).status == .ok)
        #expect(bench.card.state.resetBlocked == 0)
    }

    @Test("fingerprints of a Bio in PIV: no finger, a finger, a temporary PIN; other keys have none")
    func bioPIV() throws {
        let bench = try Bench(model: .yubiKeyBio, aid: .piv)
        #expect(try bench.send(0xF7, p2: 0x96).data == Hex.decode("070100" + "060103" + "080100"))
        #expect(try bench.send(0x20, p2: 0x96).status.rawValue == 0x63C3)
        #expect(try bench.send(0x20, p2: 0x96, [0x03, 0x00]).status.rawValue == 0x63C3)
        bench.card.state.fido.fingerprints = [VirtualFingerprint(id: [1], name: "")]
        #expect(try bench.send(0x20, p2: 0x96, [0x03, 0x00]).status == .ok)
        #expect(try bench.send(0x20, p2: 0x96).status == .ok)
        let temporary = try bench.send(0x20, p2: 0x96, [0x02, 0x00])
        #expect(temporary.status == .ok && temporary.data.count == 16)
        #expect(try bench.send(0xF7, p2: 0x96).data == Hex.decode("070101" + "060103" + "080101"))
        #expect(try bench.send(0x20, p2: 0x96, TLV(0x01, temporary.data).encoded).status == .ok)
        let wrong = [UInt8](repeating: 0xEE, count: 16)
        #expect(try bench.send(0x20, p2: 0x96, TLV(0x01, wrong).encoded).status.rawValue == 0x63C0)
        #expect(try bench.send(0x20, p2: 0x96, [0x04, 0x00]).status == .incorrectParameters)
        bench.inputs.verify = { .wrong }
        for left in [2, 1, 0] {
            #expect(try bench.send(0x20, p2: 0x96, [0x03, 0x00]).status.rawValue == 0x63C0 | UInt16(left))
        }
        #expect(try bench.send(0x20, p2: 0x96, [0x03, 0x00]).status == .authenticationBlocked)
        #expect(try bench.send("0020008008313233343536ffff") == "9000")
        #expect(try bench.send(0xF7, p2: 0x96).data.dropFirst(3).prefix(3) == [0x06, 0x01, 0x03])
        #expect(try bench.send(0x24, p2: 0x81, [UInt8](repeating: 0x31, count: 16)).status == .unknownInstruction)
        let usual = try Bench(model: .yubiKey, aid: .piv)
        #expect(try usual.send(0x20, p2: 0x96, [0x03, 0x00]).status == .referenceNotFound)
        #expect(try usual.send(0xF7, p2: 0x96).status == .referenceNotFound)
    }

    @Test("a Security Key has FIDO and nothing else")
    func securityKey() throws {
        let bench = try Bench(model: .securityKey, aid: .fido)
        for aid in [AID.oath, .piv, .otp] { #expect(try bench.select(aid) == "6a82") }
    }
}
