// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKPrivacyIDEA
import YKSecondFactor
import YKTestSupport
import YKWire

/// An account of role *user*: the server ignores the user that its requests name, and acts on its own tokens.
@Suite struct OrdinaryUserTests {
    /// A token whose claims name the account.
    private func token(_ role: String, _ name: String = "alice", realm: String = "test") -> SharedSecret {
        let claims: JSONValue = ["username": .string(name), "realm": .string(realm), "role": .string(role)]
        return SharedSecret(secret("e30.\(Base64.encodeURL(Array(claims.text.utf8))).c2ln"))
    }

    private func bench(_ role: String = "user") throws -> Bench {
        var bench = try Bench()
        bench.service.server.use(token: token(role))
        return bench
    }

    /// Every call with a user.
    private static let calls: [(name: String, run: @Sendable (SecondFactor, WebAuthnClient) async throws -> Void)] = [
        ("status", { service, _ in _ = try await service.status(of: "bob") }),
        ("enable", { service, _ in _ = try await service.enable("bob") }),
        ("disable", { service, _ in _ = try await service.disable("bob") }),
        ("sendPIN registering", { service, _ in _ = try await service.sendPIN(registering: "bob", .sms, to: "+41") }),
        ("verifyPIN registering", { service, _ in _ = try await service.verifyPIN(secret("1"), registering: "bob") }),
        ("sendPIN loggingIn", { service, _ in _ = try await service.sendPIN(loggingIn: "bob") }),
        ("pendingPIN", { service, _ in _ = try await service.pendingPIN(of: "bob") }),
        (
            "verifyPIN loggingIn",
            { service, _ in
                let challenge = PINChallenge(
                    purpose: .login, serial: "S", channel: .sms, transactionID: "1", expiry: nil)
                _ = try await service.verifyPIN(secret("1"), loggingIn: "bob", challenge)
            }
        ),
        ("registerKey", { service, key in _ = try await service.registerKey("bob", key) }),
        ("verifyKey", { service, key in _ = try await service.verifyKey("bob", key) }),
        ("verifyPasskey", { service, key in _ = try await service.verifyPasskey(key, of: "bob") }),
        ("devices", { service, _ in _ = try await service.devices(of: "bob") }),
        ("removeDevice", { service, _ in _ = try await service.removeDevice("desk", of: "bob") }),
        ("setTrust", { service, _ in _ = try await service.setTrust("bob", isAllowed: true) }),
        ("trustedDevices", { service, _ in _ = try await service.trustedDevices(of: "bob", client: "1") }),
        ("checkTrust", { service, _ in _ = try await service.checkTrust("bob", cookie: secret("c")) }),
        ("removeTrust", { service, _ in _ = try await service.removeTrust("bob") }),
        ("removeTrust device", { service, _ in _ = try await service.removeTrust("bob", device: "1", client: "1") }),
        (
            "addUser",
            { service, _ in
                var user = NewUser("bob")
                user.mobile = "+41"
                _ = try await service.addUser(user, .sms)
            }
        ),
        ("phone", { service, _ in _ = try await service.phone(of: "bob") }),
        (
            "testLogIn",
            { service, key in
                _ = try await service.testLogIn("bob", key: { key }, pin: nil, report: { _ in })
            }
        ),
    ]

    @Test(arguments: calls.indices) func namesNobodyElse(call index: Int) async throws {
        let bench = try bench()
        let key = try await bench.key()
        let error = await bench.error { try await Self.calls[index].run($0, key) }
        expect(error, is: .otherAccount("alice", user: "bob"), "\(Self.calls[index].name)")
        expect(error?.legacyCode, is: 100)
        #expect(await bench.http.requests.isEmpty, "\(Self.calls[index].name)")
    }

    @Test func namesItself() async throws {
        let bench = try bench()
        await bench.http.on("GET /token/", .tokens(YKSecondFactorTests.token("S", "sms")))
        try await expect(bench.service.status(of: "alice").state, is: .sms)
        expect(bench.service.server.account?.actsOnlyForItself, is: true)
    }

    @Test func namesNoOtherRealm() async throws {
        var bench = try bench()
        bench.service.realm = "other"
        await expect(bench.error { _ = try await $0.status(of: "alice") }, is: .otherAccount("alice", user: "alice"))
        bench.service.realm = "TEST"
        await bench.http.on("GET /token/", .tokens())
        try await expect(bench.service.status(of: "alice").state, is: .none)
    }

    @Test func administratorsNameAnybody() async throws {
        let bench = try bench("admin")
        await bench.http.on("GET /token/", .tokens())
        try await expect(bench.service.status(of: "bob").state, is: .none)
    }

    /// The role that the log-in answers counts where the token is not to be read.
    @Test func isKnownAfterALogIn() async throws {
        var bench = try Bench()
        await bench.http.on(
            "POST /auth", .value(["token": "opaque", "role": "user", "username": "alice", "realm": "test"]))
        try await bench.service.logIn("alice", password: secret("x"))
        await expect(bench.error { _ = try await $0.disable("bob") }, is: .otherAccount("alice", user: "bob"))
        await expect(bench.http.asked, is: ["POST /auth"])
    }

    /// A recorded token of the server.
    @Test func isReadFromARecordedToken() async throws {
        var bench = try Bench()
        await bench.http.on("POST /auth", try .recorded("01-auth", "user logs in"))
        let session = try await bench.service.logIn("alice", password: secret("x"))
        bench.service.server.use(token: SharedSecret(session.token.value.copy()))
        #expect(bench.service.server.account == session.account && session.account.role == "user")
    }
}
