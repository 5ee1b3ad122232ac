// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport
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
        expect(listed, is: [OATHAccount(id: new.id, algorithm: .sha256)])
        expect(listed[0].id.period, is: .seconds(60))
        let other = OATHAccountID(issuer: "Acme", name: "bob")
        try await service.rename(new.id, to: other)
        try await expect(service.accounts().map(\.id), is: [other])
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
        await expect(service.statistics.exchanges - before, is: 3)
        expect(codes.map(\.validFrom), is: [90, 60, 90, 90])
        expect(codes.map(\.validTo), is: [120, 120, 120, 105])
    }

    @Test func neverAdvancesACounterAndNeverAsksForATouch() async throws {
        let touches = Touches()
        let key = try Virtual.empty(inputs: VirtualInputs(touch: { _ in touches.next() }))
        let service = try await Virtual.open(key)
        let touch = Virtual.account("careful", needsTouch: true)
        try await service.put(touch)
        try await service.put(Virtual.account("counter", type: .hotp))
        try await expect(service.codes().map(\.outcome), is: [.needsTouch, .hotp])
        expect(touches.count, is: 0)
        try await expect(service.code(for: touch.id).text, is: "287082")
        expect(touches.count, is: 1)
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
        await expect(service.statistics.exchanges, is: before)
        try await service.put(Virtual.account(Self.long))
    }

    private static let long = String(repeating: "n", count: 64)

    @Test func saysThatTheKeyIsFull() async throws {
        let service = try await Virtual.open(try Virtual.empty(FirmwareVersion(5, 4, 3)))
        for number in 0..<32 { try await service.put(Virtual.account("account \(number)")) }
        await #expect(throws: OATHError.full) { try await service.put(Virtual.account("one more")) }
        try await expect(service.accounts().count, is: 32)
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
        try await expect(first.accounts().count, is: 7)
        await first.rest()
        try await expect(second.accounts().count, is: 7)
        await second.rest()
        try await expect(first.accounts().count, is: 7)
    }
}
