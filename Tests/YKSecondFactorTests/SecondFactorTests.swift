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

@Suite struct StatusTests {
    private func status(_ tokens: JSONValue...) async throws -> SecondFactorStatus.State {
        let bench = try Bench()
        await bench.http.on("GET /token/", .value(["tokens": .array(tokens)]))
        return try await bench.service.status(of: "alice").state
    }

    @Test func namesTheStrongestFactor() async throws {
        try await expect(status(), is: .none)
        try await expect(status(token("S", "sms", active: false)), is: .disabled)
        #expect(
            try await status(token("S", "sms", state: "verify"), token("W", "webauthn", state: "clientwait"))
                == .disabled)
        try await expect(status(token("T", "totp")), is: .other)
        try await expect(status(token("T", "totp"), token("E", "email")), is: .sms)
        try await expect(status(token("S", "sms"), token("W", "webauthn")), is: .fp)
        try await expect(status(token("S", "sms"), token("P", "passkey", active: false)), is: .sms)
    }

    @Test func readsRecordedTokens() async throws {
        let bench = try Bench()
        await bench.http.on(
            "GET /token/", try .recorded("24-user-admin", "no tokens"), try .recorded("24-user-admin", "SMS"))
        try await expect(bench.service.status(of: "carol").state, is: .none)
        let status = try await bench.service.status(of: "carol")
        #expect(status.state == .sms && status.factors.map(\.serial) == ["PISM0000E6DA"])
    }

    @Test func refusesNamesThatAreNone() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .refused(400, 904))
        await expect(bench.error { _ = try await $0.status(of: "nobody") }, is: .noSuchUser("nobody"))
        for name in ["", "a*", String(repeating: "a", count: 300)] {
            await expect(bench.error { _ = try await $0.status(of: name) }, is: .invalid("user"))
        }
        await expect(bench.http.requests.count, is: 1)
    }

    @Test func enablesAndDisables() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(token("S", "sms"), token("W", "webauthn")))
        for path in ["enable", "enable/W", "disable"] { await bench.http.on("POST /token/\(path)", .value(2)) }
        try await expect(bench.service.enable("alice").changed, is: 2)
        try await expect(bench.service.enable("alice", [.fp]).changed, is: 1)
        try await expect(bench.service.disable("alice"), is: 2)
        await expect(bench.http.sent("user", in: "POST /token/disable"), is: "alice")
        let bare = try Bench()
        await bare.http.on("GET /token/", .tokens())
        await expect(bare.error { _ = try await $0.disable("alice") }, is: .noFactor("alice"))
        await expect(bare.error { _ = try await $0.enable("alice", [.sms]) }, is: .noFactor("alice"))
        // Both kinds are wanted, and there is no key: nothing is changed.
        let single = try Bench()
        await single.http.on("GET /token/", .tokens(token("S", "sms")))
        await expect(single.error { _ = try await $0.enable("alice", [.sms, .fp]) }, is: .noFactor("alice"))
        await expect(single.http.asked, is: ["GET /token/"])
    }

    @Test func enablesNoFactorWhoseNumberIsNotVerified() async throws {
        let bench = try Bench()
        let waiting = token("S", "sms", active: false, state: "verify")
        await bench.http.on("GET /token/", .tokens(waiting))
        await expect(bench.error { _ = try await $0.enable("bob", [.sms]) }, is: .notEnrolled(["S"]))
        await expect(bench.error { _ = try await $0.enable("bob") }, is: .notEnrolled(["S"]))
        #expect(await bench.http.asked.allSatisfy { $0 == "GET /token/" })
        let mixed = try Bench()
        await mixed.http.on("GET /token/", .tokens(waiting, token("M", "email", active: false)))
        await mixed.http.on("POST /token/enable/M", .value(1))
        let (changed, left) = try await mixed.service.enable("bob")
        #expect(changed == 1 && left.map(\.serial) == ["S"])
        await expect(mixed.http.asked, is: ["GET /token/", "POST /token/enable/M"])
    }

    @Test func logsInWithAPassword() async throws {
        var bench = try Bench()
        await bench.http.on(
            "POST /auth", try .recorded("01-auth", "wrong password"), try .recorded("01-auth", "right password"))
        let wrong = await bench.error {
            var service = $0
            _ = try await service.logIn("admin", password: secret("x"))
        }
        guard case .server(.refused(401, 4031, _))? = wrong else {
            Issue.record("\(String(describing: wrong))")
            return
        }
        expect(wrong?.legacyCode, is: 100)
        let session = try await bench.service.logIn("admin", password: secret("adminpw"))
        #expect(session.account.role == "admin" && session.expiry == 1_795_323_519)
        #expect(await bench.http.requests.allSatisfy { $0.fields.values(of: "Authorization").isEmpty })
        await bench.http.on("GET /token/", .tokens())
        _ = try await bench.service.status(of: "alice")
        await expect(bench.http.requests.last?.fields.values(of: "Authorization").first?.hasPrefix("eyJ"), is: true)
        await #expect(throws: SecondFactorError.invalid("password")) {
            try await bench.service.logIn("admin", password: secret(""))
        }
    }
}

@Suite struct PINTests {
    @Test func provesANumberBeforeItCounts() async throws {
        let bench = try Bench()
        let waiting = token("PISM000052B4", "sms", state: "verify")
        await bench.http.on(
            "GET /token/", .tokens(token("OLD", "sms", state: "verify")), .tokens(waiting), .tokens(waiting),
            .tokens(token("PISM000052B4", "sms")))
        await bench.http.on(
            "POST /token/init", try .recorded("16-verify-enrolment", "1:"),
            try .recorded("16-verify-enrolment", "2: wrong"),
            try .recorded("16-verify-enrolment", "2: right"))
        await bench.http.on("DELETE /token/OLD", .value(1))
        await bench.http.on(
            "GET /token/challenges/PISM000052B4",
            .value(["challenges": [["serial": "PISM000052B4", "transaction_id": "77", "otp_valid": false]]]))
        await bench.http.on("DELETE /token/challenges/transaction/77", .refused(403, 303))
        let sent = try await bench.service.sendPIN(registering: "alice", .sms, to: "+41790000002")
        #expect(sent.purpose == .register && sent.serial == "PISM000052B4" && sent.transactionID == nil)
        await expect(bench.http.asked.last, is: "DELETE /token/OLD")
        #expect(
            await bench.error { _ = try await $0.verifyPIN(secret("000000"), registering: "alice") }
                == .rejected(
                    "ERR905: Verification of the new token failed.",
                    by: .refused(status: 400, code: 905, message: "ERR905: Verification of the new token failed.")))
        let factor = try await bench.service.verifyPIN(secret("565057"), registering: "alice")
        #expect(factor.isUsable)
        // The server leaves the challenge open: it is cancelled, where the policy permits it.
        await expect(bench.http.asked.suffix(2), is: ["DELETE /token/challenges/transaction/77", "GET /token/"])
        await expect(bench.http.sent("verify", in: "POST /token/init"), is: "565057")
        // The server takes any PIN now: it is not asked.
        let count = await bench.http.requests.count
        await expect(bench.error { _ = try await $0.verifyPIN(secret("1"), registering: "alice") }, is: .nothingPending)
        await expect(bench.http.requests.count, is: count + 1)
    }

    @Test func registersNothingWithoutProof() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens())
        await bench.http.on("POST /token/init", try .recorded("15-sms", "verify the number at enrolment"))
        await bench.http.on("DELETE /token/PISM0001F731", .value(1))
        #expect(
            await bench.error { _ = try await $0.sendPIN(registering: "alice", .sms, to: "+41790000001") }
                == .unverifiedEnrolment)
        await expect(bench.http.asked.last, is: "DELETE /token/PISM0001F731")
        await expect(
            bench.error { _ = try await $0.sendPIN(registering: "alice", .sms, to: "") }, is: .invalid("number"))
        await expect(
            bench.error { _ = try await $0.sendPIN(registering: "alice", .mail, to: "") }, is: .invalid("address"))
        await expect(bench.error { _ = try await $0.verifyPIN(secret(""), registering: "alice") }, is: .invalid("PIN"))
    }

    @Test func severalNumbersWait() async throws {
        let bench = try Bench()
        await bench.http.on(
            "GET /token/", .tokens(token("S", "sms", state: "verify"), token("E", "email", state: "verify")))
        #expect(
            await bench.error { _ = try await $0.verifyPIN(secret("1"), registering: "alice") }
                == .ambiguous(["S", "E"]))
        await bench.http.on("POST /token/init", .value(true, detail: ["rollout_state": "verify"]))
        #expect(
            await bench.error { _ = try await $0.verifyPIN(secret("1"), registering: "alice", .mail) }
                == .server(.malformed("the factor is still not enrolled")))
    }

    @Test func verifiesALogInOnce() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(token("E", "email"), token("PISM00008763", "sms")))
        await bench.http.on("POST /validate/triggerchallenge", try .recorded("15-sms", "by an administrator"))
        await bench.http.on(
            "POST /validate/check", try .recorded("15-sms", "wrong"), try .recorded("15-sms", "right", skipping: 1),
            try .recorded("15-sms", "reused"))
        let sent = try await bench.service.sendPIN(loggingIn: "alice")
        #expect(sent.serial == "PISM00008763" && sent.channel == .sms && sent.transactionID == "15197777145475811642")
        expect(sent.expiry, is: 1_795_320_896)
        #expect(
            await bench.error { try await $0.verifyPIN(secret("000000"), loggingIn: "alice", sent) }
                == .rejected("Response did not match the challenge."))
        try await bench.service.verifyPIN(secret("988403"), loggingIn: "alice", sent)
        await expect(bench.http.sent("pass", in: "POST /validate/check"), is: "988403")
        #expect(
            await bench.error { try await $0.verifyPIN(secret("988403"), loggingIn: "alice", sent) }
                == .rejected("wrong otp pin"))
        await expect(bench.error { try await $0.verifyPIN(secret(""), loggingIn: "alice", sent) }, is: .invalid("PIN"))
        let register = PINChallenge(purpose: .register, serial: "S", channel: .sms, transactionID: "1", expiry: nil)
        await expect(
            bench.error { try await $0.verifyPIN(secret("1"), loggingIn: "alice", register) }, is: .nothingPending)
    }

    @Test func tellsExpiredAndLockedFromWrong() async throws {
        let late = try Bench(now: 1_795_320_897)
        let sent = PINChallenge(purpose: .login, serial: "S", channel: .sms, transactionID: "1", expiry: 1_795_320_896)
        await late.http.on("GET /token/", .tokens(token("S", "sms")))
        await late.http.on("POST /validate/check", .decision("REJECT"))
        await expect(late.error { try await $0.verifyPIN(secret("1"), loggingIn: "alice", sent) }, is: .expired)
        let locked = try Bench()
        await locked.http.on("GET /token/", .tokens(token("S", "sms", failCount: 10)))
        await locked.http.on("POST /validate/check", .decision("REJECT", detail: ["message": "Failcounter exceeded"]))
        #expect(
            await locked.error { try await $0.verifyPIN(secret("1"), loggingIn: "alice", sent) }
                == .locked("Failcounter exceeded"))
        await locked.http.on("POST /validate/triggerchallenge", .decision("REJECT"))
        await expect(locked.error { _ = try await $0.sendPIN(loggingIn: "alice") }, is: .locked(nil))
        let unknown = try Bench()
        await unknown.http.on("POST /validate/check", .refused(400, 904))
        await expect(
            unknown.error { try await $0.verifyPIN(secret("1"), loggingIn: "eve", sent) }, is: .noSuchUser("eve"))
    }

    @Test func findsWhatWaits() async throws {
        let bench = try Bench(now: 1_795_321_000)
        await bench.http.on(
            "GET /token/", .tokens(token("S", "sms"), token("T", "totp"), token("E", "email", active: false)))
        func open(_ id: String, _ date: String, answered: Bool = false) -> JSONValue {
            ["serial": "S", "transaction_id": .string(id), "expiration": .string(date), "otp_valid": .bool(answered)]
        }
        let date = "Sun, 22 Nov 2026 04:25:49 GMT"
        await bench.http.on(
            "GET /token/challenges/S", .value(["challenges": [open("1", date), open("2", date, answered: true)]]),
            .value(["challenges": []]), .value(["challenges": [open("3", "Sun, 22 Nov 2026 04:00:00 GMT")]]),
            .value(["challenges": [open("1", date), open("2", date)]]))
        let found = try await bench.service.pendingPIN(of: "alice")
        #expect(found.transactionID == "1" && found.serial == "S" && found.expiry == 1_795_321_549)
        await expect(bench.error { _ = try await $0.pendingPIN(of: "alice") }, is: .nothingPending)
        await expect(bench.error { _ = try await $0.pendingPIN(of: "alice") }, is: .expired)
        await expect(bench.error { _ = try await $0.pendingPIN(of: "alice") }, is: .ambiguous(["1", "2"]))
        try await expect(bench.service.pendingPIN(of: "alice", transaction: "2").transactionID, is: "2")
    }

    @Test func noFactorNoPIN() async throws {
        let bench = try Bench()
        await bench.http.on("GET /token/", .tokens(token("S", "sms", active: false), token("E", "email")))
        await expect(bench.error { _ = try await $0.sendPIN(loggingIn: "alice", .sms) }, is: .noFactor("alice"))
    }
}

@Suite struct UserTests {
    @Test func makesAUser() async throws {
        let bench = try Bench()
        await bench.http.on("GET /user/", try .recorded("24-user-admin", "unknown"))
        await bench.http.on("GET /realm/", .value(["test": ["default": true, "resolver": [["name": "people"]]]]))
        await bench.http.on("POST /user/", try .recorded("24-user-admin", "register user"))
        await bench.http.on("POST /token/init", try .recorded("24-user-admin", "sms"))
        await bench.http.on("POST /token/disable/PISM0000E6DA", .value(1))
        await bench.http.on("GET /token/", .tokens(token("PISM0000E6DA", "sms", active: false)))
        var user = NewUser("carol")
        user.mobile = "+41791112233"
        user.password = SharedSecret(secret("secret"))
        let factor = try await bench.service.addUser(user, .sms, isDisabled: true)
        expect(factor.serial, is: "PISM0000E6DA")
        await expect(bench.http.sent("resolver", in: "POST /user/"), is: "people")
        await expect(bench.http.sent("dynamic_phone", in: "POST /token/init"), is: "1")
        let new = user
        await expect(bench.error { _ = try await $0.addUser(new, .mail) }, is: .invalid("address"))
    }

    @Test func leavesNoUserWithoutAFactor() async throws {
        let bench = try Bench()
        await bench.http.on("GET /user/", .value([]))
        await bench.http.on("POST /user/", .value(3))
        await bench.http.on("POST /token/init", .refused(403, 303))
        await bench.http.on("DELETE /user/people/carol", .value(true))
        var user = NewUser("carol")
        user.email = "carol@example.org"
        let new = user
        let error = await bench.error { _ = try await $0.addUser(new, .mail, resolver: "people") }
        #expect(error == .server(.refused(status: 403, code: 303, message: "no")) && error?.legacyCode == 100)
        await expect(bench.http.asked.last, is: "DELETE /user/people/carol")
    }

    @Test func asksBeforeTheServerFails() async throws {
        let bench = try Bench()
        await bench.http.on("GET /user/", try .recorded("24-user-admin", "telephone number"))
        await bench.http.on(
            "GET /realm/", .value(["test": ["default": true, "resolver": [["name": "a"], ["name": "b"]]]]))
        var carol = NewUser("carol")
        carol.mobile = "+41791112233"
        var other = carol
        other.name = "caro"
        let (known, new) = (carol, other)
        await expect(bench.error { _ = try await $0.addUser(known, .sms) }, is: .userExists("carol"))
        await expect(bench.error { _ = try await $0.addUser(new, .sms) }, is: .ambiguous(["a", "b"]))
        #expect(await !bench.http.asked.contains("POST /user/"))
    }

    @Test func masksNumbers() async throws {
        let bench = try Bench()
        await bench.http.on("GET /user/", try .recorded("24-user-admin", "telephone number"), .value([]))
        let phone = try #require(try await bench.service.phone(of: "carol"))
        #expect(phone.number == "+41791112233" && phone.description == "+41 79 *** ** 33")
        await expect(bench.error { _ = try await $0.phone(of: "carol") }, is: .noSuchUser("carol"))
        expect(PhoneNumber("079 123 45 67").description, is: "079 *** ** 67")
        expect(PhoneNumber("12345").description, is: "*** 45")
        expect(PhoneNumber("123").description, is: "*** **")
    }
}
