// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Short and extended lengths, version gates, and how many exchanges things take.
struct FormTests {
    private static let select: [UInt8] = [0x79, 3, 4, 3, 5, 0x71, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0x00]
    private static let list: [UInt8] = [0x72, 2, 0x21, 0x61, 0x90, 0x00]

    private func open(_ link: sending ScriptedLink) async throws -> OATHService {
        try await OATHService.open(CardChannel(link: link, environment: environment()))
    }

    @Test func aYubiKey4GetsExtendedLengthsFromItsVersion() async throws {
        let log = ScriptedLink.Log()
        let service = try await open(ScriptedLink(log: log) { $0[1] == 0xA4 ? Self.select : Self.list })
        try await expect(service.accounts().count, is: 1)
        expect(log.text, is: ["00a4040007a000000527210100", "00a10000000000"])
    }

    @Test func anUnknownCardAndAShortReaderGetShortLengths() async throws {
        let log = ScriptedLink.Log()
        let unknown = try await open(
            ScriptedLink(atr: ScriptedLink.unknown, log: log) { $0[1] == 0xA4 ? Self.select : Self.list })
        _ = try await unknown.accounts()
        let short = try await open(
            ScriptedLink(maxCommandLength: 261, log: log) { $0[1] == 0xA4 ? Self.select : Self.list })
        _ = try await short.accounts()
        expect(log.text.filter { $0.hasPrefix("00a1") }, is: ["00a1000000", "00a1000000"])
    }

    @Test(arguments: [LinkError.failed(code: 1, "no"), .unresponsive("no"), nil])
    func aRefusedExtendedLengthFallsBackOnce(_ failure: LinkError?) async throws {
        let log = ScriptedLink.Log()
        let service = try await open(
            ScriptedLink(log: log) { command throws(LinkError) in
                if command[1] == 0xA4 { return Self.select }
                if command.count == 5 { return Self.list }
                if let failure { throw failure }
                return [0x67, 0x00]
            })
        try await expect(service.accounts().count, is: 1)
        try await expect(service.accounts().count, is: 1)
        expect(log.text.dropFirst(), is: ["00a10000000000", "00a1000000", "00a1000000"])
    }

    @Test func aRefusalOnceExtendedLengthsWorkedIsAnError() async throws {
        let log = ScriptedLink.Log()
        let service = try await open(
            ScriptedLink(log: log) { command in
                if command[1] == 0xA4 { return Self.select }
                return log.commands.count == 2 ? Self.list : [0x67, 0x00]
            })
        try await expect(service.accounts().count, is: 1)
        await #expect(throws: OATHError.card(.status(.wrongLength, during: "LIST"))) { try await service.accounts() }
        expect(log.commands.count, is: 3)
    }

    @Test func aCommandThatChangesTheKeyIsNotSentTwiceAfterALostReply() async throws {
        let log = ScriptedLink.Log()
        let service = try await open(
            ScriptedLink(log: log) { command throws(LinkError) in
                if command[1] == 0xA4 { return Self.select }
                throw .failed(code: 1, "lost")
            })
        await #expect(throws: OATHError.card(.link(.failed(code: 1, "lost")))) {
            try await service.code(for: OATHAccountID(issuer: nil, name: "counter", type: .hotp))
        }
        expect(log.commands.count, is: 2)
    }

    @Test func aSelectOfExtendedLengthFallsBackToo() async throws {
        let atr = DeviceProfile(serial: 1).atr
        let log = ScriptedLink.Log()
        let service = try await open(
            ScriptedLink(atr: atr, log: log) { command in
                if command.count > 5, command[4] == 0 { return [0x67, 0x00] }
                return command[1] == 0xA4 ? [0x79, 3, 3, 4, 0] + Self.select.dropFirst(5) : Self.list
            })
        try await expect(service.accounts().count, is: 1)
        expect(log.text, is: ["00a40400000007a00000052721010000", "00a4040007a000000527210100", "00a1000000"])
    }

    @Test(arguments: [(10, FirmwareVersion(5, 7, 1)), (64, FirmwareVersion(5, 7, 1)), (32, FirmwareVersion(4, 3, 5))])
    func allAccountsTakeTwoExchanges(_ count: Int, _ version: FirmwareVersion) async throws {
        let key = try Virtual.empty(version)
        let writer = try await Virtual.open(key)
        for number in 0..<count { try await writer.put(Virtual.account("account \(number)", issuer: "Issuer")) }
        await writer.rest()
        let lister = try await Virtual.open(key)
        try await expect(lister.accounts().count, is: count)
        await expect(lister.statistics.exchanges, is: 2)
        await lister.rest()
        let calculator = try await Virtual.open(key)
        try await expect(calculator.codes().compactMap(\.code).count, is: count)
        await expect(calculator.statistics.exchanges, is: 2)
    }

    @Test func oldFirmwareRefusesByVersion() async throws {
        let neo = try await Virtual.open(try Virtual.empty(FirmwareVersion(3, 4, 0)))
        await #expect(
            throws: OATHError.unsupported(.touch, needs: FirmwareVersion(4, 2, 6), has: FirmwareVersion(3, 4, 0))
        ) {
            try await neo.put(Virtual.account("a", needsTouch: true))
        }
        await #expect(
            throws: OATHError.unsupported(.sha512, needs: FirmwareVersion(4, 3, 1), has: FirmwareVersion(3, 4, 0))
        ) {
            try await neo.put(Virtual.account("a", algorithm: .sha512))
        }
        let five = try await Virtual.open(try Virtual.empty(FirmwareVersion(5, 2, 4)))
        let id = OATHAccountID(issuer: nil, name: "a")
        await #expect(
            throws: OATHError.unsupported(.rename, needs: FirmwareVersion(5, 3, 1), has: FirmwareVersion(5, 2, 4))
        ) {
            try await five.rename(id, to: id)
        }
        await expect(five.statistics.exchanges, is: 1)
        await expect(five.info.supports(.touch), is: true)
        await expect(five.info.supports(.rename), is: false)
    }

    @Test func anotherMakersVersionIsNotAYubiKeys() async throws {
        let link = ScriptedLink(atr: ScriptedLink.unknown) { $0[1] == 0xA4 ? Self.select : [0x6D, 0x00] }
        let service = try await open(link)
        await expect(service.info.supports(.rename), is: nil)
        await #expect(throws: OATHError.unsupported(.rename, needs: FirmwareVersion(5, 3, 1), has: nil)) {
            try await service.rename(
                OATHAccountID(issuer: nil, name: "a"), to: OATHAccountID(issuer: nil, name: "b"))
        }
    }
}
