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

@Suite struct KeyTests {
    private let sms = token("S", "sms")
    private let desk = token("WAN00005F5D", "webauthn", description: "desk")

    /// The members of the client data that a request carried.
    private func clientData(_ name: String, in request: String, _ http: FakeServer) async throws -> JSONValue {
        let text = try #require(await http.sent(name, in: request))
        return try JSONValue(parsing: try Base64.decode(text))
    }

    @Test func registersAKey() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(sms), .tokens(sms, desk))
        await bench.http.on(
            "POST /token/init", try .recorded("20-webauthn", "1"), try .recorded("20-webauthn", "2", skipping: 2))
        let made = try await bench.service.registerKey("alice", try await bench.key(), device: "desk")
        #expect(made.serial == "WAN00005F5D" && made.isKey)
        let data = try await clientData("clientdata", in: "POST /token/init", bench.http)
        #expect(data["challenge"] == "8ldHvskDpoer4eLZDKILZkWPwxFL46cPIa3Wk4K70Z8" && data["type"] == "webauthn.create")
        let object = try #require(await bench.http.sent("regdata", in: "POST /token/init"))
        let attested = try AttestationObject(decoding: try Base64.decode(object))
        #expect(attested.authenticatorData.flags.contains([.userVerified, .userPresent]))
        await expect(bench.http.sent("description", in: "POST /token/init"), is: "desk")
        await expect(
            bench.http.requests.last { $0.method == .post }?.fields.values(of: "Origin"),
            is: [
                "https://localhost:8443"
            ])
    }

    @Test func asksForANumberFirst() async throws {
        let bench = try Bench()
        let key = try await bench.key()
        await bench.http.on("GET /token/", .tokens(token("S", "sms", state: "verify")), .tokens(sms, desk))
        await expect(bench.error { _ = try await $0.registerKey("alice", key) }, is: .noVerifiedChannel)
        await expect(
            bench.error { _ = try await $0.registerKey("alice", key, device: "desk") }, is: .ambiguous(["desk"]))
        await expect(bench.error { _ = try await $0.registerKey("alice", key, device: "") }, is: .invalid("device"))
    }

    @Test func leavesNoKeyThatProvesNobody() async throws {
        let bench = try Bench()
        let key = try await bench.key(pin: nil)
        await bench.http.on("GET /token/", .tokens(sms))
        await bench.http.on("POST /token/init", try .recorded("20-webauthn", "1"))
        await bench.http.on("DELETE /token/WAN00005F5D", .value(1))
        let error = await bench.error { _ = try await $0.registerKey("alice", key) }
        guard case .key? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        expect(error?.legacyCode, is: 107)
        await expect(bench.http.asked.last, is: "DELETE /token/WAN00005F5D")
    }

    @Test func leavesNoKeyThatTheServerRefuses() async throws {
        let bench = try Bench()
        let key = try await bench.key()
        await bench.http.on("GET /token/", .tokens(sms))
        await bench.http.on(
            "POST /token/init", try .recorded("20-webauthn", "1"), try .recorded("20-webauthn", "2 from another origin")
        )
        await bench.http.on("DELETE /token/WAN00005F5D", .value(1))
        #expect(
            await bench.error { _ = try await $0.registerKey("alice", key) }
                == .server(.refused(status: 400, code: 404, message: "ERR404: Could not enroll webauthn token!")))
        await expect(bench.http.asked.last, is: "DELETE /token/WAN00005F5D")
        let other = try Bench()
        await other.http.on("GET /token/", .tokens(sms))
        await other.http.on(
            "POST /token/init", .value(true, detail: ["serial": "X"]),
            .value(true, detail: ["serial": "X", "transaction_id": "1"]))
        await other.http.on("DELETE /token/X", .value(1))
        guard case .server(.malformed)? = await other.error({ _ = try await $0.registerKey("alice", key) }),
            case .server(.malformed)? = await other.error({ _ = try await $0.registerKey("alice", key) })
        else {
            Issue.record("an incomplete registration was taken")
            return
        }
    }

    @Test func registersAPasskeyWhoseChallengeIsText() async throws {
        let bench = try Bench()
        let passkey = token("PIPK0000C351", "passkey")
        await bench.http.on("GET /token/", .tokens(), .tokens(passkey))
        await bench.http.on(
            "POST /token/init", try .recorded("21-passkey", "1"),
            try .recorded("21-passkey", "2: challenge taken as text"))
        await bench.http.on("POST /token/set", .value(1))
        let key = try await bench.key()
        let made = try await bench.service.registerKey("alice", key, as: .passkey, device: "phone", requiresPIN: false)
        expect(made.serial, is: "PIPK0000C351")
        let data = try await clientData("clientDataJSON", in: "POST /token/init", bench.http)
        expect(
            data["challenge"], is: .string(Base64.encodeURL(Array("vKGL48oH0XWY0wtk_nxlDLG2aROIs27aHdle4k8omJs".utf8))))
        await expect(bench.http.sent("description", in: "POST /token/set"), is: "phone")

        // The same key signs in without a user name.
        await bench.http.on("POST /validate/initialize", try .recorded("21-passkey", "start, nobody named"))
        await bench.http.on(
            "POST /validate/check", try .recorded("21-passkey", "challenge taken as text"),
            try .recorded("21-passkey", "challenge taken as base64url"), .decision("ACCEPT"))
        let signed = try await bench.service.verifyPasskey(key, of: "alice")
        #expect(signed.user == "alice" && signed.serial == "PIPK0000C351")
        let answer = try await clientData("clientDataJSON", in: "POST /validate/check", bench.http)
        expect(
            answer["challenge"],
            is: .string(Base64.encodeURL(Array("9cb2K8d_Syx0wZ5GpbisVJKDLaZJpuYFNt_OODDzFmY".utf8))))
        await expect(bench.http.sent("user", in: "POST /validate/check"), is: nil)
        await expect(bench.http.sent("transaction_id", in: "POST /validate/check"), is: "13147347361890109785")
        await expect(bench.error { _ = try await $0.verifyPasskey(key) }, is: .rejected("Authentication failed."))
        #expect(
            await bench.error { _ = try await $0.verifyPasskey(key) }
                == .server(.malformed("the answer does not name the passkey's owner")))
        let other = try Bench()
        await other.http.on("POST /validate/initialize", try .recorded("21-passkey", "start, nobody named"))
        await other.http.on("POST /validate/check", try .recorded("21-passkey", "challenge taken as text"))
        await expect(other.error { _ = try await $0.verifyPasskey(key, of: "bob") }, is: .otherUser("alice"))

        var session = bench
        await bench.http.on("POST /auth", .refused(401, 4031), try .recorded("21-passkey", "web session by passkey"))
        await #expect(throws: SecondFactorError.server(.refused(status: 401, code: 4031, message: "no"))) {
            try await session.service.logIn(passkey: key)
        }
        try await expect(session.service.logIn(passkey: key).account.name, is: "alice")
        await expect(bench.http.requests.last?.fields.values(of: "Origin"), is: ["https://localhost:8443"])
    }

    /// A challenge for a credential that the key has.
    private func challenge(_ id: [UInt8]) -> HTTPResponse {
        .decision(
            "CHALLENGE",
            detail: [
                "multi_challenge": [
                    [
                        "serial": "WAN00005F5D", "type": "webauthn", "transaction_id": "77", "message": "m",
                        "attributes": [
                            "webAuthnSignRequest": [
                                "challenge": "JhlPaxyXKyrOa4_QLm57GeNTbJN24TFVWLImaIh2oCk", "rpId": "localhost",
                                "userVerification": "discouraged", "timeout": 60000,
                                "allowCredentials": [["id": .string(Base64.encodeURL(id)), "type": "public-key"]],
                            ]
                        ],
                    ]
                ]
            ])
    }

    @Test func verifiesByAKey() async throws {
        let bench = try Bench()
        let key = try await bench.key()
        await bench.http.on("GET /token/", .tokens(sms), .tokens(sms, desk), .tokens(sms, desk))
        await bench.http.on(
            "POST /token/init", try .recorded("20-webauthn", "1"), try .recorded("20-webauthn", "2", skipping: 2))
        _ = try await bench.service.registerKey("alice", key)
        let object = try #require(await bench.http.sent("regdata", in: "POST /token/init"))
        let credential = try #require(
            try AttestationObject(decoding: try Base64.decode(object)).authenticatorData.credential)
        await bench.http.on("POST /validate/triggerchallenge", challenge(credential.id))
        await bench.http.on(
            "POST /validate/check", .decision("ACCEPT", detail: ["serial": "WAN00005F5D"], cookie: "c:1"),
            .decision("ACCEPT", detail: ["serial": "WAN00005F5D"]), try .recorded("20-webauthn", "altered signature"))
        let verified = try await bench.service.verifyKey("alice", key, device: "desk", remembers: true)
        #expect(verified.serial == "WAN00005F5D" && verified.cookie?.value.text() == "c:1")
        await expect(bench.http.sent("serial", in: "POST /validate/triggerchallenge"), is: "WAN00005F5D")
        await expect(bench.http.sent("request_persistent_cookie", in: "POST /validate/check"), is: "1")
        let signed = try #require(await bench.http.sent("authenticatordata", in: "POST /validate/check"))
        // The server asked for none; the user is verified all the same.
        #expect(
            try AuthenticatorData(decoding: try Base64.decode(signed)).flags.contains([.userVerified, .userPresent]))
        await expect(bench.error { _ = try await $0.verifyKey("alice", key, remembers: true) }, is: .trustNotAllowed)
        await expect(bench.error { _ = try await $0.verifyKey("alice", key) }, is: .rejected("Authentication failed."))
        await expect(
            bench.error { _ = try await $0.verifyKey("alice", key, device: "sofa") }, is: .noSuchDevice("sofa"))
    }

    @Test func otherKeysAndNoKeys() async throws {
        let bench = try Bench()
        let key = try await bench.key()
        await bench.http.on("GET /token/", .tokens(sms, desk))
        await bench.http.on("POST /validate/triggerchallenge", challenge([1, 2, 3]), .decision("REJECT"))
        let error = await bench.error { _ = try await $0.verifyKey("alice", key) }
        guard case .key(.key(.noCredentials))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await expect(bench.error { _ = try await $0.verifyKey("alice", key) }, is: .rejected(nil))
        let bare = try Bench()
        await bare.http.on("GET /token/", .tokens(sms))
        await expect(bare.error { _ = try await $0.verifyKey("alice", key) }, is: .noFactor("alice"))
    }

    @Test func listsAndRemovesDevices() async throws {
        let bench = try Bench()
        await bench.http.on(
            "GET /token/", .tokens(sms, desk, token("W2", "webauthn", description: "desk"), token("P", "passkey")))
        await bench.http.on("DELETE /token/P", .value(1))
        try await expect(bench.service.devices(of: "alice").map(\.serial), is: ["WAN00005F5D", "W2", "P"])
        try await expect(bench.service.devices(of: "alice", "W2").count, is: 1)
        try await expect(bench.service.removeDevice("P", of: "alice").serial, is: "P")
        #expect(
            await bench.error { _ = try await $0.removeDevice("desk", of: "alice") }
                == .ambiguous(["WAN00005F5D", "W2"]))
        await expect(bench.error { _ = try await $0.removeDevice("S", of: "alice") }, is: .noSuchDevice("S"))
    }
}
