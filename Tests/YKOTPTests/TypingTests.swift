// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@Suite("What slots type")
struct TypingTests {
    private let key = "000102030405060708090a0b0c0d0e0f"

    private func plain(_ token: some StringProtocol) throws -> [UInt8] {
        try BlockCipher.aes.decrypt(try Modhex.decode(token), key: Secret(try Hex.decode(key)))
    }

    @Test("A Yubico OTP: public identity, block, Enter; its counters move")
    func yubicoOTP() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        try await service.program(
            .one, .yubicoOTP(publicID: [0xFF, 0, 0, 0, 0, 1], privateID: shared("8792ebfe26cc"), key: shared(key)))
        await expect(service.state(of: .one).isTouchTriggered, is: true)
        let (first, second) = (virtual.typed(1), virtual.typed(1))
        expect(first.count, is: 45)
        #expect(first.hasPrefix("vvcccccccccb"))
        #expect(first.hasSuffix("\n"))
        let (one, two) = (try plain(first.dropLast().suffix(32)), try plain(second.dropLast().suffix(32)))
        #expect(CRC16.isValid(one))
        expect(Hex.encode(one[..<6]), is: "8792ebfe26cc")
        expect(Array(one[6..<8]), is: [1, 0])
        #expect((one[11], two[11]) == (0, 1))
        let link = virtual.key.link()
        try link.reset(.cold, deadline: .after(.seconds(1)))
        expect(Array(try plain(virtual.typed(1).dropLast().suffix(32))[6..<8]), is: [2, 0])
        expect(virtual.typed(2), is: "")
    }

    @Test("Tabs, delays, the reference, no Enter, and pacing")
    func settings() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        var settings = OTPSettings()
        settings.ticket = [.tabFirst, .tabAfterFirst, .tabAfterSecond, .delayAfterFirst, .delayAfterSecond]
        settings.pacing = .long
        try await service.program(
            .two, .yubicoOTP(publicID: [0x11], privateID: shared("000000000000"), key: shared(key)), settings)
        let typed = virtual.typed(2)
        #expect(typed.hasPrefix("\tbb\t…"))
        #expect(typed.hasSuffix("\t…"))
        expect(virtual.key.strokes(2).pacing, is: .milliseconds(60))
        try await service.update(.two, OTPSettings())
        #expect(virtual.typed(2).hasPrefix("bb"))
        #expect(virtual.typed(2).hasSuffix("\n"))
        settings.extended.insert(.dormant)
        try await service.update(.two, settings)
        expect(virtual.typed(2), is: "")
        try await service.update(.two, OTPSettings())
        #expect(virtual.typed(2) != "")
        for pacing in OTPSettings.Pacing.allCases {
            settings.pacing = pacing
            try await service.update(.two, settings)
            expect(virtual.key.strokes(2).pacing, is: .milliseconds(pacing.rawValue))
        }
        settings.extended.subtract([.allowsUpdate, .dormant])
        try await service.update(.two, settings)
        await #expect(throws: OTPError.rejected(.update2)) { try await service.update(.two, OTPSettings()) }
        await #expect(throws: OTPError.emptySlot(.one)) { try await service.update(.one, OTPSettings()) }
    }

    @Test("HOTP of RFC 4226 appendix D")
    func hotp() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        let secret = shared(Array("12345678901234567890".utf8))
        try await service.program(.one, .hotp(key: secret, .init()))
        let expected = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        for code in expected { expect(virtual.typed(1), is: code + "\n") }
        var form = OTPSlotContent.HOTP()
        form.hasEightDigits = true
        form.identifier = try OTPTokenIdentifier("ubhe", serial: try await service.serial())
        try await service.program(.one, .hotp(key: secret, form))
        expect(virtual.typed(1), is: "ubhe1677721784755224\n")
    }

    @Test("HOTP starts where it is told to, in steps of 16")
    func counters() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.card)
        var form = OTPSlotContent.HOTP()
        form.counter = 0xFFFF0
        try await service.program(.two, .hotp(key: shared("00"), form))
        expect(virtual.key.state.otp.slots[1]?.counter, is: 0xFFFF0)
        for wrong in [1, -16, 0x100000] {
            form.counter = wrong
            await #expect(throws: OTPError.invalid(.counter(wrong))) {
                try await service.program(.two, .hotp(key: shared("00"), form))
            }
        }
    }

    @Test(
        "Identifiers are typed in modhex as far as they are in it",
        arguments: ["ubhe00112233", "cc1100112233", "111100112233", "ubhecccccccb"])
    func identifiers(_ text: String) async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        var form = OTPSlotContent.HOTP()
        form.identifier = try OTPTokenIdentifier(text, serial: nil)
        try await service.program(.one, .hotp(key: shared("00"), form))
        #expect(virtual.typed(1).hasPrefix(text))
    }

    @Test("A static password is typed as it is, on the keys of its layout")
    func password() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        let text = "Correct-Horse_Battery~Staple!0123 4567"
        let codes = try KeyboardLayout.us.scanCodes(text)
        try await service.program(.two, .staticPassword(scanCodes: shared(codes)))
        expect(virtual.typed(2), is: text + "\n")
        await #expect(throws: OTPError.self) {
            try await service.program(.two, .staticPassword(scanCodes: shared(codes + [4])))
        }
        await #expect(throws: OTPError.self) { try await service.program(.two, .staticPassword(scanCodes: shared([]))) }
    }

    @Test("A static ticket does not move")
    func ticket() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        func program(_ style: OTPSlotContent.StaticTicket) async throws -> String {
            try await service.program(
                .one, .staticTicket(fixed: [1], privateID: shared("010203040506"), key: shared(key), style))
            return virtual.typed(1)
        }
        let plain = try await program([])
        expect(plain, is: virtual.typed(1))
        expect(plain.count, is: 35)
        try await expect(program(.short).count, is: 19)
        try await expect(program([.upperCase, .digits, .special]).dropFirst(2).first, is: "!")
        #expect(try await program(.upperCase) != plain)
        try await expect(program([.upperCase, .manualUpdate]).count, is: 35)
    }

    @Test("Digits go to the numeric keypad when told to")
    func keypad() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        var settings = OTPSettings()
        settings.extended.insert(.numericKeypad)
        try await service.program(.one, .hotp(key: shared(Array("12345678901234567890".utf8)), .init()), settings)
        // 755224 on the keypad, then Enter.
        expect(
            virtual.key.strokes(1).strokes.map { $0 }, is: [0x5F, 0x5D, 0x5D, 0x5A, 0x5A, 0x5C, 0x28].map { .key($0) })
    }

    @Test("The NDEF record carries the next token")
    func ndef() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        var state = virtual.key.state
        try expect(state.nextNDEF(virtual.key.inputs).payload, is: [4] + Array("my.yubico.com/yk/#".utf8))
        try await service.program(.one, .hotp(key: shared(Array("12345678901234567890".utf8)), .init()))
        try await service.setNDEF(.text("otp=", language: "en"), for: .one)
        state = virtual.key.state
        let (kind, payload) = try state.nextNDEF(virtual.key.inputs)
        expect(kind, is: 0x54)
        expect(payload, is: [2] + Array("enotp=755224".utf8))
        expect(String(decoding: try state.nextNDEF(virtual.key.inputs).payload.suffix(6), as: UTF8.self), is: "287082")
        try await service.program(.two, .staticPassword(scanCodes: shared([4, 5, 6])))
        try await service.setNDEF(.standard, for: .two)
        state = virtual.key.state
        try expect(state.nextNDEF(virtual.key.inputs).payload.suffix(3), is: [4, 5, 6])
    }

    @Test("The keyboard presses and releases each key")
    func reports() async throws {
        let virtual = Virtual()
        let service = try await virtual.service(.hid)
        try await service.program(.one, .staticPassword(scanCodes: shared([0x04, 0x85])))
        var keyboard = VirtualKeyboard()
        let now = ContinuousClock.now
        keyboard.type(virtual.key.strokes(1).strokes, at: now)
        keyboard.type([.delay, .key(4)], at: now)
        let empty = [UInt8](repeating: 0, count: 8)
        var reports: [[UInt8]] = []
        while let report = keyboard.next(at: now) { reports.append(report) }
        expect(
            reports,
            is: [
                [0, 0, 4, 0, 0, 0, 0, 0], empty, [2, 0, 5, 0, 0, 0, 0, 0], empty, [0, 0, 0x28, 0, 0, 0, 0, 0], empty,
            ])
        expect(keyboard.pause(at: now), is: .milliseconds(500))
        #expect(keyboard.next(at: now.advanced(by: .milliseconds(500))) != nil)
    }
}
