// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@Suite("The OTP application on the virtual key, both ways in")
struct ServiceTests {
    @Test("A new key has two empty slots and a serial number", arguments: bothWays)
    func empty(_ way: OTPCarrier) async throws {
        let service = try await Virtual().service(way)
        await expect(service.version, is: FirmwareVersion(5, 7, 1))
        await expect(service.carrier, is: way)
        await expect(service.state(of: .one).isProgrammed, is: false)
        await expect(service.state(of: .two).isProgrammed, is: false)
        try await expect(service.serial(), is: 16_777_217)
        #expect(try await service.deviceInfo().count > 10)
        #expect(try await service.deviceInfo(page: 1).count > 10)
    }

    /// RFC 2202 §3; the key keeps 20 bytes, so cases 6 and 7 with keys of 80 bytes have them hashed.
    static let hmacs: [(String, String, String)] = [
        (String(repeating: "0b", count: 20), "4869205468657265", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        ),
        (
            String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
            "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
        ),
        (
            String(repeating: "0c", count: 20), "546573742057697468205472756e636174696f6e",
            "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"
        ),
        (
            String(repeating: "aa", count: 80),
            "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
    ]

    @Test("HMAC-SHA-1 of RFC 2202", arguments: bothWays, hmacs)
    func hmac(_ way: OTPCarrier, _ vector: (String, String, String)) async throws {
        let service = try await Virtual().service(way)
        try await service.program(.two, .hmac(key: shared(vector.0), needsTouch: false))
        await expect(service.state(of: .two).isProgrammed, is: true)
        await expect(service.state(of: .two).isTouchTriggered, is: false)
        expect(Hex.encode(try await service.hmac(.two, try Hex.decode(vector.1))), is: vector.2)
    }

    @Test("Challenges that end with zeros, empty ones and long ones", arguments: bothWays)
    func challenges(_ way: OTPCarrier) async throws {
        let service = try await Virtual().service(way)
        let key = [UInt8](repeating: 5, count: 20)
        try await service.program(.one, .hmac(key: shared(key), needsTouch: false))
        for challenge: [UInt8] in [[], [0], [1], [1, 0, 0], [0, 1], [UInt8](repeating: 0, count: 63)] {
            let expected = HashAlgorithm.sha1.hmac(key: Secret(key), challenge)
            try await expect(service.hmac(.one, challenge), is: expected)
        }
        await #expect(throws: OTPError.self) { try await service.hmac(.one, [UInt8](repeating: 0, count: 65)) }
        try await service.program(.one, .hmac(key: shared(key), needsTouch: false, takesShortChallenges: false))
        let full = [UInt8](repeating: 0, count: 64)
        try await expect(service.hmac(.one, full), is: HashAlgorithm.sha1.hmac(key: Secret(key), full))
    }

    @Test("TOTP of RFC 6238 appendix B by challenge-response", arguments: bothWays)
    func totp(_ way: OTPCarrier) async throws {
        let service = try await Virtual().service(way)
        try await service.program(.two, .hmac(key: shared(Array("12345678901234567890".utf8)), needsTouch: false))
        try await expect(service.code(.two, at: 59, digits: 8), is: "94287082")
        try await expect(service.code(.two, at: 1_111_111_109, digits: 8), is: "07081804")
        try await expect(service.code(.two, at: 20_000_000_000, digits: 6), is: "353130")
        await #expect(throws: OTPError.self) { try await service.code(.two, at: 59, period: 0) }
        await #expect(throws: OTPError.self) { try await service.code(.two, at: 59, digits: 9) }
    }

    @Test("A Yubico OTP challenge comes back at the front of the block", arguments: bothWays)
    func challengeOTP(_ way: OTPCarrier) async throws {
        let service = try await Virtual().service(way)
        let key = "000102030405060708090a0b0c0d0e0f"
        try await service.program(.two, .challengeOTP(key: shared(key), needsTouch: false))
        let block = try await service.challengeOTP(.two, [1, 2, 3, 4, 5, 6])
        let plain = try BlockCipher.aes.decrypt(block, key: Secret(try Hex.decode(key)))
        expect(Array(plain[..<6]), is: [1, 2, 3, 4, 5, 6])
        #expect(CRC16.isValid(plain))
        #expect(try await service.challengeOTP(.two, [1, 2, 3, 4, 5, 6]) != block)
        await #expect(throws: OTPError.rejected(.challengeHMAC2)) { try await service.hmac(.two, []) }
        await #expect(throws: OTPError.self) { try await service.challengeOTP(.two, [1]) }
    }

    @Test("Slots are swapped and emptied, and the sequence tells", arguments: bothWays)
    func swap(_ way: OTPCarrier) async throws {
        let service = try await Virtual().service(way)
        await #expect(throws: OTPError.rejected(.swap)) { try await service.swap() }
        await #expect(throws: OTPError.rejected(.configure1)) { try await service.delete(.one) }
        try await service.program(.one, .hmac(key: shared("0102"), needsTouch: false))
        await expect(service.status.sequence, is: 1)
        try await service.swap()
        await expect(service.status.sequence, is: 2)
        await expect(service.state(of: .one).isProgrammed, is: false)
        await expect(service.state(of: .two).isProgrammed, is: true)
        await #expect(throws: OTPError.emptySlot(.one)) { try await service.hmac(.one, []) }
        try await service.delete(.two)
        await expect(service.status.sequence, is: 0)
        try await service.refresh()
        await expect(service.state(of: .two).isProgrammed, is: false)
        await service.rest()
    }

    @Test("An access code keeps a slot from being written, updated and deleted", arguments: bothWays)
    func accessCodes(_ way: OTPCarrier) async throws {
        let service = try await Virtual().service(way)
        let hmac = OTPSlotContent.hmac(key: shared("0102"), needsTouch: false)
        try await service.program(.one, hmac, access: .init(current: nil, new: try code(1)))
        for wrong in [nil, try code(2)] {
            await #expect(throws: OTPError.rejected(.configure1)) {
                try await service.program(.one, hmac, access: .keeping(wrong))
            }
            await #expect(throws: OTPError.rejected(.configure1)) { try await service.delete(.one, access: wrong) }
            await #expect(throws: OTPError.rejected(.update1)) {
                try await service.update(.one, .challengeResponse, access: .keeping(wrong))
            }
        }
        await #expect(throws: OTPError.rejected(.swap)) { try await service.swap() }
        try await service.program(.one, hmac, access: .keeping(try code(1)))
        try await service.update(.one, .challengeResponse, access: .init(current: try code(1), new: try code(3)))
        try await service.update(.one, .challengeResponse, access: .init(current: try code(3), new: nil))
        try await service.delete(.one)
        #expect(throws: OTPError.self) { try OTPAccessCode(Secret([1, 2, 3])) }
    }

    @Test("NDEF and the scan-code map are written", arguments: bothWays)
    func otherWrites(_ way: OTPCarrier) async throws {
        let virtual = Virtual()
        let service = try await virtual.service(way)
        await #expect(throws: OTPError.rejected(.ndef1)) { try await service.setNDEF(.standard, for: .one) }
        try await service.program(
            .one,
            .yubicoOTP(
                publicID: [1, 2], privateID: shared("010203040506"), key: shared([UInt8](repeating: 1, count: 16))))
        try await service.setNDEF(.uri("https://example.com/?"), for: .one)
        expect(virtual.key.state.otp.ndef?.content, is: [4] + Array("example.com/?".utf8))
        try await service.setNDEF(.text("code ", language: "en"), for: .one)
        expect(virtual.key.state.otp.ndef?.kind, is: 0x54)
        await #expect(throws: OTPError.self) {
            try await service.setNDEF(.uri(String(repeating: "a", count: 60)), for: .one)
        }
        var map = OTPService.usualScanCodes
        expect(map.count, is: OTPService.scanCodeMapSize)
        map.swapAt(0, 1)
        try await service.setScanCodeMap(map)
        expect(virtual.key.state.otp.scanCodes, is: map)
        try await service.setScanCodeMap(nil)
        expect(virtual.key.state.otp.scanCodes, is: OTPService.usualScanCodes)
        await #expect(throws: OTPError.self) { try await service.setScanCodeMap([1, 2, 3]) }
    }
}
