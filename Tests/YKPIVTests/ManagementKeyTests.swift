// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

struct ManagementKeyTests {
    @Test func findsTheTypeOfEachFirmware() async throws {
        let usual: [(FirmwareVersion, ManagementKeyType)] = [
            (FirmwareVersion(4, 3, 5), .tripleDES), (FirmwareVersion(5, 2, 4), .tripleDES),
            (FirmwareVersion(5, 4, 3), .tripleDES),
            (FirmwareVersion(5, 7, 1), .aes192),
        ]
        for (version, type) in usual {
            let service = try await Bench(version).open()
            try await expect(service.findManagementKeyType(), is: type)
            try await service.authenticate(with: .defaultKey())
            try await service.makeCapability()
        }
    }

    @Test(arguments: [ManagementKeyType.tripleDES, .aes128, .aes192, .aes256])
    func changesToEachType(_ type: ManagementKeyType) async throws {
        let bench = try Bench()
        let service = try await bench.manage()
        let key = try await service.randomManagementKey(type)
        try await service.setManagementKey(ManagementKey(key.value.copy()), type: type)
        try await expect(service.managementKeyMetadata()?.isDefault, is: false)
        await service.rest()
        let again = try await bench.open()
        await #expect(throws: PIVError.self) { try await again.authenticate(with: .defaultKey()) }
        try await again.authenticate(with: ManagementKey(key.value.copy()))
        try await expect(again.findManagementKeyType(), is: type)
    }

    @Test func probesTypesWhereThereAreNoMetadata() async throws {
        let log = ScriptedLink.Log()
        let witness: [UInt8] = [0x7C, 0x12, 0x80, 0x10] + [UInt8](repeating: 1, count: 16) + [0x90, 0x00]
        let link = ScriptedLink(atr: ScriptedLink.unknown, log: log) { command in
            switch (command[1], command[2]) {
            case (0xA4, _): [0x90, 0x00]
            case (0x87, 0x08): witness
            case (0x87, _): [0x6A, 0x86]
            default: [0x6D, 0x00]
            }
        }
        let service = try await PIVService.open(CardChannel(link: link, environment: .still))
        try await expect(service.findManagementKeyType(), is: .aes128)
        expect(log.commands.filter { $0[1] == 0x87 }.map { $0[2] }, is: [0x03, 0x0A, 0x08])
        await #expect(throws: PIVError.managementKeyLength(24, needs: .aes128)) {
            try await service.authenticate(with: .defaultKey())
        }
        let none = try await ScriptedLink.service(atr: ScriptedLink.unknown, otherwise: [0x6D, 0x00], [:])
        await #expect(throws: PIVError.unknownManagementKeyType(nil)) { try await none.findManagementKeyType() }
        let strange = try await ScriptedLink.service([0xF7: [0x01, 0x01, 0x55, 0x90, 0x00]])
        await #expect(throws: PIVError.unknownManagementKeyType(ManagementKeyType(rawValue: 0x55))) {
            try await strange.authenticate(with: .defaultKey())
        }
    }

    @Test func tellsWrongKeysFromCardsThatLie() async throws {
        let bench = try Bench()
        let service = try await bench.open()
        await #expect(throws: PIVError.wrongManagementKey) {
            try await service.authenticate(with: ManagementKey(Secret([UInt8](repeating: 1, count: 24))))
        }
        await #expect(throws: PIVError.managementKeyLength(16, needs: .aes192)) {
            try await service.authenticate(with: ManagementKey(Secret([UInt8](repeating: 1, count: 16))))
        }
        await #expect(throws: PIVError.managementKeyRequired) { try await service.makeCapability() }
        let block = [UInt8](repeating: 1, count: 16)
        let witness: [UInt8] = [0x7C, 0x12, 0x80, 0x10] + block + [0x90, 0x00]
        let wrong: [UInt8] = [0x7C, 0x12, 0x82, 0x10] + block + [0x90, 0x00]
        let replies: [[UInt8]] = [wrong, [0x7C, 0x00, 0x90, 0x00]]
        for reply in replies {
            let liar = ScriptedLink { command in
                switch command[1] {
                case 0xFD: [5, 7, 1, 0x90, 0x00]
                case 0xF7: [0x01, 0x01, 0x0A, 0x90, 0x00]
                case 0x87: command.count < 16 ? witness : reply
                default: [0x90, 0x00]
                }
            }
            let service = try await PIVService.open(CardChannel(link: liar, environment: .still))
            await #expect(throws: PIVError.notAuthentic) { try await service.authenticate(with: .defaultKey()) }
        }
    }

    @Test func keepsAKeyBehindThePIN() async throws {
        let bench = try Bench()
        let service = try await bench.manage()
        await #expect(throws: PIVError.notProtected) { try await service.authenticate(withProtectedKeyOf: pin()) }
        let key = try await service.randomManagementKey(.aes256)
        await #expect(throws: PIVError.pinRequired) {
            try await service.setManagementKey(ManagementKey(key.value.copy()), type: .aes256, protected: true)
        }
        try await service.verify(pin())
        try await service.setManagementKey(ManagementKey(key.value.copy()), type: .aes256, protected: true)
        try await expect(service.administration().flags, is: .keyStored)

        await service.rest()
        let other = try await bench.open()
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 2)) {
            try await other.authenticate(withProtectedKeyOf: pin("000000"))
        }
        try await other.authenticate(withProtectedKeyOf: pin())
        try await other.setManagementKey(.defaultKey(), type: .tripleDES)
        try await expect(other.administration().isKeyProtected, is: false)
        await #expect(throws: PIVError.noSuchObject(.printed)) { try await other.object(.printed) }
    }

    @Test func keepsAPrintedObjectOfSomebodyElse() async throws {
        let service = try await Bench().manage()
        try await service.verify(pin())
        try await service.putObject(.printed, [0x01, 0x05] + Array("Alice".utf8))
        let key = try await service.randomManagementKey(.aes192)
        #expect(try await service.hasForeignPrintedObject())
        await #expect(throws: PIVError.printedInUse) {
            try await service.setManagementKey(ManagementKey(key.value.copy()), type: .aes192, protected: true)
        }
        try await expect(service.object(.printed).count, is: 7)
        try await expect(service.managementKeyMetadata()?.isDefault, is: true)
        try await service.setManagementKey(
            ManagementKey(key.value.copy()), type: .aes192, protected: true, replacesPrinted: true)
        try await expect(service.hasForeignPrintedObject(), is: false)
    }

    @Test("a card that accepts the notes and does not keep them has its old key afterwards")
    func noticesObjectsThatAreNotKept() async throws {
        let bench = try Bench()
        let link = ForgetfulLink(bench.key.link(), object: [0x5F, 0xFF, 0x00])
        let service = try await PIVService.open(CardChannel(link: link, environment: .still))
        try await service.authenticate(with: .defaultKey())
        try await service.verify(pin())
        let key = try await service.randomManagementKey(.aes192)
        await #expect(throws: PIVError.notStored(.administration)) {
            try await service.setManagementKey(ManagementKey(key.value.copy()), type: .aes192, protected: true)
        }
        try await expect(service.managementKeyMetadata()?.isDefault, is: true)
        await #expect(throws: PIVError.noSuchObject(.printed)) { try await service.object(.printed) }
    }

    @Test func readsAKeyDerivedFromThePIN() async throws {
        let bench = try Bench(FirmwareVersion(5, 4, 3))
        let service = try await bench.manage()
        let salt: [UInt8] = Array(0..<16)
        var notes = PIVAdministration()
        notes.salt = salt
        notes.pinChanged = 1_700_000_000
        try await service.putObject(.administration, notes.encoded)
        let derived = try ManagementKey(pin: pin(), salt: salt)
        expect(Hex.encode(derived.copyBytes()).count, is: 48)
        try await service.setManagementKey(derived.copy(), type: .tripleDES)
        try await service.putObject(.administration, notes.encoded)
        await service.rest()
        let other = try await bench.open()
        try await other.authenticate(withProtectedKeyOf: pin())
        try await expect(other.administration(), is: notes)
    }

    @Test func derivesTheKeyAnewWhenThePINChanges() async throws {
        let bench = try Bench(FirmwareVersion(5, 4, 3))
        let service = try await bench.manage()
        var notes = PIVAdministration()
        notes.salt = Array(0..<16)
        let derived = try ManagementKey(pin: pin(), salt: Array(0..<16))
        try await service.setManagementKey(derived.copy(), type: .tripleDES)
        try await service.putObject(.administration, notes.encoded)
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 2)) {
            try await service.changePIN(from: pin("000000"), to: pin("654321"))
        }
        try await service.changePIN(from: pin(), to: pin("654321"))
        await service.rest()
        let other = try await bench.open()
        #expect(try await other.administration().salt != notes.salt)
        try await other.authenticate(withProtectedKeyOf: pin("654321"))
        await #expect(throws: PIVError.wrongManagementKey) { try await other.authenticate(with: derived.copy()) }
        await #expect(throws: PIVError.managementKeyRequired) { try await other.putObject(.chuid, [1]) }
        try await other.authenticate(withProtectedKeyOf: pin("654321"))
        try await other.setManagementKey(.defaultKey(), type: .tripleDES)
        try await other.putObject(.administration, notes.encoded)
        try await other.changePIN(from: pin("654321"), to: pin())
        try await expect(other.administration(), is: notes)
        try await other.authenticate(with: .defaultKey())
    }

    @Test func asksForATouch() async throws {
        let bench = try Bench()
        let service = try await bench.manage()
        try await service.setManagementKey(.defaultKey(), type: .aes192, needsTouch: true)
        try await expect(service.managementKeyMetadata()?.touch, is: .always)
        await service.rest()
        try await bench.open().authenticate(with: .defaultKey())
        expect(bench.finger.asked, is: ["PIV management key"])
    }

    @Test func refusesAESOnOldFirmware() async throws {
        let service = try await Bench(FirmwareVersion(5, 2, 4)).manage()
        let needs = PIVError.unsupported(
            .aesManagementKey, needs: FirmwareVersion(5, 4, 0), has: FirmwareVersion(5, 2, 4))
        await #expect(throws: needs) {
            try await service.setManagementKey(ManagementKey(Secret([UInt8](0..<16))), type: .aes128)
        }
        await #expect(throws: PIVError.managementKeyLength(16, needs: .aes256)) {
            try await service.setManagementKey(ManagementKey(Secret([UInt8](0..<16))), type: .aes256)
        }
        await #expect(throws: PIVError.unknownManagementKeyType(ManagementKeyType(rawValue: 1))) {
            try await service.randomManagementKey(ManagementKeyType(rawValue: 1))
        }
    }
}

/// A card that says yes to PUT DATA of one object and does nothing.
private final class ForgetfulLink: ForwardingCardLink {
    let link: any CardLink
    private let object: [UInt8]

    init(_ link: sending any CardLink, object: [UInt8]) { (self.link, self.object) = (link, object) }
    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        let isPut =
            command[1] == 0xDB && command.indices.contains { command[$0...].starts(with: [0x5C, 0x03] + object) }
        return isPut ? [0x90, 0x00] : try link.exchange(command, deadline: deadline)
    }
}
