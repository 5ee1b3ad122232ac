// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKPrivacyIDEA
import YKSecondFactor
import YKTestSupport
import YKToken
import YKTransport
import YKWire

/// Flows 17 to 19, 24, 28 and 32 without the server: what was accepted or refused then is reported so now.
@Suite struct RecordedFactorTests {
    @Test func mail() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(token("PIEM00004ED8", "email")))
        await bench.http.on("POST /validate/triggerchallenge", try .recorded("17-mail", "start"))
        await bench.http.on(
            "POST /validate/check", try .recorded("17-mail", "wrong"), try .recorded("17-mail", "right"),
            try .recorded("17-mail", "reused"))
        let sent = try await bench.service.sendPIN(loggingIn: "alice")
        #expect(sent.channel == .mail && sent.serial == "PIEM00004ED8")
        #expect(sent.transactionID == "16691827945993264061" && sent.expiry == 1_795_320_722)
        #expect(
            await bench.error { try await $0.verifyPIN(secret("000000"), loggingIn: "alice", sent) }
                == .rejected("Response did not match the challenge."))
        try await bench.service.verifyPIN(secret("511082"), loggingIn: "alice", sent)
        await expect(bench.http.sent("transaction_id", in: "POST /validate/check"), is: "16691827945993264061")
        #expect(
            await bench.error { try await $0.verifyPIN(secret("511082"), loggingIn: "alice", sent) }
                == .rejected("wrong otp pin"))
    }

    @Test func registrationCode() async throws {
        let bench = try Bench()
        await bench.http.on("POST /token/init", try .recorded("18-registration", ""))
        await bench.http.on(
            "POST /validate/check", try .recorded("18-registration", "first"),
            try .recorded("18-registration", "second"))
        let server = bench.client
        let made = try await server.initToken(.init(rawValue: "registration"), ["user": "alice"])
        let code = try #require(made.detail["registrationcode"]?.string)
        expect(code.count, is: 24)
        let first = try await server.check("alice", secret(code))
        #expect(first.authentication == .accept && first.serial == "REG0000A992")
        await expect(bench.http.sent("pass", in: "POST /validate/check"), is: code)
        let second = try await server.check("alice", secret(code))
        #expect(second.authentication == .reject && second.message == "The user has no tokens assigned")
    }

    @Test func yubicoOTPs() async throws {
        let bench = try Bench()
        let notes = ["right", "replayed", "next", "older", "junk"]
        for note in notes { await bench.http.on("POST /validate/check", try .recorded("19-yubico", note)) }
        let key = try Hex.decode("000102030405060708090a0b0c0d0e0f")
        var accepted: OTPCounter?
        for note in notes {
            let pass = try #require(try FakeServer.request("19-yubico", note)["pass"]?.string)
            let answer = try await bench.client.check("alice", secret(pass))
            let otp = try YubicoOTP(parsing: pass.dropFirst())
            // What the server accepts is what the slot's key accepts: decrypted, and after what was accepted before.
            guard let block = try? otp.decrypted(with: Secret(key)) else {
                #expect(note == "junk" && answer.authentication == .reject)
                continue
            }
            let isNext = accepted.map { $0 < block.counter } ?? true
            expect((answer.authentication == .accept), is: isNext, "\(note)")
            if isNext { accepted = block.counter }
        }
        #expect(accepted != nil)
    }

    @Test func usersAndTheirTokens() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", try .recorded("24-user-admin", "SMS"))
        await bench.http.on("POST /token/disable", try .recorded("24-user-admin", "all of a user"))
        await bench.http.on("POST /token/enable/PISM0000E6DA", try .recorded("24-user-admin", "switch on"))
        try await expect(bench.service.disable("carol"), is: 1)
        try await expect(bench.service.enable("carol", [.sms]).changed, is: 1)
        await bench.http.on("POST /validate/check", try .recorded("24-user-admin", "then"))
        let disabled = PINChallenge(purpose: .login, serial: "S", channel: .sms, transactionID: "1", expiry: nil)
        #expect(
            await bench.error { try await $0.verifyPIN(secret("1"), loggingIn: "carol", disabled) }
                == .rejected("Token is disabled"))
        // The server fails where the name is taken: whether the user was made is not known.
        await bench.http.on("GET /user/", .value([]))
        await bench.http.on("POST /user/", try .recorded("24-user-admin", "again"))
        var carol = NewUser("carol")
        carol.mobile = "+41791112233"
        let new = carol
        let error = await bench.error { _ = try await $0.addUser(new, .sms, resolver: "people") }
        guard case .uncertain(.refused(500, -500, _), .user)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        expect(error?.legacyCode, is: 200)
    }

    @Test func limits() async throws {
        let bench = try Bench()
        let sent = PINChallenge(purpose: .login, serial: "S", channel: .sms, transactionID: "1", expiry: nil)
        await bench.http.on("GET /token/", .tokens(token("S", "sms", failCount: 5)))
        await bench.http.on(
            "POST /validate/check", try .recorded("28-limits", "wrong 5"),
            try .recorded("28-limits", "right, too early"),
            try .recorded("28-limits", "reasons hidden"), try .recorded("28-limits", "reasons hidden: unknown user"),
            try .recorded("28-limits", "push_wait"))
        let limit = SecondFactorError.rejected("Only 3 failed authentications per 0:02:00 allowed.")
        for pin in ["000000", "864572"] {
            await expect(bench.error { try await $0.verifyPIN(secret(pin), loggingIn: "alice", sent) }, is: limit)
        }
        #expect(
            await bench.error { try await $0.verifyPIN(secret("1"), loggingIn: "alice", sent) }
                == .rejected("Authentication failed."))
        let unknown = await bench.error { try await $0.verifyPIN(secret("1"), loggingIn: "nobody", sent) }
        expect(unknown, is: .server(.refused(status: 401, code: 403, message: "Authentication failed.")))
        expect(unknown?.legacyCode, is: 100)
        // The service's one request, which waited for the push to be approved.
        try await expect(bench.client.check("alice", secret("2222")).authentication, is: .accept)
    }

    @Test func trustedUsers() async throws {
        let bench = try Bench()
        let id = "a6c921ba-afb6-4148-b763-94b52ae3116f"
        let sent = PINChallenge(purpose: .login, serial: "S", channel: .sms, transactionID: "1", expiry: nil)
        await bench.http.on(
            "POST /validate/check", try .recorded("32-trusted-user", "alice asks"),
            try .recorded("32-trusted-user", "bob asks"))
        let cookie = try await bench.service.verifyPIN(secret("797748"), loggingIn: "alice", sent, remembers: true)
        expect(cookie?.value.text().hasSuffix(":1"), is: true)
        #expect(
            await bench.error { try await $0.verifyPIN(secret("797748"), loggingIn: "bob", sent, remembers: true) }
                == .trustNotAllowed)
        await bench.http.on("GET /token/", .tokens())
        await bench.http.on("GET /clients/\(id)/remembered_devices", try .recorded("32-trusted-user", "", skipping: 1))
        let devices = try await bench.service.trustedDevices(of: "alice", client: id)
        #expect(devices.count == 1 && devices[0].user == "alice")
        #expect(try await bench.service.trustedDevices(of: "bob", client: id).isEmpty)
        await bench.http.on(
            "DELETE /clients/\(id)/remembered_devices/\(devices[0].id)", try .recorded("32-trusted-user", "one device"))
        try await expect(bench.service.removeTrust("alice", device: devices[0].id, client: id), is: 1)
    }

    // MARK: answers that are lost

    /// A change, and the answer of which it is not known whether the server made it.
    @Test(arguments: [
        HTTPError.timedOut, .failed(52, "Empty reply from server"), .tooLarge(limit: 10),
        .redirected(to: "https://evil.example/", status: 302),
    ])
    func saysThatAChangeMayHaveBeenMade(_ error: HTTPError) async throws {
        let sent = PINChallenge(purpose: .login, serial: "S", channel: .sms, transactionID: "1", expiry: nil)
        func lost(_ change: SecondFactorChange) -> SecondFactorError { .uncertain(.http(error), change) }
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(token("S", "sms"), token("W", "webauthn")))
        await bench.http.on("GET /clients/", .value([]))
        await bench.http.on("GET /policy/", .value([]))
        await bench.http.on("GET /user/", .value([["username": "alice", "realm": "test"]]))
        await bench.http.failWrites(with: error)
        await expect(bench.error { _ = try await $0.sendPIN(loggingIn: "alice") }, is: lost(.challenge))
        await expect(
            bench.error { try await $0.verifyPIN(secret("1"), loggingIn: "alice", sent) }, is: lost(.challenge))
        await expect(
            bench.error { _ = try await $0.sendPIN(registering: "alice", .sms, to: "+417") }, is: lost(.challenge))
        await expect(bench.error { _ = try await $0.enable("alice") }, is: lost(.factors))
        await expect(bench.error { _ = try await $0.enable("alice", [.sms]) }, is: lost(.factors))
        await expect(bench.error { _ = try await $0.disable("alice") }, is: lost(.factors))
        await expect(bench.error { _ = try await $0.removeDevice("W", of: "alice") }, is: lost(.factors))
        await expect(bench.error { _ = try await $0.setTrust("alice", isAllowed: true) }, is: lost(.trust))
        await expect(bench.error { _ = try await $0.checkTrust("alice", cookie: secret("c")) }, is: lost(.trust))
        await expect(bench.error { _ = try await $0.removeTrust("alice") }, is: lost(.trust))
        let made = await bench.error { _ = try await $0.createAPIKey("shop") }
        expect(made, is: lost(.apiKey))
        expect(made?.legacyCode, is: (error == .timedOut ? 200 : 106))
        // What was not sent has not been done.
        for certain in [HTTPError.unreachable("no route"), .certificate("expired"), .pin(seen: nil)] {
            await bench.http.failWrites(with: certain)
            await expect(bench.error { _ = try await $0.createAPIKey("shop") }, is: .server(.http(certain)))
        }
    }

    @Test func whatCannotBeUndoneIsSaid() async throws {
        let bench = try Bench()
        await bench.http.on("GET /user/", .value([]))
        await bench.http.on("POST /user/", .value(3))
        await bench.http.on("POST /token/init", .refused(403, 303))
        await bench.http.on("DELETE /user/people/carol", .refused(500, -500))
        var carol = NewUser("carol")
        carol.email = "carol@example.org"
        let new = carol
        #expect(
            await bench.error { _ = try await $0.addUser(new, .mail, resolver: "people") }
                == .uncertain(.refused(status: 500, code: -500, message: "no"), .user))
        // A registration that was undone has not been made.
        let other = try Bench()
        let key = try await other.key()
        await other.http.on("GET /token/", .tokens(token("S", "sms")))
        await other.http.on("POST /token/init", try .recorded("20-webauthn", "1"), .refused(502, -1))
        await other.http.on("DELETE /token/WAN00005F5D", .value(1))
        #expect(
            await other.error { _ = try await $0.registerKey("alice", key) }
                == .server(.refused(status: 502, code: -1, message: "no")))
    }
}
