// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// Cards of other makers, and what none of their answers ends.
struct OddAnswerTests {
    // MARK: Reset

    /// A card without Yubico's RESET keeps its PIN and PUK.
    @Test(arguments: [0x6D00, 0x6E00, 0x6A81, 0x6A86, 0x6B00] as [UInt16])
    func blocksNothingWithoutReset(_ status: UInt16) async throws {
        let log = ScriptedLink.Log()
        let word = [UInt8(status >> 8), UInt8(status & 0xFF)]
        let service = try await ScriptedLink.service(atr: ScriptedLink.unknown, log: log, [0xFB: word])
        await #expect(throws: PIVError.noReset) { try await service.reset() }
        #expect(log.commands.allSatisfy { ![0x20, 0x24].contains($0[1]) })
    }

    @Test func stopsAtTriesThatDoNotGoDown() async throws {
        let log = ScriptedLink.Log()
        let service = try await ScriptedLink.service(log: log, [0xFB: [0x69, 0x85], 0x20: [0x63, 0xC3]])
        await #expect(throws: PIVError.notBlocked(.pin)) { try await service.reset() }
        #expect(log.commands.count { $0[1] == 0x20 } == 2 && log.commands.allSatisfy { $0[1] != 0x24 })
    }

    // MARK: Version

    @Test(
        arguments: [([1, 2, 3, 4], FirmwareVersion(1, 2, 3)), ([], nil), ([5, 7], nil)] as [([UInt8], FirmwareVersion?)]
    )
    func readsVersionsOfAnyLength(_ bytes: [UInt8], _ version: FirmwareVersion?) async throws {
        let service = try await ScriptedLink.service(atr: ScriptedLink.unknown, [0xFD: bytes + [0x90, 0x00]])
        await expect(service.identity.version, is: version)
        #expect(try await service.report().slots.isEmpty)
    }

    @Test func reportsNoSerialOfAnotherLength() async throws {
        let service = try await ScriptedLink.service(atr: ScriptedLink.unknown, [0xF8: [1, 2, 3, 4, 5, 0x90, 0x00]])
        try await expect(service.serial(), is: nil)
    }

    // MARK: Metadata

    /// A key whose metadata the card cannot tell is used by its certificate, and shown as that.
    @Test(arguments: [[0x6F, 0x00], [0x69, 0x85], [0x67, 0x00], [0x90, 0x00], [1, 2, 0x90, 0x00]] as [[UInt8]])
    func goesOnWithoutMetadata(_ answer: [UInt8]) async throws {
        let service = try await ScriptedLink.service(atr: ScriptedLink.unknown, [0xF7: answer])
        try await expect(service.metadata(of: .pin), is: nil)
        try await expect(service.managementKeyMetadata(), is: nil)
        guard case .untold(let cause?) = try await service.keyState(of: .signature) else {
            Issue.record("an answer is taken for a key, or for none")
            return
        }
        #expect(!cause.endsSession)
        await #expect(throws: PIVError.unknownKey(.signature)) { try await service.publicKey(.signature) }
        try await expect(service.report().slots.map(\.slot), is: PIVSlot.main)
    }

    @Test func endsWhenTheLinkFails() async throws {
        let link = ScriptedLink { command throws(LinkError) in
            if command[1] == 0xF7 { throw LinkError.cancelled }
            return command[1] == 0xFD ? [5, 7, 1, 0x90, 0] : [0x90, 0]
        }
        let service = try await PIVService.open(CardChannel(link: link, environment: .still))
        await #expect(throws: PIVError.card(.link(.cancelled))) { try await service.keyState(of: .signature) }
    }

    // MARK: Management key

    /// Authentication of a card that answers the host's proof with nothing.
    private func provingNothing() async throws -> PIVService {
        let link = ScriptedLink(atr: ScriptedLink.unknown) { command in
            switch (command[1], command.dropFirst(5).prefix(4)) {
            case (0xA4, _): [0x90, 0x00]
            case (0x87, [0x7C, 0x02, 0x80, 0x00]):
                [0x7C, 0x0A, 0x80, 0x08] + [UInt8](repeating: 7, count: 8) + [0x90, 0x00]
            case (0x87, [0x7C, 0x02, 0x81, 0x00]):
                [0x7C, 0x0A, 0x81, 0x08] + [UInt8](repeating: 7, count: 8) + [0x90, 0x00]
            case (0x87, _): [0x90, 0x00]
            default: [0x6D, 0x00]
            }
        }
        return try await PIVService.open(CardChannel(link: link, environment: .still))
    }

    @Test func tellsThatTheCardProvedNothing() async throws {
        let service = try await provingNothing()
        await #expect(throws: PIVError.unproven) { try await service.authenticate(with: .defaultKey()) }
        await service.waiveProof()
        try await service.authenticate(with: .defaultKey())
    }

    @Test func authenticatesInOneDirectionByChoice() async throws {
        let service = try await Bench().open()
        await service.waiveProof()
        await #expect(throws: PIVError.wrongManagementKey) {
            try await service.authenticate(with: ManagementKey(Secret([UInt8](repeating: 9, count: 24))))
        }
        try await service.authenticate(with: .defaultKey())
        try await service.putObject(.security, [1])
    }

    @Test func namesWhatTheCardRefuses() async throws {
        let service = try await Bench().manage()
        let card = try await ScriptedLink.service(
            atr: ScriptedLink.unknown, [0xFF: [0x6D, 0x00], 0xDB: [0x67, 0x00]])
        await #expect(throws: PIVError.unsupportedManagementKey(.tripleDES)) {
            try await card.setManagementKey(.defaultKey(), type: .tripleDES)
        }
        await #expect(throws: PIVError.refusedLength(.administration)) {
            try await card.putObject(.administration, [1])
        }
        await service.rest()
    }

    // MARK: Objects

    /// The CHUID of cards whose issuer has no number: the FASC-N is all zeros.
    private static let chuid: [UInt8] =
        [0x30, 25] + [UInt8](repeating: 0, count: 25) + [0x34, 16] + [UInt8](0..<16) + [0x35, 8]
        + Array("20300101".utf8)
        + [0x3E, 0, 0xFE, 0]

    @Test func readsACHUIDWithoutANumber() async throws {
        let service = try await Bench().manage()
        try await service.putObject(.chuid, Self.chuid)
        let report = try await service.report()
        #expect(report.chuid?.guid == [UInt8](0..<16) && report.chuid?.fascn == nil && report.problems.isEmpty)
        let updated = try await service.updateCHUID()
        #expect(updated.guid != [UInt8](0..<16) && updated.fascnBytes == [UInt8](repeating: 0, count: 25))
    }

    @Test func tellsMalformedObjectsFromMissingOnes() async throws {
        let service = try await Bench().manage()
        try await service.putObject(.chuid, [0x30, 0])
        try await service.putObject(.capability, [0xF0, 1, 0])
        try await service.putObject(.administration, [1])
        let report = try await service.report(.all)
        #expect(report.chuid == nil && report.capability == nil)
        expect(Set(report.problems.keys), is: [.chuid, .capability, .administration])
        let other = try await ScriptedLink.service(atr: ScriptedLink.unknown, [0xCB: [0x53, 2, 1, 1, 0x90, 0x00]])
        #expect(try await other.report().problems[.discovery] != nil)
    }

    /// Certificates that are empty, padded to a size, or compressed in the way of older specifications.
    @Test func readsCertificatesOfOtherCards() async throws {
        let service = try await Bench().manage()
        let der = try await service.certificate(.attestation).der
        let gzip = try CertificateObject(certificate: der, compressed: true).stored
        func stored(_ certificate: [UInt8], _ info: [UInt8]) async throws -> [UInt8] {
            try await service.putObject(
                .authenticationCertificate, [TLV(0x70, certificate), TLV(0x71, info), TLV(0xFE, [])].encoded)
            return try await service.certificate(.authentication).der
        }
        try await expect(stored(der + [UInt8](repeating: 0, count: 16), [0]), is: der)
        for info: UInt8 in [0x80, 0x01, 0x00] { try await expect(stored(gzip, [info]), is: der) }
        try await expect(stored(der, [0x01]), is: der)
        await #expect(throws: PIVError.noSuchObject(.authenticationCertificate)) { _ = try await stored([], [0]) }
        await #expect(throws: PIVError.self) { _ = try await stored(der + [0, 1], [0]) }
    }

    // MARK: Slots

    @Test func showsCertificatesWithoutAKey() async throws {
        let service = try await Bench().manage()
        let der = try await service.certificate(.attestation).der
        let slots: [PIVSlot] = [.cardAuthentication] + [PIVSlot.retired(1), .retired(4)].compactMap(\.self)
        for slot in slots { try await service.putCertificate(der, slot) }
        let report = try await service.report()
        #expect(report.slots.map(\.slot) == slots && report.slots.allSatisfy { $0.key == .absent })
        #expect(report.notLookedAt.first == .retired(9) && report.notLookedAt.last == .retired(20))
        #expect(try await service.keys(in: PIVSlot.main + PIVSlot.retired).isEmpty)
    }

    /// No more commands than yubico-piv-tool 2.2.0 sends for its status.
    @Test func needsNoMoreCommandsThanAStatus() async throws {
        let bench = try Bench()
        let service = try await bench.manage()
        let der = try await service.certificate(.attestation).der
        for slot in [PIVSlot.retired(1), .retired(2)].compactMap(\.self) {
            _ = try await service.generateKey(slot, .p256)
            try await service.putCertificate(der, slot)
        }
        _ = try await service.makeCHUID()
        try await service.makeCapability()
        try await service.setManagementKey(ManagementKey(Secret([UInt8](repeating: 7, count: 24))), type: .aes192)
        await service.rest()
        let other = try await bench.open()
        let report = try await other.report()
        #expect(report.slots.count == 2 && report.slots.allSatisfy { $0.metadata != nil })
        await expect(other.statistics.exchanges, is: 29)
    }
}
