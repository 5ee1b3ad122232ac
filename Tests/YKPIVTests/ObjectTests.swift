// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

struct ObjectTests {
    @Test func readsAndWritesObjects() async throws {
        let bench = try Bench()
        let service = try await bench.open()
        await #expect(throws: PIVError.managementKeyRequired) { try await service.putObject(.security, [1]) }
        try await service.authenticate(with: .defaultKey())
        let long = (0..<3000).map { UInt8(truncatingIfNeeded: $0) }
        try await service.putObject(.security, long)
        try await expect(service.object(.security), is: long)
        await #expect(throws: PIVError.refusedLength(.security)) {
            try await service.putObject(.security, long + long.prefix(64))
        }
        try await service.putObject(.security, [])
        await #expect(throws: PIVError.noSuchObject(.security)) { try await service.object(.security) }
        await #expect(throws: PIVError.pinRequired) { try await service.object(.printed) }
        let discovery = try DiscoveryObject(decoding: try await service.object(.discovery))
        #expect(discovery.aid.starts(with: AID.piv.rawValue))
        #expect(!discovery.hasGlobalPIN)
    }

    @Test func makesAndUpdatesIdentifiers() async throws {
        let service = try await Bench().manage()
        try await expect(service.chuid(), is: nil)
        var chuid = try await service.makeCHUID()
        try await expect(service.chuid(), is: chuid)
        #expect(chuid.guid.count == 16 && chuid.guid[6] >> 4 == 4 && chuid.guid[8] >> 6 == 2)
        expect(chuid.guidText.count, is: 36)
        expect(chuid.fascn?.description, is: "9999-9999-999999-0-1-0000000000-3-0000-1")
        chuid.others = [TLV(0x36, [UInt8](repeating: 1, count: 16))]
        chuid.expiry = "20991231"
        try await service.putObject(.chuid, chuid.encoded)
        let updated = try await service.updateCHUID()
        #expect(updated.guid != chuid.guid && updated.others == chuid.others && updated.expiry == "20991231")
        chuid.signature = [1, 2, 3]
        try await service.putObject(.chuid, chuid.encoded)
        try await expect(service.updateCHUID(), is: chuid)
        try await service.putObject(.chuid, [0x30, 0x01, 0x00])
        await #expect(throws: PIVError.self) { try await service.chuid() }
        try await expect(service.updateCHUID().expiry, is: "20300101")
        try await service.makeCapability()
        let identifier = try CardCapability.identifier(decoding: try await service.object(.capability))
        #expect(identifier.starts(with: [0xA0, 0x00, 0x00, 0x01, 0x16, 0xFF, 0x02]))
    }

    /// What ykman writes for the same fields.
    @Test func writesNumbersAsOthersDo() throws {
        let fascn = try #require(FASCN(fields: [9999, 9999, 999_999, 0, 1, 0, 3, 0, 1]))
        expect(Hex.encode(fascn.encoded).count, is: 50)
        try expect(FASCN(decoding: fascn.encoded), is: fascn)
        expect(fascn, is: .nonFederal)
        expect(Hex.encode(fascn.encoded), is: ObjectTests.ykman)
        expect(FASCN(fields: [1]), is: nil)
        expect(FASCN(fields: [10000, 0, 0, 0, 0, 0, 0, 0, 0]), is: nil)
        #expect(throws: WireError.self) { try FASCN(decoding: [1, 2, 3]) }
        #expect(throws: WireError.self) { try FASCN(decoding: [UInt8](repeating: 0, count: 25)) }
        var broken = fascn.encoded
        broken[0] ^= 0x18
        #expect(throws: WireError.self) { try FASCN(decoding: broken) }
    }

    @Test(arguments: ["80", "8005810101", "8004810201018000", "80038101018100", "8006830401020304ff", "8103810101"])
    func refusesBrokenNotes(_ hex: String) throws {
        let content = try bytes(hex)
        #expect(throws: WireError.self) { try PIVAdministration(decoding: content) }
    }

    @Test func keepsNotes() throws {
        var notes = PIVAdministration()
        #expect(notes.encoded.isEmpty)
        try expect(PIVAdministration(decoding: []), is: notes)
        notes.flags = [.pukBlocked, .keyStored]
        notes.salt = [1, 2]
        notes.pinChanged = 0x0102_0304
        expect(Hex.encode(notes.encoded), is: "800d81010382020102830401020304")
        try expect(PIVAdministration(decoding: notes.encoded), is: notes)
    }

    @Test func refusesMalformedObjects() throws {
        #expect(throws: WireError.self) { try DiscoveryObject(decoding: [0x4F, 0x00, 0x5F, 0x2F, 0x01, 0x00]) }
        #expect(throws: WireError.self) { try CardCapability.identifier(decoding: [0xF0, 0x01, 0x00]) }
        #expect(throws: WireError.self) { try CHUID(decoding: [0x30, 0x00]) }
    }

    @Test func namesEverything() {
        #expect(PIVSlot("9A") == .authentication && PIVSlot("signature") == .signature)
        #expect(PIVSlot("0x82") == .retired(1) && PIVSlot("retired20") == .retired(20) && PIVSlot("9b") == nil)
        #expect(PIVSlot.attestation.name == "attestation" && PIVSlot(rawValue: 7).name == "07")
        #expect(PIVSlot.main.map(\.name).contains("card-authentication") && PIVSlot.retired(21) == nil)
        expect(PIVSlot.keyManagement.certificateObject, is: .keyManagementCertificate)
        expect(PIVSlot.cardAuthentication.certificateObject?.name, is: "card-authentication-certificate")
        expect(PIVSlot.retired(1)?.certificateObject, is: PIVObjectID("5fc10d"))
        #expect(PIVObjectID("chuid") == .chuid && PIVObjectID("0x7e") == .discovery && PIVObjectID("zz") == nil)
        #expect(PIVObjectID.iris.description == "iris" && PIVObjectID(rawValue: 0x5FC1FF).description == "5fc1ff")
        #expect(PIVAlgorithm("ECC-P256") == .p256 && PIVAlgorithm("rsa4096") == .rsa4096 && PIVAlgorithm("x") == nil)
        expect(PIVAlgorithm(rawValue: 1).description, is: "algorithm 01")
        expect(PIVAlgorithm.known.map(\.description).count, is: 8)
        #expect(PINPolicy("match-once") == .matchOnce && PINPolicy("x") == nil && PINPolicy.once.description == "once")
        #expect(PINPolicy(rawValue: 9).description == "policy 9" && TouchPolicy(rawValue: 9).description == "policy 9")
        #expect(
            TouchPolicy("cached") == .cached && TouchPolicy("x") == nil && TouchPolicy.always.description == "always")
        #expect(KeyOrigin.generated.description == "generated" && KeyOrigin(rawValue: 9).description == "origin 9")
        #expect(ManagementKeyType("3DES") == .tripleDES && ManagementKeyType("aes128") == .aes128)
        #expect(ManagementKeyType("x") == nil && ManagementKeyType(rawValue: 9).description == "algorithm 09")
    }

    private static let ykman = "d4e739da739ced39ce739d836858210842108421c84210c3eb"
}

struct ReportTests {
    @Test func needsFewCommands() async throws {
        let bench = try Bench()
        let (service, _) = try await bench.with(.p256)
        try await service.verify(pin())
        let template = CertificateTemplate(subject: try DistinguishedName("CN=Alice"))
        let certificate = try await service.selfSignedCertificate(.authentication, template, validity: .seconds(86_400))
        try await service.putCertificate(certificate.der, .authentication)
        await service.rest()
        let other = try await bench.open()
        let report = try await other.report()
        await expect(other.statistics.exchanges, is: 23)
        expect(report.defaults, is: [.pin, .puk, .managementKey])
        expect(report.slots.count, is: 1)
        expect(report.slots.first?.metadata?.algorithm, is: .p256)
        try expect(report.slots.first?.certificate?.get(), is: certificate)
        #expect(report.serial == 4711 && report.chuid == nil && report.capability == nil)
        expect(report.identity.version, is: FirmwareVersion(5, 7, 1))
        try await expect(other.report(.all).slots.map(\.slot), is: [.authentication, .attestation])
    }

    /// 15 commands, and two for each retired slot that is looked at.
    @Test func needsTwoCommandsForARetiredSlot() async throws {
        let bench = try Bench()
        let service = try await bench.open()
        _ = try await service.report()
        await expect(service.statistics.exchanges, is: 23)
        await service.rest()
        let manager = try await bench.manage()
        try await manager.setManagementKey(ManagementKey(Secret([UInt8](repeating: 7, count: 24))), type: .aes192)
        _ = try await manager.makeCHUID()
        try await manager.makeCapability()
        await manager.rest()
        let other = try await bench.open()
        let report = try await other.report()
        await expect(other.statistics.exchanges, is: 25)
        #expect(report.capability != nil && !report.administration.isKeyProtected)
    }

    @Test func findsKeysInRetiredSlots() async throws {
        let bench = try Bench()
        let service = try await bench.manage()
        _ = try await service.generateKey(.retired(1)!, .p256)
        _ = try await service.generateKey(.retired(20)!, .p256)
        let report = try await service.report()
        #expect(report.slots.map(\.slot) == [.retired(1)!] && report.tellsKeys && !report.isComplete)
        expect(report.notLookedAt, is: Array(PIVSlot.retired[5...]))
        try await expect(service.report(.all).slots.map(\.slot), is: [.retired(1)!, .retired(20)!, .attestation])
    }

    @Test func findsCertificatesInRetiredSlotsOfOldFirmware() async throws {
        let bench = try Bench(FirmwareVersion(4, 3, 5))
        let service = try await bench.manage()
        _ = try await service.generateKey(.retired(3)!, .p256)
        try await service.verify(pin())
        let template = CertificateTemplate(subject: try DistinguishedName("CN=Alice"))
        let certificate = try await service.selfSignedCertificate(.retired(3)!, template, validity: .seconds(86_400))
        try await service.putCertificate(certificate.der, .retired(3)!)
        let report = try await service.report()
        #expect(report.slots.map(\.slot) == [.retired(3)!] && !report.tellsKeys)
    }

    @Test func reportsOldFirmware() async throws {
        let service = try await Bench(FirmwareVersion(4, 3, 5)).open()
        let report = try await service.report()
        #expect(report.pin?.triesLeft == 3 && report.puk == nil && report.managementKey == nil)
        #expect(report.serial == nil && report.defaults.isEmpty && report.slots.isEmpty)
        await expect(service.statistics.exchanges, is: 13)
    }

    @Test func tellsLinksThatBreakFromObjectsThatAreBroken() async throws {
        let service = try await ScriptedLink.service([0xCB: [0x53, 0x05, 0x90, 0x00], 0xF7: [0x6A, 0x88]])
        let report = try await service.report()
        #expect(report.slots.count == 24 && report.chuid == nil && report.problems[.chuid] != nil)
        let link = ScriptedLink { command throws(LinkError) in
            if command[1] == 0xCB { throw LinkError.removed }
            return command[1] == 0xFD ? [5, 7, 1, 0x90, 0] : command[1] == 0xA4 ? [0x90, 0] : [0x6A, 0x88]
        }
        let gone = try await PIVService.open(CardChannel(link: link, environment: .still))
        await #expect(throws: PIVError.card(.link(.removed))) { try await gone.report() }
    }
}
