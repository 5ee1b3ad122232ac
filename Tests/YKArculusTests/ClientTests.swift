// SPDX-License-Identifier: Apache-2.0

import Testing
import YKArculus
import YKFIDO
import YKHTTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The client that speaks with the server itself.
struct ClientTests {
    private func client(
        _ field: Field, _ http: ScriptedServer, _ preset: ArculusServer.Preset = .arculus, rpID: String? = nil
    ) throws -> ArculusClient {
        ArculusClient(try ArculusServer("http://localhost:5810", preset, rpID: rpID), card: field.card, http: http)
    }

    @Test(arguments: ArculusServer.Preset.allCases) func registers(_ preset: ArculusServer.Preset) async throws {
        let http = ScriptedServer(Texts.creation, Texts.ok)
        let client = try client(try await Field(), http, preset)
        var wishes = ArculusRegistrationOptions()
        wishes.attestation = .direct
        wishes.residentKey = .required
        wishes.algorithms = ["es256"]
        wishes.extensions["credProps"] = true
        wishes.registrationInfo = (["device": "laptop"] as JSONValue).object
        let made = try await client.registerUser("alice", displayName: "Alice", pin: PIN().arculus, wishes: wishes)
        expect(http.asked.map(\.url.target), is: Array(preset.paths.prefix(2)))
        let (begin, complete) = (http.bodies[0], http.bodies[1])
        #expect(begin["username"] == "alice" && begin["displayName"] == "Alice" && begin["attestation"] == "direct")
        #expect(begin["keypair"] == ["device": "laptop"] && begin["extensions"] == ["credProps": true])
        let selection = begin["authenticatorSelection"]
        expect((selection?["userVerification"] ?? begin["userVerification"]), is: "required")
        expect((selection?["authenticatorAttachment"] ?? begin["attachment"]), is: "cross-platform")
        expect((selection?["residentKey"] ?? begin["discoverable_credential"]), is: "required")
        #expect(preset == .conformance ? begin["algorithms"] == nil : begin["algorithms"] == ["es256"])
        expect(complete, is: made.arculusJSON)
        #expect(complete["getClientExtensionResults"] != nil && complete["type"] == "public-key")
        expect(http.asked[0].cookies, is: HTTPCookies())
        expect(http.asked[1].cookies, is: ScriptedServer.cookies)
        expect(http.asked[1].fields.values(of: "Content-Type"), is: ["application/json"])
    }

    @Test(arguments: ArculusServer.Preset.allCases) func authenticates(_ preset: ArculusServer.Preset) async throws {
        let field = try await Field(.arculusP71)
        let made = try await client(field, ScriptedServer(Texts.creation, Texts.ok))
            .registerUser("alice", displayName: "Alice", pin: PIN().arculus)
        let http = ScriptedServer(Texts.request([made.id]), Texts.ok)
        let signed = try await client(field, http, preset).authenticateUser("alice", pin: PIN().arculus)
        expect(http.asked.map(\.url.target), is: Array(preset.paths.suffix(2)))
        expect(http.bodies, is: [["username": "alice", "userVerification": "required"], signed.arculusJSON])
        expect(http.asked[1].cookies, is: ScriptedServer.cookies)
    }

    @Test func resetsOnlyWhenTheServerBegan() async throws {
        let field = try await Field()
        await fails(.unknown) {
            try await client(field, ScriptedServer()).registerUser(
                "alice", displayName: "Alice", pin: PIN().arculus, afterResetTo: secret("654321"))
        }
        expect(field.connections, is: 0)
        try await field.service().verifyPIN(secret("123456"))
        await fails(.setPINFailed) {
            try await client(field, ScriptedServer()).registerUser(
                "alice", displayName: "Alice", pin: PIN().arculus, afterResetTo: secret("65432"))
        }
        let http = ScriptedServer(Texts.creation, Texts.ok)
        _ = try await client(field, http).registerUser(
            "alice", displayName: "Alice", pin: PIN().arculus, afterResetTo: secret("654321"))
        try await field.service().verifyPIN(secret("654321"))
    }

    @Test func tellsTheServerNothingWhenTheCardFails() async throws {
        let http = ScriptedServer(Texts.creation, Texts.ok)
        let field = try await Field()
        await fails(.pinFailed) {
            try await client(field, http).registerUser("alice", displayName: "Alice", pin: PIN("000000").arculus)
        }
        expect(http.asked.count, is: 1)
    }

    @Test func holdsTheServerToItsDescription() async throws {
        let field = try await Field()
        let strange = ScriptedServer(Texts.creation)
        await fails(.unknown) {
            try await client(field, strange, rpID: "example.com")
                .registerUser("alice", displayName: "Alice", pin: PIN().arculus)
        }
        await fails(.unknown) {
            try await client(field, ScriptedServer(Texts.request([], rpID: "example.com")), rpID: "localhost")
                .authenticateUser("alice", pin: PIN().arculus)
        }
        expect(field.connections, is: 0)
        let http = ScriptedServer(Texts.creation, Texts.ok)
        _ = try await client(field, http, rpID: "localhost")
            .registerUser("alice", displayName: "Alice", pin: PIN().arculus)
        // The origin may not ask for this relying party, whatever the server says.
        await fails(.unknown) {
            try await client(field, ScriptedServer(Texts.request([], rpID: "example.com")))
                .authenticateUser("alice", pin: PIN().arculus)
        }
    }

    @Test(arguments: [
        HTTPError.timedOut, .unreachable("x"), .pin(seen: nil), .certificate("x"), .redirected(to: "x", status: 302),
        .tooLarge(limit: 1),
    ])
    func handsOnWhatHTTPSays(_ error: HTTPError) async throws {
        let field = try await Field()
        let http = ScriptedServer(failing: error)
        await #expect(throws: ArculusError.http(error)) {
            try await client(field, http).authenticateUser("alice", pin: PIN().arculus)
        }
        expect(ArculusError.http(error).result.status, is: .failed)
        #expect(ArculusError.http(.cancelled).isCancelled && !ArculusError.http(error).isCancelled)
    }

    @Test(arguments: [
        (
            408, "{\"status\":\"false\",\"errorMessage\":\"E0024R Session expired\"}", ArculusCode.sessionExpired,
            "false"
        ),
        (408, "{}", .sessionExpired, "false"), (408, "<html>", .sessionExpired, "false"),
        (401, "{\"status\":\"failed\",\"errorMessage\":\"E2017R Invalid signature: x\"}", .invalidSignature, "failed"),
        (401, "{\"status\":\"failed\",\"errorMessage\":\"E2019R Unknown credential\"}", .unknownCredential, "failed"),
        (
            200, "{\"status\":\"failed\",\"errorMessage\":\"\",\"statuscode\":\"E9999X\"}", .init(rawValue: "E9999X"),
            "failed"
        ),
        (200, "{\"status\":\"false\",\"statuscode\":507,\"responseCode\":507}", .init(rawValue: "507"), "false"),
        (403, "{\"status\":\"ok\",\"errorMessage\":\"no\"}", .init(rawValue: "403"), "failed"),
        (507, "{\"errorMessage\":\"full\"}", .init(rawValue: "507"), "failed"),
    ])
    func refusals(_ status: Int, _ body: String, _ code: ArculusCode, _ word: String) async throws {
        let http = ScriptedServer(status: status, body)
        let field = try await Field()
        do {
            _ = try await client(field, http).authenticateUser("alice", pin: PIN().arculus)
            Issue.record("it went well")
        } catch {
            guard let error = error as? ArculusError else { throw error }
            expect(error.code, is: code)
            expect(error.result.status.rawValue, is: word)
            expect(error.result.statuscode, is: code.rawValue)
            #expect(!error.result.errorMessage.isEmpty)
        }
    }

    @Test(arguments: [
        "", "<html>", "[]", "1", "{\"status\":\"ok\"}", "{\"status\":\"ok\",\"challenge\":1}", "{\"challenge\":\"AA\"}",
        "{\"status\":\"ok\",\"rp\":{},\"user\":{},\"challenge\":\"\",\"pubKeyCredParams\":[]}",
    ])
    func nonsense(_ body: String) async throws {
        let http = ScriptedServer(status: 200, body, type: "text/html")
        let field = try await Field()
        await fails(.unknown) {
            try await client(field, http).registerUser("alice", displayName: "Alice", pin: PIN().arculus)
        }
        expect(field.connections, is: 0)
    }
}

/// Descriptions of servers, options of backends, codes.
struct DescriptionTests {
    private func read(_ text: String) throws -> ArculusServer { try ArculusServer(parsing: Array(text.utf8)) }

    @Test func describesServers() throws {
        let plain = try read("{\"url\":\"https://fido.example.com/\"}")
        #expect(
            plain.endpoints.registrationBegin.description
                == "https://fido.example.com/fidoapi/certify/attestation/options")
        #expect(plain.origin.description == "https://fido.example.com" && plain.dialect == .arculus)
        #expect(plain.timeout == .seconds(30) && plain.trust.pins.isEmpty)
        let full = try read(
            """
            {"url":"https://10.0.0.1:8443/base","paths":"conformance","rpId":"example.com","timeout":5,"limit":4096,
            "origin":"https://example.com","authorities":"ca.pem","authenticationBeginEndpoint":"/own",
            "authenticationCompleteEndpoint":"https://10.0.0.1:8443/other","registrationBeginEndpoint":"begin",
            "pins":["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],"dialect":"arculus"}
            """)
        expect(full.endpoints.registrationBegin.target, is: "/base/begin")
        expect(full.endpoints.registrationComplete.target, is: "/base/attestation/result")
        expect(full.endpoints.authenticationBegin.target, is: "/base/own")
        expect(full.endpoints.authenticationComplete.target, is: "/other")
        #expect(full.rpID == "example.com" && full.timeout == .seconds(5) && full.limit == 4096)
        #expect(full.trust.authorities == "ca.pem" && full.trust.pins.count == 1 && full.dialect == .arculus)
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"url\":1}", "{\"url\":\"\"}", "{\"url\":\"http://example.com\"}",
        "{\"url\":\"https://1.2.3.4\"}",
        "{\"url\":\"https://a.example\",\"other\":1}", "{\"url\":\"https://a.example\",\"paths\":\"x\"}",
        "{\"url\":\"https://a.example\",\"registrationBeginEndpoint\":\"https://b.example/x\"}",
        "{\"url\":\"https://a.example\",\"timeout\":0}", "{\"url\":\"https://a.example\",\"timeout\":\"1\"}",
        "{\"url\":\"https://a.example\",\"limit\":1}", "{\"url\":\"https://a.example\",\"pins\":\"x\"}",
        "{\"url\":\"https://a.example\",\"pins\":[1]}", "{\"url\":\"https://a.example\",\"pins\":[\"x\"]}",
        "{\"url\":\"https://a.example\",\"origin\":\"http://a.example\"}",
    ])
    func refusesDescriptions(_ text: String) {
        #expect { try read(text) } throws: { error in
            if case ArculusError.configuration = error { true } else { false }
        }
    }

    @Test func refusesOtherThanFourPaths() {
        #expect(throws: ArculusError.configuration("a server has four endpoints")) {
            try ArculusServer("https://a.example", paths: ["/x"])
        }
    }

    @Test func readsBackends() throws {
        let inner = String(Texts.creation)
        for text in [
            inner, "{\"publicKey\":\(inner)}", "{\"options\":\(inner)}", "{\"status\":\"ok\",\"options\":\(inner)}",
        ] {
            let options = try ArculusOptions.creation(fromBackend: Array(text.utf8))
            #expect(options.challenge == challenge && options.user.name == "alice")
        }
        let request = try ArculusOptions.request(fromBackend: Array(Texts.request([[1]]).utf8))
        #expect(request.rpID == "localhost" && request.allowCredentials.count == 1)
        #expect(throws: ArculusError.self) { try ArculusOptions.request(fromBackend: [0xFF]) }
        #expect(throws: ArculusError.self) {
            try ArculusOptions.creation(fromBackend: Array("{\"status\":\"failed\",\"errorMessage\":\"no\"}".utf8))
        }
    }

    @Test func findsCodes() {
        expect(ArculusCode.find(in: "x (E2017R): y"), is: .invalidSignature)
        for text in ["", "E2017", "e2017R", "E20I7R", "XE2017R", "E2017RX", "ÄE2017R2"] {
            expect(ArculusCode.find(in: text), is: nil)
        }
        #expect(ArculusCode.tagLost.number == 600 && ArculusCode.sessionExpired.number == nil)
        expect(ArculusCode(rawValue: "617").description, is: "617")
        expect(ArculusCode.noReader.description, is: "615 (NFC not available)")
        #expect(ArculusResult.ok.json["status"] == "ok" && ArculusResult.ok.status.description == "ok")
    }

    @Test func givesEachCauseItsCode() {
        func code(_ error: FIDOError, _ step: ArculusStep = .registering) -> String {
            ArculusError.card(.key(error), during: step).code.rawValue
        }
        func link(_ error: LinkError) -> FIDOError { .ctap(.link(.device(error))) }
        for lost in [LinkError.removed, .reset, .unresponsive("x"), .noCard(reader: "x")] {
            expect(code(link(lost)), is: "600")
        }
        #expect(
            code(link(.timedOut("x"))) == "607"
                && code(.ctap(.link(.malformed(WireError(.malformed, at: 0, ""))))) == "607")
        #expect(code(link(.noReader)) == "615" && ArculusError.reader(.serviceNotRunning).code == .noReader)
        #expect(code(.noCredentials) == "602" && code(.full) == "606" && code(.pinBlocked) == "608")
        #expect(code(.pinRefused, .settingPIN) == "611" && code(.pinAlreadySet) == "611")
        #expect(code(.denied, .authenticating) == "604" && code(.notAllowed("reset"), .resetting) == "605")
        #expect(code(.denied, .settingPIN) == "611" && code(.denied) == "601")
        expect(code(.ctap(.status(.invalidParameter, during: "clientPIN getKeyAgreement"))), is: "609")
        expect(
            code(.ctap(.malformed(WireError(.malformed, at: 0, ""), during: "clientPIN getKeyAgreement"))), is: "609")
        let all: [ArculusError] = [
            .card(.noneChosen, during: .authenticating), .card(.noKnownAlgorithm, during: .registering),
            .reader(.timedOut("x")), .otherCard, .notArculus([]), .pinInDoubt(PINRetries(count: 1)), .changeInDoubt,
            .unsuitablePIN(.notDigits), .unsuitablePIN(.tooShort(1)), .reply("x"), .configuration("y"),
            .http(.timedOut), .card(.key(.full), during: .resetting), .card(.key(.full), during: .settingPIN),
            .card(.key(.full), during: .opening),
        ]
        expect(Set(all.map(\.result.errorMessage)).count, is: all.count)
        #expect(all.allSatisfy { $0.result.status == .failed && !$0.result.statuscode.isEmpty })
    }
}
