// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKWire

/// Authentications, and each step of WebAuthn Level 3 §7.2 that refuses one.
struct AuthenticationTests {
    private func server(
        _ party: (inout WebAuthnRelyingParty) -> Void = { _ in }, _ authenticator: Authenticator? = nil
    ) async throws -> Server {
        let server = try Server(party)
        try await server.register((authenticator ?? Authenticator()).create)
        return server
    }

    /// An authenticator that is refused for this reason.
    private func refused(
        _ error: CeremonyError, user: [UInt8]? = Server.alice.id,
        _ requirements: AuthenticationRequirements = AuthenticationRequirements(),
        party: (inout WebAuthnRelyingParty) -> Void = { _ in }, _ location: SourceLocation = #_sourceLocation,
        _ change: (inout Authenticator) -> Void
    ) async throws {
        let server = try await server(party)
        var authenticator = try Authenticator()
        authenticator.counter = 2
        try await server.authenticate(authenticator.get)
        authenticator.counter = 3
        change(&authenticator)
        await YKRelyingPartyTests.refused(error, location) {
            try await server.authenticate(authenticator.get, user: user, asking: requirements)
        }
        expect(server.record([1, 2, 3, 4])?.signCount, is: 2, sourceLocation: location)
    }

    @Test func authenticates() async throws {
        let server = try await server()
        var authenticator = try Authenticator()
        authenticator.counter = 5
        let known = try #require(server.record(authenticator.id))
        let signed = try await server.authenticate(authenticator.get, allowing: [known])
        #expect(signed.record.signCount == 5 && signed.isUserVerified && !signed.hasOldCounter && !signed.usedAppID)
        authenticator.counter = 6
        authenticator.flags = .userPresent
        authenticator.userHandle = Server.alice.id
        let discovered = try await server.authenticate(authenticator.get, user: nil)
        #expect(discovered.record.user == Server.alice.id && !discovered.isUserVerified)
    }

    @Test func writesOptions() async throws {
        let server = try await server()
        var wanted = AuthenticationRequirements()
        wanted.userVerification = .required
        wanted.hints = [.hybrid]
        wanted.extensions.prf = PRFInput(first: [1])
        wanted.extensions.prfByCredential = [[1, 2, 3, 4]: PRFInput(first: [2])]
        wanted.extensions.largeBlob = .write([3])
        wanted.extensions.appID = "https://example.com/u2f"
        wanted.extensions.others["uvm"] = true
        let known = try #require(server.record([1, 2, 3, 4]))
        let json = try await server.party.beginAuthentication(session: "s", allowing: [known], wanted).options.json
        #expect(json["rpId"] == "example.com" && json["userVerification"] == "required")
        #expect(json["allowCredentials"]?.array?.first?["id"] == "AQIDBA" && json["hints"] == ["hybrid"])
        let expected: JSONValue = [
            "prf": ["eval": ["first": "AQ"], "evalByCredential": ["AQIDBA": ["first": "Ag"]]],
            "largeBlob": ["write": "Aw"], "appid": "https://example.com/u2f", "uvm": true,
        ]
        expect(json["extensions"], is: expected)
    }

    @Test func findsTheAccount() async throws {
        try await refused(.unknownCredential) { $0.id = [9] }
        try await refused(.noUserHandle, user: nil) { _ in }
        try await refused(.otherUser, user: nil) { $0.userHandle = [1] }
        try await refused(.otherUser) { $0.userHandle = [1] }
        try await refused(.otherUser, user: [1]) { _ in }
        let server = try await server()
        let known = try #require(server.record([1, 2, 3, 4]))
        let begun = try await server.party.beginAuthentication(session: "s", allowing: [known])
        var other = try Authenticator()
        other.id = [8]
        let answer = Array(try other.get(begun.options).json.text.utf8)
        await YKRelyingPartyTests.refused(.credentialNotAllowed) {
            try await server.party.finishAuthentication(answer, token: begun.token, session: "s") { _ in known }
        }
        let again = try await server.party.beginAuthentication(session: "s")
        let wrong = Array(try other.get(again.options).json.text.utf8)
        await YKRelyingPartyTests.refused(.unknownCredential) {
            try await server.party.finishAuthentication(wrong, token: again.token, session: "s") { _ in known }
        }
    }

    @Test func checksClientData() async throws {
        try await refused(.type(.create)) { $0.type = .create }
        try await refused(.type(.payment)) { $0.type = .payment }
        try await refused(.challenge) { $0.challenge = [] }
        try await refused(.origin("https://example.com")) { $0.origin = "https://example.com" }
        try await refused(.crossOrigin) { $0.crossOrigin = true }
        try await refused(.topOrigin("https://login.example.com")) { $0.topOrigin = "https://login.example.com" }
    }

    @Test func checksAuthenticatorData() async throws {
        var verified = AuthenticationRequirements()
        verified.userVerification = .required
        try await refused(.otherRelyingParty) { $0.rpID = "example.org" }
        try await refused(.noPresence) { $0.flags = .userVerified }
        try await refused(.noUserVerification, verified) { $0.flags = .userPresent }
        try await refused(.backupEligibilityChanged) { $0.flags.insert(.backupEligible) }
        try await refused(.signature(.badSignature)) { $0.breaksSignature = true }
        let server = try await server()
        var authenticator = try Authenticator()
        authenticator.flags.insert(.backedUp)
        let answer = authenticator
        do {
            try await server.authenticate(answer.get)
            Issue.record("accepted a backup state without eligibility")
        } catch CeremonyError.malformed {}
    }

    @Test func followsTheBackupState() async throws {
        var authenticator = try Authenticator()
        authenticator.flags.insert(.backupEligible)
        let server = try await server({ _ in }, authenticator)
        authenticator.counter = 2
        authenticator.flags.insert(.backedUp)
        #expect(try await server.authenticate(authenticator.get).record.isBackedUp)
        authenticator.counter = 3
        authenticator.flags.remove(.backedUp)
        try await expect(server.authenticate(authenticator.get).record.isBackedUp, is: false)
        authenticator.flags.remove(.backupEligible)
        await YKRelyingPartyTests.refused(.backupEligibilityChanged) {
            try await server.authenticate(authenticator.get)
        }
    }

    @Test(arguments: [UInt32(0), 1, 2])
    func refusesAnOldCounter(_ counter: UInt32) async throws {
        try await refused(.counter(stored: 2, received: counter)) { $0.counter = counter }
        let lenient = try await server({ $0.refusesOldCounters = false })
        var authenticator = try Authenticator()
        authenticator.counter = 2
        try await lenient.authenticate(authenticator.get)
        authenticator.counter = counter
        let signed = try await lenient.authenticate(authenticator.get)
        #expect(signed.hasOldCounter && signed.record.signCount == 2)
    }

    @Test func acceptsAuthenticatorsThatDoNotCount() async throws {
        var authenticator = try Authenticator()
        authenticator.counter = 0
        let server = try await server({ _ in }, authenticator)
        for _ in 0..<2 { #expect(try await !server.authenticate(authenticator.get).hasOldCounter) }
    }

    @Test func acceptsTheAppIDWhereItWasOffered() async throws {
        let appID = "https://example.com/u2f"
        try await refused(.otherRelyingParty) {
            $0.rpID = appID
            $0.results = ["appid": true]
        }
        var offered = AuthenticationRequirements()
        offered.extensions.appID = appID
        try await refused(.otherRelyingParty, offered) { $0.rpID = appID }
        try await refused(.otherRelyingParty, offered) { $0.results = ["appid": true] }
        var authenticator = try Authenticator()
        authenticator.counter = 2
        authenticator.rpID = appID
        authenticator.results = ["appid": true]
        #expect(try await server().authenticate(authenticator.get, asking: offered).usedAppID)
    }

    @Test func readsAndWritesLargeBlobs() async throws {
        var wanted = AuthenticationRequirements()
        wanted.extensions.largeBlob = .write([1])
        try await refused(.extension("largeBlob"), wanted) { $0.results = ["largeBlob": ["written": false]] }
        try await refused(.extension("largeBlob"), wanted) { _ in }
        let server = try await server()
        var authenticator = try Authenticator()
        authenticator.counter = 2
        authenticator.results = ["largeBlob": ["written": true]]
        try await expect(server.authenticate(authenticator.get, asking: wanted).largeBlob, is: nil)
        wanted.extensions.largeBlob = .read
        authenticator.counter = 3
        authenticator.results = ["largeBlob": ["blob": "AQI"]]
        try await expect(server.authenticate(authenticator.get, asking: wanted).largeBlob, is: [1, 2])
    }

    @Test func refusesWhatCannotBeRead() async throws {
        let server = try await server()
        let begun = try await server.party.beginAuthentication(session: "s")
        do {
            _ = try await server.party.finishAuthentication([0x7B], token: begun.token, session: "s") { _ in nil }
            Issue.record("accepted")
        } catch .malformed(.json) {}
        struct Broken: Error {}
        let again = try await server.party.beginAuthentication(session: "s")
        let answer = Array(try Authenticator().get(again.options).json.text.utf8)
        await YKRelyingPartyTests.refused(.store("Broken()")) {
            try await server.party.finishAuthentication(answer, token: again.token, session: "s") { _ in throw Broken()
            }
        }
    }
}
