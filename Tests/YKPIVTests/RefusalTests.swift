// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// What is refused, and that nothing is spent or written by it.
struct RefusalTests {
    private let places: [(name: String, PIVReference, @Sendable (PIVService) async throws -> Void)] = [
        ("verify", .pin, { try await $0.verify(pin("000000")) }),
        ("change the PIN", .pin, { try await $0.changePIN(from: pin("000000"), to: pin("654321")) }),
        ("change the PUK", .puk, { try await $0.changePUK(from: pin("000000"), to: pin("654321")) }),
        ("unblock", .puk, { try await $0.unblockPIN(puk: pin("000000"), newPIN: pin("654321")) }),
        ("a protected key", .pin, { try await $0.authenticate(withProtectedKeyOf: pin("000000")) }),
    ]

    /// A service on a key whose management key the PIN protects.
    private func protected(_ bench: Bench) async throws -> PIVService {
        let service = try await bench.manage()
        try await service.verify(pin())
        let key = try await service.randomManagementKey(.aes192)
        try await service.setManagementKey(ManagementKey(key.value.copy()), type: .aes192, protected: true)
        await service.rest()
        return try await bench.open()
    }

    @Test func aWrongPINCostsOneTryEverywhere() async throws {
        for (name, reference, call) in places {
            let service = try await protected(Bench())
            await #expect(throws: PIVError.wrong(reference, triesLeft: 2), "\(name)") { try await call(service) }
            try await expect(service.metadata(of: reference)?.triesLeft, is: 2, "\(name)")
            let other: PIVReference = reference == .pin ? .puk : .pin
            try await expect(service.metadata(of: other)?.triesLeft, is: 3, "\(name)")
        }
    }

    @Test func aBlockedPINOrPUKIsSaidEverywhere() async throws {
        for (name, reference, call) in places {
            let service = try await protected(Bench())
            try await service.blockPIN()
            try await service.blockPUK()
            await #expect(throws: PIVError.blocked(reference), "\(name)") { try await call(service) }
            if reference == .puk {
                await #expect(throws: PIVError.blocked(.puk)) {
                    try await service.unblockPIN(puk: .defaultPUK(), newPIN: .defaultPIN())
                }
            }
        }
    }

    @Test func anEmptyPINIsNotSentFromAnywhere() async throws {
        let log = ScriptedLink.Log()
        let service = try await ScriptedLink.service(log: log, otherwise: [0x90, 0x00], [:])
        let before = log.commands.count
        let calls: [@Sendable () async throws -> Void] = [
            { try await service.verify(pin("")) }, { try await service.changePIN(from: pin(), to: pin("")) },
            { try await service.changePIN(from: pin(""), to: pin()) },
            { try await service.changePUK(from: pin(""), to: pin()) },
            { try await service.unblockPIN(puk: pin(), newPIN: pin("")) },
            { try await service.authenticate(withProtectedKeyOf: pin("")) },
        ]
        for call in calls { await #expect(throws: PIVError.emptyPIN) { try await call() } }
        expect(log.commands.count, is: before)
    }

    @Test func keysDoNotFitEverySlot() async throws {
        let log = ScriptedLink.Log()
        let service = try await ScriptedLink.service(log: log, otherwise: [0x90, 0x00], [:])
        let before = log.commands.count
        let key = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 1, count: 32)))
        for slot in [PIVSlot(rawValue: 0x9B), PIVSlot(rawValue: 0x00), PIVSlot(rawValue: 0x80)] {
            let calls: [@Sendable () async throws -> Void] = [
                { _ = try await service.generateKey(slot, .p256) }, { _ = try await service.importKey(key, slot) },
                { try await service.moveKey(from: slot, to: .signature) },
                { try await service.moveKey(from: .signature, to: slot) }, { try await service.deleteKey(slot) },
                { _ = try await service.attest(slot) }, { _ = try await service.publicKey(slot) },
                { _ = try await service.certificate(slot) }, { try await service.deleteCertificate(slot) },
                { try await service.putCertificate([0x30], slot) },
                { _ = try await service.sign(.message([1]), slot, algorithm: .p256) },
                { _ = try await service.derive(with: key.publicKey, slot, algorithm: .p256) },
            ]
            for call in calls { await #expect(throws: PIVError.unusableSlot(slot)) { try await call() } }
        }
        expect(log.commands.count, is: before)
    }

    /// The card goes away between VERIFY and what needs it: nothing is tried again, and the PIN is not sent twice.
    @Test(arguments: [0x87, 0x47, 0xFE, 0xDB, 0xF9, 0xFA, 0xFF] as [UInt8])
    func theCardGoesAfterThePIN(_ instruction: UInt8) async throws {
        let log = ScriptedLink.Log()
        let link = ScriptedLink(log: log) { command throws(LinkError) in
            switch command[1] {
            case instruction: throw LinkError.removed
            case 0xFD: return [5, 7, 1, 0x90, 0x00]
            case 0xF7: return [0x6A, 0x88]
            case 0xCB: return [0x6A, 0x82]
            default: return [0x90, 0x00]
            }
        }
        let service = try await PIVService.open(CardChannel(link: link, environment: .still))
        try await service.verify(pin())
        let key = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 1, count: 32)))
        let calls: [UInt8: @Sendable () async throws -> Void] = [
            0x87: { _ = try await service.sign(.message([1]), .authentication, algorithm: .p256) },
            0x47: { _ = try await service.generateKey(.authentication, .p256) },
            0xFE: { _ = try await service.importKey(key, .authentication) },
            0xDB: { try await service.putObject(.chuid, [1]) },
            0xF9: { _ = try await service.attest(.authentication) },
            0xFA: { try await service.setRetries(pin: 3, puk: 3) },
            0xFF: { try await service.setManagementKey(.defaultKey(), type: .aes192) },
        ]
        let call = try #require(calls[instruction])
        let removed = PIVError.card(.link(.removed))
        let changes: [UInt8: PIVChange] = [
            0x47: .key(.authentication), 0xFE: .key(.authentication), 0xFA: .retries,
            0xFF: .managementKey(protected: false),
        ]
        await #expect(throws: changes[instruction].map { .uncertain($0, removed) } ?? removed) { try await call() }
        expect(log.commands.filter { $0[1] == 0x20 }.count, is: 1)
    }

    @Test func tellsWhatFIPSAsksFor() async throws {
        let (service, _) = try await Bench(FirmwareVersion(5, 4, 3)).with(.rsa1024, policies: KeyPolicies(pin: .never))
        let report = try await service.report()
        expect(
            report.brokenFIPSRules,
            is: [
                .ownPIN, .ownPUK, .ownManagementKey, .aesManagementKey, .noShortRSA, .pinForEveryKey,
            ])
        expect(FIPSRule.broken(by: .x25519, .once), is: [.noX25519])
        #expect(FIPSRule.broken(by: .p256, .always).isEmpty)
        let own = try await Bench().manage()
        try await own.changePIN(from: .defaultPIN(), to: pin("87654321"))
        try await own.changePUK(from: .defaultPUK(), to: pin("11223344"))
        try await own.setManagementKey(ManagementKey(Secret([UInt8](repeating: 7, count: 24))), type: .aes192)
        #expect(try await own.report(.all).brokenFIPSRules.isEmpty)
        #expect(try await Bench(FirmwareVersion(4, 4, 5)).open().identity.isFIPSFirmware)
        #expect(try await !Bench().open().identity.isFIPSFirmware)
    }
}
