// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKPrivacyIDEA
import YKTestSupport
import YKTransport
import YKWire

@Suite struct EndpointTests {
    private func client(_ answers: HTTPResponse...) throws -> (PrivacyIDEA, ScriptedServer) {
        let http = ScriptedServer(answers)
        return (PrivacyIDEA(try HTTPURL("https://localhost:8443"), http, CountingRandom()), http)
    }

    private func value(_ value: JSONValue, detail: JSONValue = .null) -> HTTPResponse {
        let body: JSONValue = ["result": ["status": true, "value": value], "detail": detail]
        return HTTPResponse(
            status: 200, fields: [HTTPField("Content-Type", "application/json")], body: Array(body.text.utf8))
    }

    @Test func logsIn() async throws {
        let flow = try Exchange("01-auth")
        var (client, http) = try client(try flow.answer("right password"), try flow.answer("user logs in"), value([:]))
        let admin = try await client.logIn("admin", password: Secret(utf8: "adminpw"))
        #expect(
            admin.account.role == "admin" && admin.account.name == "admin" && admin.account.realm == ""
                && admin.expiry == 1_795_323_519)
        expect(admin.token.description, is: "‹secret›")
        let user = try await client.logIn("alice", password: Secret(utf8: "secret"))
        #expect(user.account.actsOnlyForItself && user.account.realm == "test")
        await expect(http.requests[0].body, is: Array("{\"username\":\"admin\",\"password\":\"adminpw\"}".utf8))
        await #expect(throws: ServerError.malformed("the login has no token")) {
            _ = try await client.logIn("x", password: Secret(utf8: "x"))
        }
        for text in ["", "a.b", "a.!.c", "a.e30.c", "a.eyJleHAiOjFlNDAwfQ.c", "a.eyJleHAiOiJ4In0.c"] {
            expect(ServerSession.expiry(text), is: nil)
        }
        expect(ServerSession.expiry("a.eyJleHAiOjEyLjV9.c"), is: 12)
    }

    @Test func readsPasskeyChallenges() async throws {
        let flow = try Exchange("21-passkey")
        let (client, _) = try client(try flow.answer("start, nobody named"), value(false, detail: ["passkey": [:]]))
        let challenge = try await client.startPasskey()
        expect(challenge.challenge, is: Array("9cb2K8d_Syx0wZ5GpbisVJKDLaZJpuYFNt_OODDzFmY".utf8))
        #expect(challenge.rpID == "localhost" && challenge.userVerification == "preferred")
        expect(challenge.transactionID, is: "13147347361890109785")
        await #expect(throws: ServerError.malformed("the passkey challenge is incomplete")) {
            _ = try await client.startPasskey()
        }
    }

    @Test func checksAndTriggers() async throws {
        let flow = try Exchange("15-sms")
        let poll = try Exchange("03-push-approve")
        let (client, http) = try client(
            try flow.answer("by an administrator"), try flow.answer("right"),
            try #require(poll.steps.first { $0.path.hasPrefix("/validate/polltransaction") }).response,
            value(["capabilities": ["remember_device": true]]), value([:]))
        let answer = try await client.triggerChallenge("alice", realm: "test")
        let challenge = try #require(answer.challenges.first)
        #expect(challenge.serial == "PISM00008763" && challenge.type == .sms && challenge.clientMode == "interactive")
        #expect(challenge.expiry == 1_795_320_896 && challenge.message == "Enter the OTP from the SMS:")
        let checked = try await client.check(
            "alice", realm: "test", Secret(utf8: "1 2"), transaction: "7", remembers: true)
        #expect(checked.authentication == .accept && checked.deviceCookie == nil)
        let body = "user=alice&realm=test&pass=1%202&transaction_id=7&request_persistent_cookie=1"
        await expect(http.requests[1].body, is: Array(body.utf8))
        #expect(await http.requests[1].secrets.request != .all)
        #expect([ChallengeStatus.pending, .accepted].contains(try await client.pollTransaction("7")))
        #expect(try await client.remembersDevices())
        #expect(try await !client.remembersDevices())
    }

    @Test func readsTokens() async throws {
        let flow = try Exchange("24-user-admin")
        let row: JSONValue = [
            "serial": "S", "tokentype": "push", "active": true, "revoked": true, "locked": true, "failcount": 10,
            "maxfail": 10, "container_serial": "SMPH1", "username": "alice", "rollout_state": "",
        ]
        let (client, _) = try client(
            try flow.answer("SMS"), value(["tokens": [row]]), value(["tokens": [["serial": "S"]]]), value([:]))
        let sms = try #require(try await client.tokens(user: "carol", realm: "test").first)
        #expect(sms.kind == .sms && sms.isActive && sms.isUsable && !sms.isBlocked && sms.enrolment == .enrolled)
        let push = try #require(try await client.tokens(serial: "S").first)
        #expect(push.isWithdrawn && !push.isUsable && push.isBlocked && push.container == "SMPH1")
        #expect(push.enrolment == nil && push.description == "")
        await #expect(throws: ServerError.malformed("a token cannot be read")) { _ = try await client.tokens() }
        await #expect(throws: ServerError.malformed("the list of tokens is missing")) {
            _ = try await client.tokens()
        }
    }

    @Test func changesTokens() async throws {
        let flow = try Exchange("12-totp")
        let resync = try #require(flow.steps.first { $0.path == "/token/resync" }).response
        let (client, http) = try client(value(1), value(2), value(1), resync, value(1), value(1), value([:]))
        try await expect(client.enable(.serial("A/B")), is: 1)
        try await expect(client.disable(.user("alice", realm: "test")), is: 2)
        try await expect(client.resetFailCounter(.serial("S")), is: 1)
        #expect(try await client.resyncToken("S", "111111", "222222"))
        try await client.setToken("S", ["max_failcount": 3])
        try await client.delete("S")
        try await expect(client.initToken(.webAuthn, ["user": "alice"]).value, is: [:])
        let sent = await http.requests
        expect(
            sent.map(\.url.target),
            is: [
                "/token/enable/A%2FB", "/token/disable", "/token/reset/S", "/token/resync", "/token/set", "/token/S",
                "/token/init",
            ])
        expect(sent[6].body, is: Array("{\"user\":\"alice\",\"type\":\"webauthn\"}".utf8))
    }

    @Test func readsUsers() async throws {
        let flow = try Exchange("24-user-admin")
        let (client, http) = try client(
            try flow.answer("telephone number"), value([["username": "caroline"]]), value([[:]]), value(1),
            value(true),
            value([
                "a": ["default": false, "resolver": [["name": "x"]]],
                "b": ["default": true, "resolver": [["name": "y"]]],
            ]),
            value([:]))
        let carol = try #require(try await client.user("carol", realm: "test"))
        #expect(carol.mobile == "+41791112233" && carol.realm == "test")
        try await expect(client.user("carol"), is: nil)
        try await expect(client.user("c*"), is: nil)
        await #expect(throws: ServerError.malformed("a user cannot be read")) {
            _ = try await client.user("carol")
        }
        try await client.add(NewUser("dora"), store: "people")
        try await client.deleteUser("do ra", store: "people")
        try await expect(client.userStores(), is: ["y"])
        try await expect(client.userStores(realm: "a"), is: [])
        let sent = await http.requests
        expect(sent[3].body, is: Array("{\"user\":\"dora\",\"resolver\":\"people\"}".utf8))
        #expect(sent[4].url.target == "/user/people/do%20ra" && sent[4].method == .delete)
    }

    @Test func readsHistory() async throws {
        let flow = try Exchange("25-history")
        let trusted = try Exchange("32-trusted-user")
        let log = try #require(flow.steps.first { $0.path == "/authenticationlog/" }).response
        let (client, _) = try client(
            try #require(flow.steps.first { $0.path == "/audit/" }).response, log,
            try trusted.answer("open challenges"),
            value([:]), value([:]), value([:]), value(["auditdata": [[:]]]), value(["auth_logs": [[:]]]),
            value(["challenges": [[:]]]))
        let audit = try await client.audit(user: "alice", count: 1)
        #expect(
            audit.count == 1 && audit[0].number == 135 && audit[0].action == "GET /user/"
                && audit[0].client == "127.0.0.1")
        let entries = try await client.authenticationLog(user: "alice")
        #expect(
            entries.first?.event == "LOGIN_SUCCESS" && entries.first?.address == "127.0.0.1"
                && entries[0].user == "alice")
        let open = try #require(try await client.openChallenges(of: "TOTP00005ED9").first)
        #expect(open.transactionID == "03737093658201860980" && open.expiry == 1_795_321_549 && !open.isAnswered)
        for _ in 0..<2 {
            await #expect(throws: ServerError.self) { _ = try await client.audit() }
            await #expect(throws: ServerError.self) { _ = try await client.authenticationLog(user: "a") }
            await #expect(throws: ServerError.self) { _ = try await client.openChallenges(of: "S") }
        }
    }

    @Test func readsClientsAndPolicies() async throws {
        let flow = try Exchange("32-trusted-user")
        let devices = try #require(flow.steps.first { $0.path.hasSuffix("remembered_devices") }).response
        let (client, _) = try client(
            devices, value(["devices": [[:]]]), value([:]), value([[:]]), value([:]),
            value(["id": "1", "key_id": "2"]), value([["name": "p", "scope": "user", "active": true, "user": ["a"]]]),
            value([[:]]), value([:]))
        let device = try #require(try await client.rememberedDevices(of: "1").first)
        #expect(device.id == "QlTS-NdJkssOksjUsR7qOQ" && device.user == "alice" && device.lastUsed == nil)
        #expect(
            device.expiry == 1_797_913_429 && device.realm == "test" && device.address == "127.0.0.1"
                && device.created != nil)
        for _ in 0..<2 { await #expect(throws: ServerError.self) { _ = try await client.rememberedDevices(of: "1") } }
        for _ in 0..<2 { await #expect(throws: ServerError.self) { _ = try await client.clients() } }
        await #expect(throws: ServerError.malformed("the answer has no API key")) {
            _ = try await client.addClient("x")
        }
        let policies = try await client.policies()
        #expect(policies.map(\.name) == ["p"] && policies[0].users == ["a"] && policies[0].scope == "user")
        for _ in 0..<2 { await #expect(throws: ServerError.self) { _ = try await client.policies() } }
    }

    @Test func readsTimes() async throws {
        func expiry(_ text: String) async throws -> Int64? {
            let (client, _) = try client(
                value(["challenges": [["serial": "S", "transaction_id": "1", "expiration": .string(text)]]]))
            return try await client.openChallenges(of: "S").first?.expiry
        }
        try await expect(expiry("2026-11-22 04:14:55.228658"), is: 1_795_320_895)
        try await expect(expiry("2026-11-22T04:14:55+00:00"), is: 1_795_320_895)
        try await expect(expiry("2026-11-22T04:14:55Z"), is: 1_795_320_895)
        try await expect(expiry("Sun, 22 Nov 2026 04:14:55 GMT"), is: 1_795_320_895)
        for text in [
            "", "2026-11-22", "2026-11-22T04:14:55+01:00", "2026-13-22T04:14:55", "2026-11-22T24:14:55",
            "2026-11-22Tab:14:55",
        ] {
            try await expect(expiry(text), is: nil)
        }
    }
}
