// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

struct AccessTests {
    @Test func countsTriesWithoutUsingThem() async throws {
        for version in [
            FirmwareVersion(4, 3, 5), FirmwareVersion(5, 2, 4), FirmwareVersion(5, 4, 3), FirmwareVersion(5, 7, 1),
        ] {
            let bench = try Bench(version)
            let service = try await bench.open()
            for _ in 0..<5 { try await expect(service.tries(of: .pin)?.triesLeft, is: 3) }
            let hasMetadata = version >= FirmwareVersion(5, 3, 0)
            try await expect(service.tries(of: .pin)?.isDefault, is: (hasMetadata ? true : nil))
            try await expect(service.tries(of: .puk)?.triesLeft, is: (hasMetadata ? 3 : nil))
            try await service.verify(pin())
            try await expect(service.tries(of: .pin)?.triesLeft, is: (hasMetadata ? 3 : nil))
            try await service.forgetPIN()
            try await expect(service.tries(of: .pin)?.triesLeft, is: 3)
        }
    }

    @Test func countsWrongPINs() async throws {
        let service = try await Bench().open()
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 2)) { try await service.verify(pin("000000")) }
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 1)) {
            try await service.changePIN(from: pin("000000"), to: pin("111111"))
        }
        try await service.verify(pin())
        try await expect(service.tries(of: .pin)?.triesLeft, is: 3)
        for left in [2, 1] {
            await #expect(throws: PIVError.wrong(.pin, triesLeft: left)) { try await service.verify(pin("000000")) }
        }
        await #expect(throws: PIVError.blocked(.pin)) { try await service.verify(pin("000000")) }
        await #expect(throws: PIVError.blocked(.pin)) { try await service.verify(pin()) }
        await #expect(throws: PIVError.blocked(.pin)) { try await service.changePIN(from: pin(), to: pin("654321")) }
        try await expect(service.tries(of: .pin)?.isBlocked, is: true)
        await #expect(throws: PIVError.wrong(.puk, triesLeft: 2)) {
            try await service.unblockPIN(puk: pin("00000000"), newPIN: pin("654321"))
        }
        try await service.unblockPIN(puk: .defaultPUK(), newPIN: pin("654321"))
        try await service.verify(pin("654321"))
    }

    @Test func seesABlockedPINWithoutMetadata() async throws {
        let service = try await Bench(FirmwareVersion(4, 3, 5)).open()
        try await service.blockPIN()
        try await expect(service.tries(of: .pin)?.triesLeft, is: 0)
    }

    @Test func changesPINAndPUK() async throws {
        let bench = try Bench()
        let service = try await bench.open()
        try await service.changePIN(from: .defaultPIN(), to: pin("abcdefgh"))
        try await service.changePUK(from: .defaultPUK(), to: pin("87654321"))
        try await expect(service.metadata(of: .pin)?.isDefault, is: false)
        try await expect(service.metadata(of: .puk)?.isDefault, is: false)
        await #expect(throws: PIVError.shortPIN(.pin, 2, least: 6)) {
            try await service.changePIN(from: pin("000000"), to: pin("12"))
        }
        await #expect(throws: PIVError.shortPIN(.puk, 5, least: 6)) {
            try await service.changePUK(from: pin("00000000"), to: pin("12345"))
        }
        await #expect(throws: PIVError.shortPIN(.pin, 4, least: 6)) { try await service.verify(pin("1234")) }
        try await expect(service.metadata(of: .pin)?.triesLeft, is: 3)
        await #expect(throws: PIVError.wrong(.puk, triesLeft: 2)) {
            try await service.changePUK(from: pin("11111111"), to: pin("87654321"))
        }
        try await service.verify(pin("abcdefgh"))
    }

    @Test func sendsNoEmptyOrLongPIN() {
        #expect(throws: PIVError.emptyPIN) { _ = try pin("") }
        #expect(throws: PIVError.badPINLength(9)) { _ = try pin("123456789") }
        for text in ["123456\r", "1234\u{0}56", "123456\u{7F}"] {
            #expect(throws: PIVError.unusablePIN) { _ = try pin(text) }
        }
        #expect(throws: PIVError.unusablePIN) { _ = try PIVPIN(Secret([0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0xFF])) }
    }

    @Test func setsRetries() async throws {
        let service = try await Bench().open()
        await #expect(throws: PIVError.badInput("1 to 255 tries")) { try await service.setRetries(pin: 0, puk: 3) }
        await #expect(throws: PIVError.managementKeyRequired) { try await service.setRetries(pin: 5, puk: 7) }
        try await service.authenticate(with: .defaultKey())
        await #expect(throws: PIVError.pinRequired) { try await service.setRetries(pin: 5, puk: 7) }
        try await service.verify(pin())
        try await service.setRetries(pin: 5, puk: 7)
        try await expect(service.metadata(of: .pin)?.triesTotal, is: 5)
        try await expect(service.metadata(of: .puk)?.triesLeft, is: 7)
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 4)) { try await service.verify(pin("000000")) }
    }

    @Test func resetsOnlyWhenBlocked() async throws {
        let bench = try Bench()
        let (service, _) = try await bench.with(.p256)
        try await service.putObject(.printed, [1, 2, 3])
        await #expect(throws: PIVError.resetNotAllowed) { try await service.resetBlocked() }
        try await service.setManagementKey(ManagementKey(Secret([UInt8](repeating: 7, count: 32))), type: .aes256)
        try await service.reset()
        try await expect(service.tries(of: .pin)?.triesLeft, is: 3)
        try await expect(service.managementKeyMetadata()?.type, is: .aes192)
        await #expect(throws: PIVError.noKey(.authentication)) { try await service.metadata(of: .authentication) }
        try await service.authenticate(with: .defaultKey())
        try await expect(service.certificate(.attestation).subject.description, is: "CN=ykit virtual PIV attestation")
    }

    @Test func resetsOldFirmware() async throws {
        let service = try await Bench(FirmwareVersion(4, 3, 5)).open()
        try await service.blockPUK()
        try await service.reset()
        try await service.verify(pin())
    }

    @Test func refusesToResetWithFingerprints() async throws {
        let log = ScriptedLink.Log()
        let service = try await ScriptedLink.service(
            log: log, [0xF7: [0x07, 0x01, 0x01, 0x06, 0x02, 0x03, 0x03, 0x08, 0x01, 0x00, 0x90, 0x00]])
        await #expect(throws: PIVError.fingerprintsConfigured) { try await service.reset() }
        #expect(log.commands.allSatisfy { $0[1] != 0x20 })
    }

    @Test func givesUpOnTriesThatNeverEnd() async throws {
        let service = try await ScriptedLink.service([0x20: [0x63, 0xC3]])
        await #expect(throws: PIVError.notBlocked(.pin)) { try await service.blockPIN() }
        let other = try await ScriptedLink.service([0x20: [0x6F, 0x00]])
        await #expect(throws: PIVError.card(.status(.aborted, during: "VERIFY"))) { try await other.blockPIN() }
    }

    @Test func usesFingers() async throws {
        let number = [UInt8](repeating: 9, count: 16)
        let service = try await ScriptedLink.service([0x20: number + [0x90, 0x00]])
        let temporary = try await service.verifyFingerprint(wantsTemporaryPIN: true)
        expect(temporary?.value.copyBytes(), is: number)
        #expect(try await service.verifyFingerprint() == nil)
        try await service.verify(temporaryPIN: Secret(number))
        await #expect(throws: PIVError.badPINLength(3)) { try await service.verify(temporaryPIN: Secret([1, 2, 3])) }

        let wrong = try await ScriptedLink.service([0x20: [0x63, 0xC1]])
        await #expect(throws: PIVError.wrong(.fingerprint, triesLeft: 1)) { _ = try await wrong.verifyFingerprint() }
        let none = try await Bench().open()
        await #expect(
            throws: PIVError.unsupported(.fingerprints, needs: FirmwareVersion(5, 6, 0), has: FirmwareVersion(5, 7, 1))
        ) {
            _ = try await none.verifyFingerprint()
        }
        try await expect(none.fingerprintMetadata(), is: nil)
        let short = try await ScriptedLink.service([0x20: [1, 2, 0x90, 0x00]])
        await #expect(throws: PIVError.self) { _ = try await short.verifyFingerprint(wantsTemporaryPIN: true) }
    }
}
