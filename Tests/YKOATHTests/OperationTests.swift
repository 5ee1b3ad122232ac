// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTransport
import YKVirtualKey
import YKWire

/// Every operation against the virtual key, with what a person can get wrong.
struct OperationTests {
    @Test func writesListsRenamesAndDeletes() async throws {
        let service = try await Virtual.open(try Virtual.empty())
        let new = Virtual.account("alice", issuer: "Acme", period: 60, algorithm: .sha256, digits: 8)
        try await service.put(new)
        let listed = try await service.accounts()
        #expect(listed == [OATHAccount(id: new.id, algorithm: .sha256)])
        #expect(listed[0].id.period == .seconds(60))
        let other = OATHAccountID(issuer: "Acme", name: "bob")
        try await service.rename(new.id, to: other)
        #expect(try await service.accounts().map(\.id) == [other])
        try await service.delete(other)
        #expect(try await service.accounts().isEmpty)
        await #expect(throws: OATHError.noSuchAccount) { try await service.delete(other) }
        await #expect(throws: OATHError.noSuchAccount) { try await service.code(for: other) }
        await #expect(throws: OATHError.noSuchAccount) { try await service.rename(other, to: new.id) }
    }

    @Test func asksOncePerOddPeriod() async throws {
        let service = try await Virtual.open(try Virtual.empty(), at: 100)
        for period in [30, 60, 30, 15] {
            try await service.put(
                Virtual.account("every \(period) \(await service.statistics.exchanges)", period: period))
        }
        let before = await service.statistics.exchanges
        let codes = try await service.codes().compactMap(\.code)
        #expect(await service.statistics.exchanges - before == 3)
        #expect(codes.map(\.validFrom) == [90, 60, 90, 90])
        #expect(codes.map(\.validTo) == [120, 120, 120, 105])
    }

    @Test func neverAdvancesACounterAndNeverAsksForATouch() async throws {
        let touches = Touches()
        let key = try Virtual.empty(inputs: VirtualInputs(touch: { _ in touches.next() }))
        let service = try await Virtual.open(key)
        let touch = Virtual.account("careful", needsTouch: true)
        try await service.put(touch)
        try await service.put(Virtual.account("counter", type: .hotp))
        #expect(try await service.codes().map(\.outcome) == [.needsTouch, .hotp])
        #expect(touches.count == 0)
        #expect(try await service.code(for: touch.id).text == "287082")
        #expect(touches.count == 1)
    }

    @Test func saysThatNobodyTouched() async throws {
        let service = try await Virtual.open(try Virtual.empty(inputs: VirtualInputs(touch: { _ in .notTouched })))
        let touch = Virtual.account("careful", needsTouch: true)
        try await service.put(touch)
        await #expect(throws: OATHError.touchTimeout) { try await service.code(for: touch.id) }
    }

    @Test func refusesWhatCannotBeWrittenBeforeSendingIt() async throws {
        let service = try await Virtual.open(try Virtual.empty())
        let before = await service.statistics.exchanges
        await #expect(throws: OATHError.nameTooLong(bytes: 65)) {
            try await service.put(Virtual.account(String(repeating: "n", count: 65)))
        }
        await #expect(throws: OATHError.nameTooLong(bytes: 67)) {
            try await service.rename(
                OATHAccountID(issuer: nil, name: "a"), to: Virtual.account("\(Self.long)", period: 60).id)
        }
        await #expect(throws: OATHError.emptyName) { try await service.put(Virtual.account("")) }
        await #expect(throws: OATHError.emptySecret) { try await service.put(Virtual.account("a", secret: "")) }
        for digits in [-1, 0, 5, 9, 300] {
            await #expect(throws: OATHError.unsupportedDigits(digits)) {
                try await service.put(Virtual.account("a", digits: digits))
            }
        }
        let md5 = OATHAlgorithm(rawValue: 4)
        await #expect(throws: OATHError.unsupportedKind(.totp, md5)) {
            try await service.put(Virtual.account("a", algorithm: md5))
        }
        #expect(await service.statistics.exchanges == before)
        try await service.put(Virtual.account(Self.long))
    }

    private static let long = String(repeating: "n", count: 64)

    @Test func saysThatTheKeyIsFull() async throws {
        let service = try await Virtual.open(try Virtual.empty(FirmwareVersion(5, 4, 3)))
        for number in 0..<32 { try await service.put(Virtual.account("account \(number)")) }
        await #expect(throws: OATHError.full) { try await service.put(Virtual.account("one more")) }
        #expect(try await service.accounts().count == 32)
    }

    @Test func findsNamesInTheWay() async throws {
        let service = try await Virtual.open(try Virtual.empty(FirmwareVersion(4, 3, 4)))
        try await service.put(Virtual.account("alice@example.com", issuer: "Acme"))
        try await service.put(Virtual.account("bob", issuer: "Acme"))
        let none = try await service.conflicts(with: OATHAccountID(issuer: "Acme", name: "carol"))
        #expect(none.isEmpty && !none.isHarmful)
        let same = try await service.conflicts(with: OATHAccountID(issuer: "Acme", name: "bob"))
        #expect(same.duplicate?.id.name == "bob" && !same.isEmpty && !same.isHarmful)
        let prefix = try await service.conflicts(with: OATHAccountID(issuer: "Acme", name: "alice"))
        #expect(prefix.duplicate == nil && prefix.extending.map(\.id.name) == ["alice@example.com"])
        #expect(prefix.isHarmful)
    }

    @Test func aNewerKeyIsNotHarmedByPrefixes() async throws {
        let service = try await Virtual.open(try Virtual.empty(FirmwareVersion(5, 2, 4)))
        try await service.put(Virtual.account("alice@example.com"))
        let prefix = try await service.conflicts(with: OATHAccountID(issuer: nil, name: "alice"))
        #expect(!prefix.isEmpty && !prefix.isHarmful)
    }

    @Test func resetsToANewIdentity() async throws {
        let state = VirtualKeyState.demonstration()
        let service = try await Virtual.open(VirtualKey(state))
        let before = await service.info
        #expect(try await !service.accounts().isEmpty)
        try await service.setAccessKey(try await Virtual.password("hunter2", service))
        try await service.reset()
        let after = await service.info
        #expect(after.salt != before.salt && after.deviceID != before.deviceID)
        #expect(!after.hasPassword && !after.isLocked)
        #expect(try await service.accounts().isEmpty)
    }

    @Test func restsBetweenOperations() async throws {
        let key = VirtualKey(.demonstration())
        let first = try await Virtual.open(key)
        await first.rest()
        let second = try await Virtual.open(key)
        await second.rest()
        #expect(try await first.accounts().count == 7)
        await first.rest()
        #expect(try await second.accounts().count == 7)
        await second.rest()
        #expect(try await first.accounts().count == 7)
    }
}
