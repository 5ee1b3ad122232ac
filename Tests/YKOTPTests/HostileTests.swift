// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@Suite("Keyboards that lie")
struct HostileTests {
    private static let slotStatus: [UInt8] = [0, 5, 7, 1, 3, 0x03, 0, 0]

    /// Time for what never ends; long enough where something else ends it.
    private static let brief = Duration.milliseconds(50)

    private func lying(
        _ answers: [[UInt8]], status: [UInt8] = HostileTests.slotStatus, removedAt: Int? = nil,
        timeout: Duration = .seconds(60)
    ) async throws -> OTPService {
        var environment = ServiceEnvironment(timeout: timeout)
        environment.pause = { _, _ in }
        let link = ScriptedReports(status: status, answers: answers, removedAt: removedAt)
        return try await OTPService.open(HIDOTPLink(link, environment: environment))
    }

    private func flags(_ flags: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, flags] }

    @Test("A reply with a wrong CRC is not accepted")
    func wrongCRC() async throws {
        var reports = OTPReport.reports(reply: [1, 2, 3, 4])
        reports[0][4] ^= 1
        let service = try await lying(reports, timeout: Self.brief)
        await #expect(throws: OTPError.self) { try await service.serial() }
    }

    @Test("Parts out of turn, replies without end, cut ones, ones that break off")
    func sequences() async throws {
        let good = OTPReport.reports(reply: Array(0..<20))
        let cases: [[[UInt8]]] = [
            [good[0], good[2]], [good[1]], [good[0], Self.slotStatus], [good[0], flags(0x40)],
            (0..<40).map { [1, 2, 3, 4, 5, 6, UInt8($0), 0x40 | UInt8($0) & 0x1F] }, [good[0]], [[1, 2, 3]], [[]],
        ]
        for answers in cases {
            let service = try await lying(answers, timeout: Self.brief)
            await #expect(throws: OTPError.self) { try await service.hmac(.one, [1]) }
        }
    }

    @Test("A key that is never ready, or never touched, ends with the deadline")
    func endless() async throws {
        let busy = try await lying([flags(0x80)], timeout: Self.brief)
        await #expect(throws: OTPError.self) { try await busy.serial() }
        let untouched = try await lying([flags(0x20)], timeout: Self.brief)
        await #expect(throws: OTPError.self) { try await untouched.hmac(.one, [1]) }
        await #expect(throws: OTPError.self) { try await lying([], status: flags(0x80), timeout: Self.brief) }
        await #expect(throws: OTPError.self) { try await lying([], status: flags(0x40), timeout: Self.brief) }
        await #expect(throws: OTPError.self) { try await lying([], status: [1], timeout: Self.brief) }
    }

    @Test("A key whose own time is over says so")
    func notTouched() async throws {
        let service = try await lying([flags(0x20), flags(0x20), Self.slotStatus])
        await #expect(throws: OTPError.notTouched) { try await service.hmac(.one, [1]) }
    }

    @Test("Nobody touches the key: the person calls it off, and the key forgets it")
    func cancelled() async throws {
        var virtual = Virtual(touch: { _ in .pending })
        let cancellation = virtual.environment.cancellation
        virtual.environment.timeout = .seconds(10)
        let service = try await virtual.service(.hid) { cancellation.cancel() }
        try await service.program(.one, .hmac(key: shared("01"), needsTouch: true))
        await #expect(throws: OTPError.device(.cancelled)) { try await service.hmac(.one, [1]) }
        virtual.environment.cancellation = Cancellation()
        try await expect(virtual.service(.hid).serial(), is: 16_777_217)
    }

    @Test("Nobody touches the key over a card")
    func untouchedCard() async throws {
        let virtual = Virtual(touch: { _ in .notTouched })
        let service = try await virtual.service(.card)
        try await service.program(.one, .hmac(key: shared("01"), needsTouch: true))
        await #expect(throws: OTPError.rejected(.challengeHMAC1)) { try await service.hmac(.one, [1]) }
    }

    @Test("A status that does not move, or moves wrongly, is not a success")
    func sequence() async throws {
        for sequence: UInt8 in [3, 5, 0, 200] {
            let service = try await lying([[0, 5, 7, 1, sequence, 0x03, 0, 0]])
            await #expect(throws: OTPError.rejected(.swap)) { try await service.swap() }
        }
        let moved = try await lying([[0, 5, 7, 1, 4, 0x03, 0, 0]])
        try await moved.swap()
        let unstored = try await lying([[0, 5, 7, 1, 4, 0x02, 0, 0]])
        await #expect(throws: OTPError.notStored(.one)) {
            try await unstored.program(.one, .hmac(key: shared("01"), needsTouch: false))
        }
        // Firmware 5.0 to 5.4.2 may give 0.
        let broken = try await lying([[0, 5, 2, 4, 0, 0x03, 0, 0]], status: [0, 5, 2, 4, 3, 0x03, 0, 0])
        try await broken.swap()
        let mended = try await lying([[0, 5, 4, 3, 0, 0x03, 0, 0]], status: [0, 5, 4, 3, 3, 0x03, 0, 0])
        await #expect(throws: OTPError.rejected(.swap)) { try await mended.swap() }
    }

    @Test("Unplugged at any call, it ends with that", arguments: 1..<16)
    func removed(_ call: Int) async throws {
        await #expect(throws: OTPError.device(.removed)) {
            let service = try await lying([[0, 5, 7, 1, 4, 0x03, 0, 0]], removedAt: call)
            try await service.program(
                .one,
                .yubicoOTP(
                    publicID: Array(1..<17), privateID: shared([9, 9, 9, 9, 9, 9]),
                    key: shared([UInt8](repeating: 7, count: 16))))
        }
    }

    @Test("What another program left unfinished is given up")
    func abandoned() async throws {
        let key = VirtualKey(.demonstration(), inputs: VirtualInputs(touch: { _ in .pending }))
        let virtual = Virtual()
        let link = key.otpReportLink()
        for report in try OTPFrame(.serial).reports { try link.setFeature(report, deadline: .after(.seconds(1))) }
        let service = try await OTPService.open(HIDOTPLink(link, environment: virtual.environment))
        try await expect(service.serial(), is: 16_777_217)
    }

    @Test("A NEO's sequence is fetched anew before the first write")
    func neo() async throws {
        let service = try await Virtual(FirmwareVersion(3, 4, 0)).service(.hid)
        try await service.program(.one, .hmac(key: shared("01"), needsTouch: false))
        try await service.program(.one, .hmac(key: shared("02"), needsTouch: false))
        await expect(service.status.sequence, is: 2)
    }

    @Test("What the firmware lacks is not asked for")
    func versions() async throws {
        let old = try await lying([], status: [0, 2, 0, 2, 1, 0, 0, 0])
        await expect(old.state(of: .one).isProgrammed, is: nil)
        await expect(old.state(of: .one).isTouchTriggered, is: nil)
        await #expect(
            throws: OTPError.unsupported(.swap, needs: FirmwareVersion(2, 3, 0), has: FirmwareVersion(2, 0, 2))
        ) {
            try await old.swap()
        }
        await #expect(throws: OTPError.self) { try await old.serial() }
        await #expect(throws: OTPError.self) { try await old.hmac(.one, []) }
        await #expect(throws: OTPError.self) { try await old.program(.one, .hotp(key: shared("01"), .init())) }
        let flawed = try await lying([[0, 4, 3, 3, 4, 0x03, 0, 0]], status: [0, 4, 3, 3, 3, 0x03, 0, 0])
        await #expect(
            throws: OTPError.unsupported(
                .accessCodeUpdate, needs: FirmwareVersion(2, 3, 0), has: FirmwareVersion(4, 3, 3))
        ) {
            try await flawed.update(.one, OTPSettings(), access: .init(current: nil, new: try code(1)))
        }
        try await flawed.update(.one, OTPSettings(), access: .none)
        let fips = try await lying(OTPReport.reports(reply: [1]), status: [0, 4, 4, 5, 3, 0x03, 0, 0])
        #expect(try await fips.isInFIPSMode())
        let five = try await lying([])
        await #expect(throws: OTPError.self) { try await five.isInFIPSMode() }
        await #expect(throws: OTPError.notChallengeResponse(.one)) {
            try await lying([], status: [0, 5, 7, 1, 3, 0x0F, 0, 0]).hmac(.one, [])
        }
        var settings = OTPSettings()
        settings.extended.insert(.invertedLight)
        settings.extended.insert(.numericKeypad)
        await #expect(throws: OTPError.self) {
            try await old.program(.one, .hotp(key: shared("01"), .init()), settings)
        }
        let light = settings
        await #expect(throws: OTPError.self) {
            try await lying([], status: [0, 2, 2, 0, 3, 0x0F, 0, 0]).program(
                .one, .hmac(key: shared("01"), needsTouch: false), light)
        }
        for feature in OTPFeature.allCases where feature != .fipsMode {
            #expect(feature.isSupported(by: FirmwareVersion(5, 7, 1)))
        }
        #expect(!OTPFeature.invertedLight.isSupported(by: FirmwareVersion(3, 0, 1)))
    }

    @Test("Keys, identities and codes of the wrong length are not sent")
    func lengths() async throws {
        let service = try await lying([])
        let contents: [OTPSlotContent] = [
            .hmac(key: shared([]), needsTouch: false),
            .hmac(key: shared([UInt8](repeating: 1, count: 21)), needsTouch: false),
            .challengeOTP(key: shared("00"), needsTouch: true),
            .yubicoOTP(
                publicID: Array(0..<17), privateID: shared("010203040506"),
                key: shared([UInt8](repeating: 1, count: 16))),
            .yubicoOTP(publicID: [], privateID: shared("01"), key: shared([UInt8](repeating: 1, count: 16))),
        ]
        for content in contents {
            await #expect(throws: OTPError.self) { try await service.program(.one, content) }
        }
    }
}
