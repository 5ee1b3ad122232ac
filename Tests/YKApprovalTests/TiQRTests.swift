// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKPrivacyIDEA
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// TiQR against the answers of a real server.
struct TiQRTests {
    private func flow() throws -> RecordedFlow { try RecordedFlow("10-tiqr") }

    private func enrolment(
        _ server: ScriptedServer, _ link: String? = nil
    ) async throws -> (TiQRClient, TiQREnrolment) {
        let text = try link ?? #require(try flow().value("tiqrenroll").string)
        let client = TiQRClient(server, CountingRandom())
        return (client, try await client.enrolment(TiQREnrolmentLink(text), at: 1_700_000_000))
    }

    private func account() async throws -> (ScriptedServer, TiQRAccount) {
        let server = ScriptedServer(try flow().answer("device reads the metadata"))
        return (server, try await enrolment(server).1.account)
    }

    @Test func enrolment() async throws {
        let recorded = try flow()
        let server = ScriptedServer(try recorded.answer("device reads the metadata"), .text("OK"))
        let (client, enrolment) = try await enrolment(server)
        let account = enrolment.account
        expect(account.service, is: "org.privacyidea")
        expect(account.identity, is: "alice_test")
        expect(account.identityName, is: "Alice Test")
        expect(account.account.id, is: "TiQR0000C38F@localhost:35869")
        expect(account.account.issuer, is: "privacyIDEA")
        expect(account.suite.description, is: "OCRA-1:HOTP-SHA1-6:QN10")
        expect(TiQRAccount(account.stored), is: account)
        let secret = try client.secret()
        expect(secret.value.count, is: TiQRClient.secretSize)
        try await client.register(secret.value, at: enrolment.url)
        let sent = try recorded.sent("device sends its secret")
        for name in ["operation", "secret", "language", "notificationType", "notificationAddress"] {
            expect(server.form(1)[name], is: sent[name]?.string, "\(name)")
        }
        #expect(server.requests[1].url.target.hasPrefix("/ttype/tiqr?action=enrollment&session="))
    }

    @Test func login() async throws {
        let (_, account) = try await account()
        let recorded = try flow()
        let secret = Secret(try Hex.decode(try #require(try recorded.value("secret").string)))
        let server = ScriptedServer(
            try recorded.answer("right"), try recorded.answer("wrong"), try recorded.answer("unknown session"))
        let client = TiQRClient(server, CountingRandom())
        let link = try TiQRLogin(
            "tiqrauth://alice_test@org.privacyidea/12104773739052895913/3301488315/privacyIDEA")
        expect(link.name, is: "privacyIDEA")
        try expect(client.response(to: link, account, secret), is: "864739")
        try await expect(client.answer(link, account, secret), is: .accepted)
        let sent = try recorded.sent("right")
        for name in ["sessionKey", "userId", "response", "operation", "language"] {
            expect(server.form(0)[name], is: sent[name]?.string, "\(name)")
        }
        expect(server.requests[0].url, is: account.url)
        try await expect(client.answer(link, account, secret), is: .wrong(triesLeft: 9))
        try await expect(client.answer(link, account, secret), is: .unknownChallenge)
    }

    @Test("Links as TiQR's own server writes them")
    func otherLinks() throws {
        let web = "https://eduid.example/tiqrauth/?u=alice&s=00ff&q=0123456789&i=eduid.example&v=2"
        guard case .tiqrLogin(let login) = try ApprovalLink(web) else {
            Issue.record("no login")
            return
        }
        #expect(login.identity == "alice" && login.service == "eduid.example")
        #expect(login.session == "00ff" && login.challenge == "0123456789")
        let enrolment = "https://eduid.example/tiqrenroll/?metadata=https%3A%2F%2Feduid.example%2Fmetadata%3Fkey%3D1"
        guard case .tiqrEnrolment(let link) = try ApprovalLink(enrolment) else {
            Issue.record("no enrolment")
            return
        }
        expect(link.metadata.description, is: "https://eduid.example/metadata?key=1")
        #expect(throws: ApprovalError.self) { try ApprovalLink("https://eduid.example/tiqrauth/") }
        try expect(TiQRLogin("tiqrauth://alice@org/1/2/My Service").name, is: "My Service")
    }

    @Test func otherServiceOrPersonIsNotAnswered() async throws {
        let (_, account) = try await account()
        let server = ScriptedServer(.text("OK"))
        let client = TiQRClient(server, CountingRandom())
        for text in ["tiqrauth://alice_test@org.example/1/2/x", "tiqrauth://bob@org.privacyidea/1/2/x"] {
            let login = try TiQRLogin(text)
            await #expect(throws: ApprovalError.self) { try await client.answer(login, account, Secret([1])) }
        }
        #expect(server.requests.isEmpty)
    }

    @Test(
        arguments: [
            ("OK", TiQRResult.accepted), ("OK\n", .accepted), ("INVALID_RESPONSE", .wrong(triesLeft: nil)),
            ("INVALID_USERID", .unknownIdentity), ("INVALID_USER", .unknownIdentity),
            ("ACCOUNT_BLOCKED", .blocked(for: nil)),
            ("ACCOUNT_BLOCKED:30", .blocked(for: .seconds(1800))), ("INVALID_REQUEST", .other("INVALID_REQUEST")),
        ])
    func results(_ text: String, _ result: TiQRResult) throws { try expect(TiQRResult(Array(text.utf8)), is: result) }

    @Test(arguments: ["", "<html>OK</html>", "OKAY", "OK\u{1B}[2J", String(repeating: "A", count: 65)])
    func noResults(_ text: String) { #expect(throws: ApprovalError.self) { try TiQRResult(Array(text.utf8)) } }

    /// The metadata with one member changed.
    private func metadata(_ object: String, _ name: String, _ value: JSONValue?) throws -> HTTPResponse {
        let body = try flow().answer("device reads the metadata").body
        var json = try #require(try JSONValue(parsing: body).object)
        var inner = try #require(json[object]?.object)
        inner[name] = value
        json[object] = .object(inner)
        return .json(.object(json))
    }

    @Test(
        arguments: [
            ("service", "authenticationUrl", JSONValue.string("https://evil.example/ttype/tiqr")),
            ("service", "enrollmentUrl", "https://localhost:1/ttype/tiqr"),
            ("service", "enrollmentUrl", "ftp://localhost/"), ("service", "ocraSuite", "OCRA-1:HOTP-SHA1-6:C-QN08"),
            ("service", "ocraSuite", "OCRA-1:HOTP-SHA1-6:QN08-T1M"), ("service", "ocraSuite", 1),
            ("service", "identifier", ""), ("identity", "identifier", nil),
        ])
    func metadataThatIsRefused(_ object: String, _ name: String, _ value: JSONValue?) async throws {
        let server = ScriptedServer(try metadata(object, name, value))
        await #expect(throws: ApprovalError.self) { try await enrolment(server) }
    }

    @Test func answersThatAreNone() async throws {
        let html = HTTPResponse(
            status: 200, fields: [HTTPField("Content-Type", "text/html")], body: Array("<html>".utf8))
        let redirect = HTTPResponse(status: 302, fields: [HTTPField("Location", "https://evil.example/")])
        for answer in [html, .text("{}"), .json("text"), .refusal(905), HTTPResponse(status: 500), redirect] {
            await #expect(throws: ApprovalError.self) { try await enrolment(ScriptedServer(answer)) }
        }
        await #expect(throws: ApprovalError.server(.http(.timedOut))) { try await enrolment(ScriptedServer([])) }
        await #expect(throws: ApprovalError.server(.refused(status: 400, code: 905, message: "ERR905: no"))) {
            try await enrolment(ScriptedServer(.refusal(905)))
        }
        let server = ScriptedServer(try flow().answer("device reads the metadata"), .text("NO"))
        let (client, found) = try await enrolment(server)
        await #expect(throws: ApprovalError.self) { try await client.register(Secret([1]), at: found.url) }
        #expect(throws: ApprovalError.random) { try TiQRClient(server, FailingRandom()).secret() }
    }

    @Test(
        arguments: [
            "tiqrauth://", "tiqrauth://a@b", "tiqrauth://a@b/1", "tiqrauth://a@b@c/1/2/x", "tiqrauth://@b/1/2/x",
            "tiqrauth:///1/2/x", "tiqrauth://a@b//2/x", "tiqrauth://a@b/1//x", "tiqrauth://a%ZZ@b/1/2/x",
            "tiqrenroll://a@b/1/2/x", "tiqrauth://a@b/1/2/3/4/5",
        ])
    func badLogins(_ text: String) { #expect(throws: ApprovalError.self) { try TiQRLogin(text) } }

    @Test func plusInAnIdentity() throws {
        let login = try TiQRLogin("tiqrauth://alice+a%2Bb@org/1/2/My+Service")
        expect(login.identity, is: "alice a+b")
        expect(login.name, is: "My Service")
        try expect(TiQRLogin("tiqrauth://org/1/2").identity, is: nil)
    }

    @Test(arguments: ["", "tiqrauth://a", "tiqrenroll://", "tiqrenroll://http://example.com/", "tiqrenroll://x"])
    func badEnrolmentLinks(_ text: String) { #expect(throws: ApprovalError.self) { try TiQREnrolmentLink(text) } }
}
