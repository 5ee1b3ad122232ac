// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKOpenPGP
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A switch that closures share.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isOn: Bool { state.withLock { $0 } }
    func turnOn() { state.withLock { $0 = true } }
}

/// PINs, reset code, key derivation, certificates and reset.
struct AccessTests {
    @Test("no other program inherits a verified PIN", arguments: [DeviceModel.yubiKey, .openPGP], [false, true])
    func inheritance(_ model: DeviceModel, isClosed: Bool) async throws {
        let key = try Bench.key(model: model)
        func isVerified() throws -> Bool {
            let channel = CardChannel(link: key.link())
            _ = try channel.select(.openPGP)
            let query = APDU(ins: OpenPGPProtocol.Instruction.verify, p2: OpenPGPProtocol.Password.user, le: .none)
            return try channel.transmit(query).status == .ok
        }
        let service = try await Bench.open(key)
        try await service.verifyUsual(.using)
        if isClosed { await service.close() } else { await service.rest() }
        #expect(try !isVerified())
    }

    @Test("wrong PINs tell the tries that are left", arguments: [DeviceModel.yubiKey, .openPGP])
    func wrong(_ model: DeviceModel) async throws {
        let service = try await Bench.open(model: model)
        for left in [2, 1] {
            await #expect(throws: OpenPGPError.wrongPIN(.user, triesLeft: left)) {
                try await service.verify(Secret(utf8: "000000"), for: .using)
            }
        }
        await #expect(throws: OpenPGPError.blocked(.user)) {
            try await service.changePIN(.user, from: Secret(utf8: "000000"), to: Secret(utf8: "654321"))
        }
        await #expect(throws: OpenPGPError.blocked(.user)) { try await service.verifyUsual(.using) }
        await #expect(throws: OpenPGPError.badPINLength(.admin, least: 8, most: 127)) {
            try await service.verify(Secret(utf8: "1234567"), for: .administration)
        }
        try await service.verifyUsual(.administration)
        try await service.resetPIN(to: Secret(utf8: "654321"))
        try await service.verify(Secret(utf8: "654321"), for: .signing)
        #expect(try await service.pinStatus().retries == (3, 0, 3))
    }

    @Test("the reset code sets a new user PIN", arguments: [DeviceModel.yubiKey, .openPGP])
    func resetCode(_ model: DeviceModel) async throws {
        let service = try await Bench.open(model: model)
        try await service.verifyUsual(.administration)
        try await service.setResetCode(Secret(utf8: "resetcode"))
        await #expect(throws: OpenPGPError.wrongPIN(.reset, triesLeft: 2)) {
            try await service.resetPIN(to: Secret(utf8: "654321"), code: Secret(utf8: "nonsense!"))
        }
        try await service.resetPIN(to: Secret(utf8: "654321"), code: Secret(utf8: "resetcode"))
        try await service.verify(Secret(utf8: "654321"), for: .signing)
        try await service.changePIN(.admin, from: Secret(utf8: "12345678"), to: Secret(utf8: "87654321"))
        try await service.verify(Secret(utf8: "87654321"), for: .administration)
    }

    @Test("counts and policies are set")
    func policies() async throws {
        let service = try await Bench.open()
        try await service.verifyUsual(.administration)
        try await service.setRetries(user: 5, reset: 6, admin: 7)
        try await service.setSignaturePolicy(needsPINForEach: true)
        let status = try await service.pinStatus()
        #expect(status.retries == (5, 0, 7) && status.signatureNeedsPIN)
        await #expect(throws: OpenPGPError.badInput("1 to 99 tries can be set")) {
            try await service.setRetries(user: 0, reset: 1, admin: 1)
        }
        let card = try await Bench.open(model: .openPGP)
        await #expect(throws: OpenPGPError.unsupported("setting the number of tries")) {
            try await card.setRetries(user: 5, reset: 5, admin: 5)
        }
        try await expect(service.random(32).count, is: 32)
        await #expect(throws: OpenPGPError.badInput("1 to 32 bytes can be read at once")) {
            _ = try await card.random(33)
        }
    }

    @Test("a key derivation is set up and ended on both kinds of cards", arguments: [DeviceModel.yubiKey, .openPGP])
    func derivation(_ model: DeviceModel) async throws {
        let service = try await Bench.open(model: model)
        await #expect(throws: OpenPGPError.wrongPIN(.admin, triesLeft: 2)) {
            try await service.setUpKDF(
                admin: Secret(utf8: "87654321"), newUser: Secret(utf8: "user-pin"), newAdmin: Secret(utf8: "admin-pin"))
        }
        try await expect(service.kdf(), is: nil)
        try await service.setUpKDF(
            admin: Secret(utf8: "12345678"), newUser: Secret(utf8: "user-pin"), newAdmin: Secret(utf8: "admin-pin"),
            count: 100_000)
        try await expect(service.kdf()?.count, is: 100_000)
        try await service.verify(Secret(utf8: "user-pin"), for: .signing)
        try await service.changePIN(.user, from: Secret(utf8: "user-pin"), to: Secret(utf8: "other-pin"))
        try await service.verify(Secret(utf8: "other-pin"), for: .using)
        try await service.endKDF(
            admin: Secret(utf8: "admin-pin"), newUser: Secret(utf8: "plain-pin"), newAdmin: Secret(utf8: "plain-admin"))
        try await expect(service.kdf(), is: nil)
        try await service.verify(Secret(utf8: "plain-pin"), for: .using)
        try await service.verify(Secret(utf8: "plain-admin"), for: .administration)
    }

    @Test("the user PIN of a Gnuk token administers it until an admin PIN is set")
    func gnuk() async throws {
        let service = try await Bench.open(model: .gnuk)
        await #expect(throws: OpenPGPError.unsupported("a change of the user PIN while it holds no key")) {
            try await service.changePIN(.user, from: Secret(utf8: "123456"), to: Secret(utf8: "654321"))
        }
        try await service.setUpKDF(
            admin: Secret(utf8: "12345678"), newUser: Secret(utf8: "user-pin"), newAdmin: Secret(utf8: "admin-pin"),
            count: 100_000)
        await #expect(throws: OpenPGPError.badInput("this card has the user PIN 123456 until it holds a key")) {
            try await service.endKDF(
                admin: Secret(utf8: "admin-pin"), newUser: Secret(utf8: "plain-pin"), newAdmin: Secret(utf8: "12345678")
            )
        }
        try await service.endKDF(
            admin: Secret(utf8: "admin-pin"), newUser: Secret(utf8: "123456"), newAdmin: Secret(utf8: "12345678"))
        try await service.verifyUsual(.administration)
        _ = try await service.generateKey(.signature, .ed25519)
        await #expect(throws: OpenPGPError.self) {
            try await service.verify(Secret(utf8: "12345678"), for: .administration)
        }
        try await service.verify(Secret(utf8: "123456"), for: .administration)
        await #expect(throws: OpenPGPError.badInput("this card accepts a key derivation only while it holds no key")) {
            try await service.setUpKDF(
                admin: Secret(utf8: "123456"), newUser: Secret(utf8: "user-pin"), newAdmin: Secret(utf8: "admin-pin"))
        }
        try await service.changePIN(.user, from: Secret(utf8: "123456"), to: Secret(utf8: "654321"))
        await #expect(throws: OpenPGPError.pinRequired(.admin)) {
            try await service.setSignaturePolicy(needsPINForEach: false)
        }
        try await service.verify(Secret(utf8: "654321"), for: .administration)
        try await service.setSignaturePolicy(needsPINForEach: false)
        await #expect(throws: OpenPGPError.badPINLength(.admin, least: 8, most: 127)) {
            try await service.changePIN(.admin, from: Secret(utf8: "654321"), to: Secret(utf8: "7654321"))
        }
        try await service.changePIN(.admin, from: Secret(utf8: "654321"), to: Secret(utf8: "admin-pin"))
        try await service.verify(Secret(utf8: "admin-pin"), for: .administration)
        try await service.verify(Secret(utf8: "654321"), for: .signing)
        await #expect(throws: OpenPGPError.self) {
            try await service.verify(Secret(utf8: "654321"), for: .administration)
        }
    }

    @Test("certificates of three slots", arguments: [FirmwareVersion(5, 4, 3), FirmwareVersion(5, 7, 4)])
    func certificates(_ version: FirmwareVersion) async throws {
        let service = try await Bench.open(version)
        try await service.verifyUsual(.administration)
        let slots: [OpenPGPSlot] = [.signature, .decryption, .authentication]
        for (index, slot) in slots.enumerated() {
            await #expect(throws: OpenPGPError.noCertificate(slot)) { _ = try await service.certificate(slot) }
            try await service.putCertificate([0x30, 0x01, UInt8(index)], slot)
        }
        for (index, slot) in slots.enumerated() {
            try await expect(service.certificate(slot), is: [0x30, 0x01, UInt8(index)])
        }
        try await service.deleteCertificate(.decryption)
        await #expect(throws: OpenPGPError.noCertificate(.decryption)) {
            _ = try await service.certificate(.decryption)
        }
        await #expect(throws: OpenPGPError.badInput("the certificate has 4096 bytes, the card has room for 2048")) {
            try await service.putCertificate([UInt8](repeating: 1, count: 4096), .signature)
        }
    }

    @Test("generated keys are attested, imported ones are not")
    func attests() async throws {
        let service = try await Bench.open()
        try await service.verifyUsual(.administration)
        await #expect(throws: OpenPGPError.pinRequired(.user)) { _ = try await service.attest(.signature) }
        try await service.verifyUsual(.signing)
        await #expect(throws: OpenPGPError.notAttestable(.signature)) { _ = try await service.attest(.signature) }
        _ = try await service.generateKey(.signature, .ed25519)
        let statement = try await service.attest(.signature)
        expect(statement.first, is: 0x30)
        try await expect(service.certificate(.signature), is: statement)
        let issuer = try await service.certificate(.attestation)
        let check = CertificatePathCheck(anchors: [issuer], at: 1_800_000_000)
        try expect(check.path(from: statement).count, is: 2)
        let card = try await Bench.open(model: .openPGP)
        await #expect(throws: OpenPGPError.unsupported("attestation")) { _ = try await card.attest(.signature) }
    }

    @Test("a reset needs no PIN, and one that did not end is finished", arguments: [DeviceModel.yubiKey, .openPGP])
    func reset(_ model: DeviceModel) async throws {
        let key = try Bench.key(model: model)
        let service = try await Bench.open(key)
        try await service.verifyUsual(.administration)
        _ = try await service.generateKey(.signature, .ed25519)
        await service.close()
        let other = try await Bench.open(key)
        try await other.reset()
        try await expect(other.status().keys[0].origin?.description, is: "none")
        #expect(try await other.pinStatus().retries == (3, 0, 3))
        try await other.verifyUsual(.administration)
        try await other.reset()
        await other.close()
        let channel = CardChannel(link: key.link())
        _ = try channel.select(.openPGP)
        for text in ["00200083083132333435363738", "00e60000"] {
            try expect(channel.exchange(raw: Hex.decode(text)), is: [0x90, 0x00])
        }
        channel.close()
        await #expect(throws: OpenPGPError.terminated) { _ = try await Bench.open(key) }
        let active = try await OpenPGPService.activate(CardChannel(link: key.link()))
        #expect(try await active.pinStatus().retries == (3, 0, 3))
    }
}
