// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKHTTP
import YKPIV
import YKProtocols
import YKStore
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// A keyring of software keys, which can fail.
private final class Keyring: ApprovalKeyring, Sendable {
    struct Content: Sendable {
        var failures: [String: any Error] = [:]
        var proofs = 0
    }

    let key: SoftwareApprovalKey
    let content = Mutex(Content())

    init(_ key: SoftwareApprovalKey) { self.key = key }

    func key(of account: PushAccount) throws -> SoftwareApprovalKey {
        if let failure = content.withLock({ $0.failures[account.account.name] }) { throw failure }
        return key
    }

    func prove(_ proof: UserProof, for open: OpenRequest) { content.withLock { $0.proofs += 1 } }
}

/// A refusal that names the key.
private struct RefusalOfKey: CredentialRefusal {
    let refusedCredential: RefusedCredential?
}

/// A history in memory, which can be full.
private final class Log: ApprovalLog, Sendable {
    struct Full: Error {}

    let events = Mutex<[ApprovalEvent]>([])
    let isFull = Mutex(false)

    func read() -> ApprovalHistory {
        var history = ApprovalHistory(parsing: [])
        for event in events.withLock({ $0 }) { _ = history.append(event) }
        return history
    }

    func append(_ event: ApprovalEvent) throws {
        if isFull.withLock({ $0 }) { throw Full() }
        events.withLock { $0.append(event) }
    }
}

@Suite struct SessionTests {
    private static let now: Int64 = 1_795_319_925
    private let file = StoreFile(
        NSTemporaryDirectory() + "ykit-approve-\(UInt64.random(in: 0 ... .max)).json", service: ApprovalStore.service)
    private let vectors: PushVectors
    private let server: PushServer
    private let keys: Keyring
    private let log = Log()

    init() throws {
        vectors = try PushVectors()
        server = PushServer(vectors)
        keys = Keyring(try SoftwareApprovalKey(der: vectors.device.der.value))
    }

    private func enrol(_ names: String...) async throws {
        let approver = Approver(server, ServiceEnvironment(clock: FixedClock(Self.now)))
        for (index, name) in names.enumerated() {
            let made = try await approver.enroll(PushLink(vectors.link), name: name, keys.key, .software).account
            // A store keeps an account once, so each gets a serial number of its own.
            var account = made.stored
            if index > 0 { account = renamed(account, "\(account.id)-\(index)") }
            try file.update { store throws(StoreError) in store.put(account.record) }
        }
    }

    private func renamed(_ account: ApprovalAccount, _ id: String) -> ApprovalAccount {
        ApprovalAccount(
            account.kind, name: account.name, serial: account.serial, issuer: account.issuer,
            server: account.server + "-" + id, added: account.added, details: account.details)
    }

    private func session(
        at now: Int64 = now, _ report: @escaping (ApprovalNews) -> Void = { _ in }
    ) throws -> ApprovalSession<Keyring> {
        try ApprovalSession(
            AccountStore(file), keys, Approver(server, ServiceEnvironment(clock: FixedClock(now))), log,
            report: report)
    }

    @Test func fetchesAndAnswers() async throws {
        try await enrol("work")
        let challenge = try vectors.challenge()
        server.state.withLock { $0.entries = [challenge] }
        var session = try session()
        try await session.fetch(session.accounts.push)
        let open = try #require(try session.requests(nil).first)
        #expect(open.isPolled && open.seen == Self.now && open.account.account.name == "work")
        try expect(session.requests(String(open.request.nonce.prefix(8)).lowercased()), is: [open])
        #expect(throws: ApprovalError.noRequest("AAAAAAAA")) { _ = try session.requests("aaaaaaaa") }
        #expect(try await session.decline(open, as: "cancelled").isAccepted)
        expect(log.events.withLock { $0.map(\.decision) }, is: ["cancelled"])
        // What was answered is not shown again, and its time is remembered.
        var news: [ApprovalNews] = []
        var next = try self.session(at: Self.now + 10) { news.append($0) }
        try await next.fetch(next.accounts.push)
        #expect(next.open.isEmpty && news.count == 1)
        guard case .answered(let request)? = news.first else {
            Issue.record("\(news)")
            return
        }
        expect(request.nonce, is: open.request.nonce)
        #expect(throws: ApprovalError.alreadyAnswered) { _ = try next.requests(open.request.nonce) }
        try expect(next.accounts.firstSeen([open.request.nonce], at: Self.now + 10), is: [open.request.nonce: Self.now])
    }

    @Test func keepsWhatWasSigned() async throws {
        try await enrol("work")
        let challenge = try vectors.challenge()
        server.state.withLock { state in
            state.entries = [challenge]
            state.accepts = false
        }
        var lost = 0
        var session = try session { if case .notRecorded = $0 { lost += 1 } }
        try await session.fetch(session.accounts.push)
        let open = try #require(session.open.first)
        try await expect(session.approve(open).isAccepted, is: false)
        expect(log.events.withLock { $0.map(\.isAccepted) }, is: [false])
        try await expect(session.cause(ofRefusing: open, hadNumber: true), is: .wrongNumber)
        server.state.withLock { $0.entries = [] }
        try await expect(session.cause(ofRefusing: open, hadNumber: true), is: .closed)
        log.isFull.withLock { $0 = true }
        _ = try await session.decline(open)
        expect(lost, is: 1)
    }

    @Test func goesOnWithoutAnAccountThatCannotBeAsked() async throws {
        try await enrol("work", "home")
        let store = try AccountStore(file)
        expect(store.push.count, is: 2)
        var missing: [String] = []
        var session = try session { if case .notAsked(let account, _) = $0 { missing.append(account.account.name) } }
        keys.content.withLock { $0.failures = ["home": ApprovalError.possession] }
        try await session.fetch(store.push)
        expect(missing, is: ["home"])
        await #expect(throws: ApprovalError.possession) { try await session.fetch(store.push) { _ in true } }
        // A refused PIN is not sent again for another account.
        keys.content.withLock { $0.failures = ["work": PIVError.wrong(.pin, triesLeft: 2)] }
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 2)) { try await session.fetch(store.push) }
        let refused = RefusedCredential(.pivPIN, triesLeft: 2)
        keys.content.withLock { $0.failures = ["work": RefusalOfKey(refusedCredential: refused)] }
        await #expect(throws: RefusalOfKey.self) { try await session.fetch(store.push) }
        keys.content.withLock { $0.failures = ["work": ApprovalError.possession, "home": ApprovalError.noFreeSlot] }
        await #expect(throws: ApprovalError.possession) { try await session.fetch(store.push) }
    }

    @Test func remembersAccountsThatTheServerRefuses() async throws {
        try await enrol("work")
        server.state.withLock { $0.device = nil }
        var session = try session()
        await #expect(throws: ApprovalError.pollRefused) { try await session.fetch(session.accounts.push) }
        let store = try AccountStore(file)
        #expect(store.isGone(store.accounts[0]))
        try store.mark(store.accounts[0], isGone: false, at: Self.now)
        #expect(try !AccountStore(file).isGone(store.accounts[0]))
    }

    @Test func findsAccounts() async throws {
        #expect(throws: ApprovalError.noAccounts) { _ = try AccountStore(file).accounts(matching: nil) }
        try await enrol("work", "home")
        let store = try AccountStore(file)
        try expect(store.accounts(matching: nil).count, is: 2)
        try expect(store.accounts(matching: "home").map(\.name), is: ["home"])
        #expect(throws: ApprovalError.noSuchAccount("x-x")) { _ = try store.accounts(matching: "x-x") }
        #expect(throws: ApprovalError.noSuchAccount(nil)) {
            _ = try store.accounts(matching: nil, of: [.container])
        }
        #expect(throws: ApprovalError.accountExists(store.accounts[0].id)) {
            try store.checkRoom(for: store.accounts[0].id)
        }
        try store.checkRoom(for: "other")
    }

    @Test func takesDeliveredRequests() async throws {
        try await enrol("work")
        let requests = IncomingRequests(RequestWatch(try AccountStore(file).push))
        let challenge = try vectors.challenge()
        #expect(requests.deliver(Array(challenge.text.utf8)) && requests.isWaiting)
        #expect(requests.deliver(Array("junk".utf8)))
        #expect(requests.takeAll().count == 1 && !requests.isWaiting)
        #expect(requests.counts.reported == 1 && requests.counts.unverified == 1)
    }
}
