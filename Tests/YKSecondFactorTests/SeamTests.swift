// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKPrivacyIDEA
import YKSecondFactor
import YKTestSupport
import YKTransport

/// The service at a server that shares nothing with privacyIDEA.
@Suite struct SeamTests {
    private let server = MemoryServer("alice")
    private let service: SecondFactor

    init() { service = SecondFactor(server, clock: FixedClock(1_795_000_000)) }

    private func key() async throws -> WebAuthnClient {
        try await Bench().key(at: "https://\(MemoryServer.rpID)")
    }

    @Test func enrolsANumberAndLogsIn() async throws {
        let sent = try await service.sendPIN(registering: "alice", .sms, to: "+41")
        try await expect(service.status(of: "alice").state, is: .disabled)
        await #expect(throws: SecondFactorError.self) {
            try await service.verifyPIN(secret("1"), registering: "alice")
        }
        let factor = try await service.verifyPIN(secret(MemoryServer.pin), registering: "alice")
        #expect(factor.serial == sent.serial && factor.isUsable)
        let challenge = try await service.sendPIN(loggingIn: "alice")
        try await expect(service.pendingPIN(of: "alice"), is: challenge)
        await #expect(throws: SecondFactorError.rejected("wrong")) {
            try await service.verifyPIN(secret("1"), loggingIn: "alice", challenge)
        }
        let cookie = try await service.verifyPIN(
            secret(MemoryServer.pin), loggingIn: "alice", challenge, remembers: true)
        let next = try await service.checkTrust("alice", cookie: #require(cookie).value)
        expect(next.value.copyBytes(), is: Array("c2".utf8))
        await #expect(throws: SecondFactorError.notTrusted(isRevoked: true)) {
            _ = try await service.checkTrust("alice", cookie: secret("older"))
        }
        try await expect(service.disable("alice"), is: 1)
        try await expect(service.enable("alice").changed, is: 1)
    }

    @Test(arguments: [KeyFactor.webAuthn, .passkey]) func registersAndVerifiesAKey(_ factor: KeyFactor) async throws {
        let key = try await key()
        await #expect(throws: SecondFactorError.noVerifiedChannel) {
            _ = try await service.registerKey("alice", key)
        }
        let made = try await service.registerKey("alice", key, as: factor, device: "desk", requiresPIN: false)
        #expect(made.isKey && made.isUsable && made.description == "desk")
        try await expect(service.status(of: "alice").state, is: .fp)
        if factor == .passkey {
            try await expect(service.verifyPasskey(key, of: "alice").serial, is: made.serial)
            await #expect(throws: SecondFactorError.otherUser("alice")) {
                _ = try await service.verifyPasskey(key, of: "bob")
            }
        } else {
            try await expect(service.testLogIn("alice", key: { key }, pin: nil, report: { _ in }).steps.count, is: 2)
        }
        try await expect(service.removeDevice("desk", of: "alice").serial, is: made.serial)
    }

    @Test func administersUsersAndClients() async throws {
        var user = NewUser("bob")
        user.mobile = "+41791234567"
        try await expect(service.addUser(user, .sms).channel, is: .sms)
        try await expect(service.phone(of: "bob")?.number, is: "+41791234567")
        await #expect(throws: SecondFactorError.userExists("bob")) { _ = try await service.addUser(user, .sms) }
        await #expect(throws: SecondFactorError.noSuchUser("carol")) { _ = try await service.status(of: "carol") }
        try await expect(service.setTrust("bob", isAllowed: true), is: ["bob"])
        #expect(try await service.setTrust("bob", isAllowed: false).isEmpty)
        let client = try await service.createAPIKey("shop")
        try await expect(service.client(of: #require(client.apiKey).value).id, is: "shop")
        try await expect(service.rotateAPIKey("shop").keyID, is: "new")
        try await expect(service.removeTrust("bob"), is: 0)
        var other = service
        try await expect(other.logIn("root", password: secret(MemoryServer.pin)).account.name, is: "root")
    }
}
