// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKHTTP
import YKPrivacyIDEA
import YKSecondFactor
import YKTestSupport
import YKTransport
import YKWire

@Suite struct TrustTests {
    private static let id = "ff9c292d-1726-44cb-8182-c74eebb61668"

    @Test func recognizesADeviceAndItsTheft() async throws {
        let bench = try Bench()
        await bench.http.on(
            "POST /validate/remember_device", try .recorded("23-api-client", "recognised, cookie rotates"),
            try .recorded("23-api-client", "for another user"), try .recorded("23-api-client", "first cookie replayed"),
            try .recorded("23-api-client", "without API key"), .value(true), .value("yes"))
        let next = try await bench.service.checkTrust("alice", cookie: secret("lVFu:1"))
        expect(next.value.text(), is: "lVFubddzb_i_1-sbm50GBXMC41Mmc0NmfqokuTOzSmU:2")
        await expect(bench.http.requests.last?.fields.values(of: "Cookie"), is: ["pi_remember_device=lVFu:1"])
        #expect(
            await bench.error { _ = try await $0.checkTrust("bob", cookie: secret("c")) }
                == .notTrusted(isRevoked: false))
        #expect(
            await bench.error { _ = try await $0.checkTrust("alice", cookie: secret("c")) }
                == .notTrusted(isRevoked: true))
        let refused = await bench.error { _ = try await $0.checkTrust("alice", cookie: secret("c")) }
        expect(refused?.legacyCode, is: 100)
        #expect(
            await bench.error { _ = try await $0.checkTrust("alice", cookie: secret("c")) }
                == .server(.malformed("the next cookie is missing")))
        #expect(
            await bench.error { _ = try await $0.checkTrust("alice", cookie: secret("c")) }
                == .uncertain(.malformed("the answer does not say whether the device is remembered"), .trust))
        for cookie in ["", "a;b", "a\r\nX: y", "a b", "a,b", "ä"] {
            await expect(
                bench.error { _ = try await $0.checkTrust("alice", cookie: secret(cookie)) }, is: .invalid("cookie")
            )
        }
    }

    @Test func remembersAfterAPIN() async throws {
        let bench = try Bench()
        await bench.http.on(
            "POST /validate/check", try .recorded("23-api-client", "sign in and ask"), .decision("ACCEPT"))
        let sent = PINChallenge(purpose: .login, serial: "S", channel: .sms, transactionID: "1", expiry: nil)
        let cookie = try await bench.service.verifyPIN(secret("1"), loggingIn: "alice", sent, remembers: true)
        expect(cookie?.value.text(), is: "lVFubddzb_i_1-sbm50GBXMC41Mmc0NmfqokuTOzSmU:1")
        #expect(
            await bench.error { try await $0.verifyPIN(secret("1"), loggingIn: "alice", sent, remembers: true) }
                == .trustNotAllowed)
    }

    @Test func keepsAPolicyOfItsOwn() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens())
        func policy(_ users: [JSONValue], active: Bool = true) -> JSONValue {
            [
                "name": .string(PrivacyIDEA.rememberingPolicy), "scope": "authentication",
                "active": .bool(active),
                "action": ["remember_device": true, "remember_device_validity": "30"], "user": .array(users),
                "realm": ["test"],
            ]
        }
        let path = "POST /policy/\(PrivacyIDEA.rememberingPolicy)"
        await bench.http.on(
            "GET /policy/", .value([]), .value([policy(["alice"])]), .value([policy(["alice", "b\\.b"])]),
            .value([policy(["alice"])]), .value([policy(["alice"], active: false)]), .value([]))
        await bench.http.on(path, .value(["setPolicy": 15]))
        try await expect(bench.service.setTrust("alice", isAllowed: true, days: 7), is: ["alice"])
        await expect(bench.http.sent("user", in: path), is: "[\"alice\"]")
        await expect(
            bench.http.sent("action", in: path), is: "{\"remember_device\":true,\"remember_device_validity\":7}")
        try await expect(bench.service.setTrust("b.b", isAllowed: true), is: ["alice", "b.b"])
        // A user's name is a regular expression to the server.
        await expect(bench.http.sent("user", in: path), is: "[\"alice\",\"b\\\\.b\"]")
        try await expect(bench.service.setTrust("b.b", isAllowed: false), is: ["alice"])
        // Without users a policy would be for everybody: it is switched off.
        try await expect(bench.service.setTrust("alice", isAllowed: false), is: [])
        await expect(bench.http.sent("active", in: path), is: "false")
        try await expect(bench.service.setTrust("bob", isAllowed: true), is: ["bob"])
        let count = await bench.http.requests.count
        try await expect(bench.service.setTrust("bob", isAllowed: false), is: [])
        await expect(bench.http.requests.count, is: count + 2)
        for name in ["a,b", "a b"] {
            await expect(bench.error { _ = try await $0.setTrust(name, isAllowed: true) }, is: .invalid("user"))
        }
    }

    @Test func listsAndForgetsDevices() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens())
        await bench.http.on("GET /user/", .value([["username": "alice", "realm": "test"]]), .value([]))
        await bench.http.on("GET /clients/\(Self.id)/remembered_devices", try .recorded("23-api-client", "list"))
        await bench.http.on("DELETE /clients/\(Self.id)/remembered_devices/SRg-vWcoSR8gAfs4JjZNZg", .value("SRg"))
        await bench.http.on(
            "DELETE /clients/remembered_devices", try .recorded("23-api-client", "revoke all of a user"))
        let devices = try await bench.service.trustedDevices(of: "alice", client: Self.id)
        #expect(devices.map(\.id) == ["SRg-vWcoSR8gAfs4JjZNZg"] && devices[0].expiry == 1_797_912_508)
        #expect(try await bench.service.trustedDevices(of: "bob", client: Self.id).isEmpty)
        try await expect(bench.service.removeTrust("alice", device: "SRg-vWcoSR8gAfs4JjZNZg", client: Self.id), is: 1)
        #expect(
            await bench.error { _ = try await $0.removeTrust("bob", device: "SRg-vWcoSR8gAfs4JjZNZg", client: Self.id) }
                == .noSuchDevice("SRg-vWcoSR8gAfs4JjZNZg"))
        try await expect(bench.service.removeTrust("alice"), is: 1)
        await expect(bench.http.requests.last?.url.target, is: "/clients/remembered_devices?user=alice&realm=test")
        await expect(bench.error { _ = try await $0.removeTrust("alice") }, is: .noSuchUser("alice"))
    }

    @Test func makesAndRotatesAPIKeys() async throws {
        let bench = try Bench()
        func client(_ id: String, _ key: String, _ name: String) -> JSONValue {
            ["id": .string(id), "key_id": .string(key), "display_name": .string(name), "status": "active"]
        }
        await bench.http.on(
            "GET /clients/", .value([]),
            .value([client(Self.id, "2ff17546ebd7f22b", "ykit"), client("2", "k2", "a"), client("3", "k3", "a")]))
        await bench.http.on("POST /clients/", try .recorded("23-api-client", "make a client"))
        await bench.http.on("POST /clients/\(Self.id)/rotate", try .recorded("23-api-client", "new API key"))
        await bench.http.on("PATCH /clients/\(Self.id)", .value([:]))
        let made = try await bench.service.createAPIKey("ykit")
        expect(made.apiKey?.value.text(), is: "pi_2ff17546ebd7f22b_XLJ2a1D4vOiGvdVEo6tk8v2yjX32tZWtGSvJPoIFSR8")
        #expect(made.id == Self.id && made.keyID == "2ff17546ebd7f22b" && made.created != nil)
        expect("\(made)".contains("XLJ2a1D4"), is: false)
        await expect(bench.error { _ = try await $0.createAPIKey("ykit") }, is: .ambiguous([Self.id]))
        await expect(bench.error { _ = try await $0.createAPIKey("") }, is: .invalid("name"))
        try await expect(bench.service.rotateAPIKey("ykit").keyID, is: "ee798a2a26c228d0")
        await expect(bench.error { _ = try await $0.rotateAPIKey("a") }, is: .ambiguous(["2", "3"]))
        await expect(bench.error { _ = try await $0.rotateAPIKey("nobody") }, is: .noSuchClient("nobody"))
        try await expect(bench.service.client(of: secret("pi_k2_x_y")).id, is: "2")
        await expect(bench.error { _ = try await $0.client(of: secret("junk")) }, is: .noSuchClient(""))
        try await expect(bench.service.apiKeys().count, is: 3)
        try await bench.client.setClient(Self.id, isActive: false)
        await expect(bench.http.sent("status", in: "PATCH /clients/\(Self.id)"), is: "suspended")
    }
}

@Suite struct LogInTests {
    @Test func goesThroughALogIn() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(token("PISM00008763", "sms")))
        await bench.http.on("POST /validate/triggerchallenge", try .recorded("15-sms", "by an administrator"))
        await bench.http.on("POST /validate/check", .decision("ACCEPT"))
        await bench.http.on("POST /validate/remember_device", .value(false), .value(true, cookie: "c:2"))
        var told: [LogInStep] = []
        let byPIN = try await bench.service.testLogIn(
            "alice", cookie: SharedSecret(secret("c:0")), key: nil, pin: { _ in SharedSecret(secret("988403")) },
            report: { told.append($0) })
        #expect(told == byPIN.steps && told.count == 4 && byPIN.cookie == nil)
        #expect(told.first == .status(.sms) && told[1] == .trusted(false) && told.last == .pinVerified)
        let remembered = try await bench.service.testLogIn(
            "alice", cookie: SharedSecret(secret("c:1")), key: nil, pin: nil, report: { _ in })
        #expect(remembered.steps == [.status(.sms), .trusted(true)] && remembered.cookie?.value.text() == "c:2")
        await #expect(throws: SecondFactorError.noFactor("alice")) {
            try await bench.service.testLogIn("alice", key: nil, pin: nil, report: { _ in })
        }
    }

    @Test func needsAFactor() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(token("T", "totp")))
        await #expect(throws: SecondFactorError.noFactor("alice")) {
            try await bench.service.testLogIn("alice", key: nil, pin: nil, report: { _ in })
        }
        await bench.http.on("POST /validate/remember_device", .refused(401, 4033))
        let sms = try Bench()
        await sms.http.on("GET /token/", .tokens(token("S", "sms")))
        await sms.http.on("POST /validate/remember_device", .refused(401, 4033))
        await #expect(throws: SecondFactorError.server(.refused(status: 401, code: 4033, message: "no"))) {
            try await sms.service.testLogIn(
                "alice", cookie: SharedSecret(secret("c")), key: nil, pin: nil, report: { _ in })
        }
    }

    @Test func byPasskey() async throws {
        let bench = try Bench()
        let key = try await bench.key()
        await bench.http.on("GET /token/", .tokens(), .tokens(token("PIPK0000C351", "passkey")))
        await bench.http.on(
            "POST /token/init", try .recorded("21-passkey", "1"),
            try .recorded("21-passkey", "2: challenge taken as text"))
        _ = try await bench.service.registerKey("alice", key, as: .passkey, requiresPIN: false)
        await bench.http.on("POST /validate/initialize", try .recorded("21-passkey", "start, nobody named"))
        await bench.http.on("POST /validate/check", try .recorded("21-passkey", "challenge taken as text"))
        let done = try await bench.service.testLogIn("alice", key: { key }, pin: nil, report: { _ in })
        expect(done.steps, is: [.status(.fp), .key(serial: "PIPK0000C351")])
    }

    @Test func numbersOfTheSDK() {
        func code(_ error: SecondFactorError) -> Int? { error.legacyCode }
        expect(code(.server(.refused(status: 401, code: 4031, message: ""))), is: 100)
        #expect(code(.invalid("user")) == 101 && code(.trustNotAllowed) == 103 && code(.unverifiedEnrolment) == 103)
        #expect(code(.server(.refused(status: 400, code: 904, message: ""))) == 104 && code(.noSuchUser("")) == 104)
        #expect(code(.server(.refused(status: 404, code: 601, message: ""))) == 105 && code(.expired) == 105)
        #expect(code(.server(.http(.unreachable("")))) == 106 && code(.server(.status(404))) == 106)
        #expect(code(.key(.noneChosen)) == 107 && code(.server(.http(.timedOut))) == 200)
        #expect(
            code(.server(.refused(status: 500, code: -500, message: ""))) == 200 && code(.server(.status(502))) == 200)
        #expect(code(.rejected(nil)) == 201 && code(.locked(nil)) == 201 && code(.otherUser("")) == 201)
        #expect(code(.userExists("")) == 200 && code(.otherAccount("", user: "")) == 100)
        #expect(code(.notEnrolled([])) == 103 && code(.server(.signature)) == nil)
        expect(code(.server(.refused(status: 400, code: 905, message: ""))), is: nil)
    }
}
