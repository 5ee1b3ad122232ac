// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport

struct ReplayTests {
    @Test(arguments: ["canokey-short", "canokey-extended"])
    func listsTheAccounts(_ name: String) async throws {
        let service = try await Recordings.open(name)
        let accounts = try await service.accounts()
        expect(accounts.count, is: 10)
        expect(accounts[0].id.issuer, is: "Issuer0")
        expect(accounts[0].id.name, is: "user0@example.com")
        expect(accounts[0].algorithm, is: .sha1)
        expect(accounts[3].id.period, is: .seconds(60))
        expect(accounts[8].type, is: .hotp)
    }

    @Test func makesTheRecordedCodes() async throws {
        let service = try await Recordings.open("canokey-short")
        let entries = try await service.codes()
        expect(entries.count, is: 10)
        expect(entries[0].code?.text, is: "813954")
        expect(entries[8].outcome, is: .hotp)
        expect(entries[9].outcome, is: .needsTouch)
        guard case .failed(.card(.link(.replay))) = entries[3].outcome else {
            Issue.record("the recording has no code for the period of 60 seconds: \(entries[3].outcome)")
            return
        }
    }

    @Test func recalculatesAnOddPeriod() async throws {
        let service = try await Recordings.open("canokey-touch")
        let entries = try await service.codes()
        let code = try #require(entries[3].code)
        expect(code.text.count, is: 6)
        expect(code.validTo, is: code.validFrom + 60)
        let touched = try await service.code(for: entries[9].account.id)
        expect(touched.text.count, is: 6)
    }

    /// The card does not say that it takes extended lengths, so the reply is asked for in two short parts, though it
    /// was recorded as one.
    @Test func needsNoMoreExchangesThanThereIsToSay() async throws {
        let service = try await Recordings.open("canokey-extended")
        try await expect(service.accounts().count, is: 10)
        await expect(service.statistics.exchanges, is: 3)
    }

    @Test func givesUpOnAKeyThatAnnouncesMoreForEver() async throws {
        let service = try await Recordings.open("canokey-no-le-stall")
        await #expect(throws: OATHError.card(.endlessReply(during: "LIST"))) {
            try await service.accounts()
        }
    }

    @Test func unlocksWithThePassword() async throws {
        let service = try await Recordings.open("canokey-password-list")
        let info = await service.info
        #expect(info.isLocked)
        #expect(info.hasPassword)
        let key = try AccessKey(password: Secret(utf8: "hunter2"), salt: info.salt)
        try await service.unlock(with: key)
        #expect(await !service.info.isLocked)
        try await expect(service.accounts().count, is: 10)
    }

    @Test func setsThePassword() async throws {
        let service = try await Recordings.open("canokey-password-set")
        let key = try AccessKey(password: Secret(utf8: "hunter2"), salt: await service.info.salt)
        try await service.setAccessKey(key)
        #expect(await service.info.hasPassword)
    }
}
