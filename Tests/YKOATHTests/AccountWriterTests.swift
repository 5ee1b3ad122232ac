// SPDX-License-Identifier: Apache-2.0

import Testing
import YKOATH
import YKTestSupport
import YKTransport
import YKVirtualKey

struct AccountWriterTests {
    private struct Stopped: Error {}

    @Test func writesOnce() async throws {
        let service = try await Virtual.open(Virtual.empty())
        let writer = AccountWriter(service: service)
        let account = Virtual.account("alice", issuer: "example")
        var isPrepared = false
        try await writer.write(account, force: false) { isPrepared = true }
        let ids = try await service.accounts().map(\.id)
        #expect(isPrepared && ids == [account.id])
        // What the writer wrote itself is not overwritten, whatever is forced.
        for force in [false, true] {
            await #expect(throws: OATHError.writtenBefore(account.id)) {
                try await writer.write(account, force: force)
            }
        }
        let another = AccountWriter(service: service)
        await #expect(throws: OATHError.exists(account.id)) { try await another.write(account, force: false) }
        try await another.write(account, force: true)
        try await expect(service.accounts().count, is: 1)
    }

    @Test func preparesBeforeTheKeyChanges() async throws {
        let service = try await Virtual.open(Virtual.empty())
        let writer = AccountWriter(service: service)
        await #expect(throws: Stopped.self) {
            try await writer.write(Virtual.account("alice"), force: false) { throw Stopped() }
        }
        #expect(try await service.accounts().isEmpty)
        try await writer.write(Virtual.account("alice"), force: false)
        var isPrepared = false
        await #expect(throws: OATHError.self) {
            try await AccountWriter(service: service).write(Virtual.account("alice"), force: false) {
                isPrepared = true
            }
        }
        #expect(!isPrepared)
    }

    @Test("Only firmware that would damage the longer name refuses its beginning")
    func refusesBeginnings() async throws {
        let current = try await Virtual.open(Virtual.empty(FirmwareVersion(5, 7, 1)))
        try await AccountWriter(service: current).write(Virtual.account("alice2"), force: false)
        try await AccountWriter(service: current).write(Virtual.account("alice"), force: false)
        try await expect(current.accounts().count, is: 2)
        let service = try await Virtual.open(Virtual.empty(FirmwareVersion(4, 2, 0)))
        try await AccountWriter(service: service).write(Virtual.account("alice2"), force: false)
        let short = Virtual.account("alice")
        await #expect(
            throws: OATHError.nameCollides(short.id, with: Virtual.account("alice2").id)
        ) { try await AccountWriter(service: service).check(short, force: false) }
        try await AccountWriter(service: service).check(short, force: true)
    }

    @Test func readsBackTouch() async throws {
        let service = try await Virtual.open(Virtual.empty())
        let writer = AccountWriter(service: service)
        var account = Virtual.account("alice", needsTouch: true)
        try await writer.write(account, force: false)
        // An account that does not require a touch although it should.
        account = Virtual.account("bob")
        try await writer.write(account, force: false)
        let wanted = Virtual.account("bob", needsTouch: true)
        await #expect(throws: OATHError.touchNotApplied(wanted.id)) { try await writer.checkTouch(wanted) }
        try await writer.checkTouch(Virtual.account("bob", type: .hotp, needsTouch: true))
        try await writer.checkTouch(Virtual.account("nobody", needsTouch: true))
    }
}
