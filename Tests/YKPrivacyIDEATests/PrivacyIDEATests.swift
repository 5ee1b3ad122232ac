// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKHTTP
import YKPrivacyIDEA
import YKTestSupport
import YKTransport
import YKWire

@Suite struct EnvelopeTests {
    private func json(_ status: Int, _ body: String, type: String = "application/json") -> HTTPResponse {
        HTTPResponse(status: status, fields: [HTTPField("Content-Type", type)], body: Array(body.utf8))
    }

    private func error(_ response: HTTPResponse) -> ServerError? {
        do {
            _ = try PrivacyIDEAAnswer(response)
            return nil
        } catch { return error }
    }

    @Test func readsRecordedAnswers() throws {
        let exchange = try Exchange("15-sms")
        let challenge = try PrivacyIDEAAnswer(try exchange.answer("service starts"))
        expect(challenge.authentication, is: .challenge)
        expect(challenge.transactionID, is: "12919338928056190769")
        expect(challenge.serial, is: "PISM00008763")
        expect(challenge.message, is: "Enter the OTP from the SMS:")
        expect(challenge.value, is: false)
        #expect(challenge.time ?? 0 > 1_795_000_000)
        try expect(PrivacyIDEAAnswer(try exchange.answer("wrong")).authentication, is: .reject)
        try expect(PrivacyIDEAAnswer(try exchange.answer("right")).authentication, is: .accept)
    }

    @Test func keepsTheServersErrorCodes() throws {
        let exchange = try Exchange("01-auth")
        #expect(
            error(try exchange.answer("wrong password"))
                == .refused(status: 401, code: 4031, message: "Authentication failed."))
        #expect(
            error(try exchange.answer("unknown serial"))
                == .refused(status: 404, code: 601, message: "No token found for serials: NOSUCH"))
        let page = try #require(exchange.steps.first { $0.response.type == "text/html" })
        expect(error(page.response), is: .status(405))
    }

    @Test func everyRecordedAnswerIsReadOrRefused() throws {
        let folder = try #require(Bundle.module.url(forResource: "exchanges", withExtension: nil))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        expect(files.count, is: 32)
        var read = 0
        for file in files {
            for step in try Exchange(String(file.dropLast(5))).steps where step.response.type == "application/json" {
                do {
                    _ = try PrivacyIDEAAnswer(step.response)
                    expect(step.response.status, is: 200)
                    read += 1
                } catch .refused(let status, let code, _) {
                    #expect(status == step.response.status && status >= 400 && code != 0)
                } catch {
                    // The metadata of TiQR have no envelope.
                    #expect(step.path.contains("action=metadata"), "\(file): \(step.note): \(error)")
                }
            }
        }
        #expect(read > 300)
    }

    @Test(arguments: [
        "", "{", "[]", "null", "{}", "{\"result\":null}", "{\"result\":{}}", "{\"result\":{\"status\":1}}",
        "{\"result\":{\"status\":false}}", "{\"result\":{\"status\":false,\"error\":{\"code\":\"905\"}}}",
        "{\"result\":{\"status\":true},\"result\":{\"status\":true}}", "{\"result\":{\"status\":true}} x",
        String(repeating: "[", count: 100_000),
    ])
    func refusesWhatIsNoEnvelope(_ body: String) {
        guard case .malformed? = error(json(200, body)) else {
            Issue.record("\(body.prefix(60)) was read")
            return
        }
    }

    @Test func refusesOtherTypesBeforeReading() {
        let good = "{\"result\":{\"status\":true,\"value\":true}}"
        expect(error(json(200, good)), is: nil)
        expect(error(json(200, good, type: "application/json; charset=utf-8")), is: nil)
        expect(error(json(200, good, type: "text/html")), is: .malformed("the answer is text/html, not JSON"))
        expect(
            error(HTTPResponse(status: 200, body: Array(good.utf8))),
            is: .malformed("the answer is of no type, not JSON")
        )
        expect(error(json(500, "<html>", type: "text/html")), is: .status(500))
        expect(error(json(502, "", type: "text/plain")), is: .status(502))
        expect(error(json(500, good)), is: .status(500))
        expect(error(json(503, "{\"error\":\"busy\"}")), is: .status(503))
        expect(error(json(429, "[]")), is: .status(429))
        expect(error(json(502, "{\"error\":")), is: .status(502))
        expect(error(json(502, "")), is: .status(502))
    }

    @Test func readsCookiesAndDate() throws {
        let response = HTTPResponse(
            status: 200,
            fields: [
                HTTPField("content-type", "application/json"), HTTPField("Date", "Sun, 22 Nov 2026 04:23:49 GMT"),
                HTTPField("Set-Cookie", "pi_remember_device=abc:1; Secure; HttpOnly"), HTTPField("Set-Cookie", "junk"),
            ], body: Array("{\"result\":{\"status\":true},\"unknown\":1}".utf8))
        let answer = try PrivacyIDEAAnswer(response)
        expect(answer.cookies, is: ["pi_remember_device": "abc:1"])
        expect(answer.date, is: 1_795_321_429)
        #expect(answer.value == .null && answer.detail == .null && answer.authentication == nil && answer.time == nil)
    }
}

@Suite struct SignatureTests {
    private let key: PublicKey
    private let answers: [JSONValue]

    init() throws {
        let json = try JSONValue(parsing: try Fixture.bytes("signed", "json"))
        let pem = try #require(json["auditKey"]?.string)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }
        key = try PublicKey(subjectPublicKeyInfo: try Base64.decode(lines.joined()))
        answers = try #require(json["answers"]?.array)
    }

    private func response(_ answer: JSONValue, _ body: JSONValue? = nil) -> HTTPResponse {
        HTTPResponse(
            status: Int(answer["status"]?.int ?? 0), fields: [HTTPField("Content-Type", "application/json")],
            body: Array((body ?? answer["body"] ?? .null).text.utf8))
    }

    /// What reading an answer throws, apart from the server's refusal.
    private func fault(_ response: HTTPResponse, _ nonce: String?) -> ServerError? {
        do {
            _ = try PrivacyIDEAAnswer(response, auditKey: key, nonce: nonce)
            return nil
        } catch {
            if case .refused = error { return nil }
            return error
        }
    }

    @Test func verifiesAnswersOfTheServer() {
        #expect(answers.count >= 16)
        for answer in answers { expect(fault(response(answer), answer["nonce"]?.string), is: nil, "\(answer)") }
    }

    @Test func refusesAlteredAnswers() throws {
        for answer in answers {
            let nonce = answer["nonce"]?.string
            let body = try #require(answer["body"]?.object)
            for key in ["result", "time", "signature", "nonce"] {
                var altered = body
                altered[key] = nil
                let response = response(answer, .object(altered))
                let isSuccess = (200...299).contains(response.status)
                let foreign =
                    isSuccess ? ServerError.malformed("the answer has no result") : .status(response.status)
                expect(fault(response, nonce), is: (key == "result" ? foreign : .signature))
            }
            var altered = body
            altered["added"] = true
            expect(fault(response(answer, .object(altered)), nonce), is: .signature)
            expect(fault(response(answer), "another nonce"), is: .signature)
            expect(fault(response(answer), nil), is: .signature)
        }
    }

    @Test func writesAsPythonDoes() throws {
        let value = try JSONValue(
            parsing: "{\"b\":[1,-2.5,true,null],\"ä\":\"\\u0001\\u007f/\\\"\\\\\\b\\f\\n\\r\\t€😀\",\"a\":{}}")
        let wanted =
            "{\"a\": {}, \"b\": [1, -2.5, true, null], \"\\u00e4\": "
            + "\"\\u0001\\u007f/\\\"\\\\\\b\\f\\n\\r\\t\\u20ac\\ud83d\\ude00\"}"
        expect(String(decoding: value.pythonText, as: UTF8.self), is: wanted)
    }
}

@Suite struct RequestTests {
    private static let answer = HTTPResponse(
        status: 200, fields: [HTTPField("Content-Type", "application/json")],
        body: Array("{\"result\":{\"status\":true,\"value\":1}}".utf8))

    private func client(_ http: ScriptedServer, _ url: String = "https://localhost:8443/pi/") throws -> PrivacyIDEA {
        PrivacyIDEA(try HTTPURL(url), http, CountingRandom())
    }

    @Test func writesJSONFormsAndQueries() async throws {
        let http = ScriptedServer([Self.answer, Self.answer, Self.answer, Self.answer])
        let client = try client(http)
        let parameters: JSONValue = ["user": "käthe b", "genkey": 1, "pin": nil, "on": true]
        _ = try await client.call(.post, "/token/init", parameters)
        _ = try await client.call(.post, "/validate/check", parameters, as: .form)
        _ = try await client.call(.get, "/token/", parameters)
        _ = try await client.call(.delete, "/token/A?x=1", ["y": 2])
        let sent = await http.requests
        expect(sent.map(\.method), is: [.post, .post, .get, .delete])
        expect(sent[0].body, is: Array("{\"user\":\"käthe b\",\"genkey\":1,\"on\":true}".utf8))
        expect(sent[1].body, is: Array("user=k%C3%A4the%20b&genkey=1&on=true".utf8))
        expect(sent[1].fields.values(of: "Content-Type"), is: ["application/x-www-form-urlencoded"])
        expect(sent[2].url.target, is: "/pi/token/?user=k%C3%A4the%20b&genkey=1&on=true")
        #expect(sent[2].body == nil && sent[2].fields.values(of: "Content-Type") == [])
        expect(sent[3].url.target, is: "/pi/token/A?x=1&y=2")
    }

    @Test func namesWhoAsks() async throws {
        let http = ScriptedServer([Self.answer, Self.answer, Self.answer])
        var client = try client(http)
        client.origin = "https://localhost:8443"
        client.credentials = .token(SharedSecret(Secret(utf8: "ey.token")))
        client.apiKey = SharedSecret(Secret(utf8: "pi_1"))
        _ = try await client.call(.get, "/token/")
        client.credentials = .apiKey(SharedSecret(Secret(utf8: "pi_2")))
        client.apiKey = nil
        _ = try await client.call(.get, "/token/", fields: [HTTPField("Cookie", "a=b")])
        client.credentials = .none
        client.origin = nil
        _ = try await client.call(.get, "")
        let sent = await http.requests
        expect(sent[0].fields.values(of: "Authorization"), is: ["ey.token"])
        expect(sent[0].fields.values(of: "X-API-Key"), is: ["pi_1"])
        expect(sent[0].fields.values(of: "Origin"), is: ["https://localhost:8443"])
        #expect(sent[1].fields.values(of: "X-API-Key") == ["pi_2"] && sent[1].fields.values(of: "Cookie") == ["a=b"])
        #expect(sent[2].fields.map(\.name) == ["Accept"] && sent[2].url.target == "/pi/")
    }

    @Test func sendsANonceWithAnAuditKey() async throws {
        let http = ScriptedServer([Self.answer, Self.answer])
        var client = try client(http)
        client.auditKey = .ed25519([UInt8](repeating: 0, count: 32))
        await #expect(throws: ServerError.signature) { _ = try await client.call(.get, "/token/") }
        await #expect(throws: ServerError.signature) { _ = try await client.call(.post, "", ["nonce": "own"]) }
        let sent = await http.requests
        expect(sent[0].url.target, is: "/pi/token/?nonce=000102030405060708090a0b0c0d0e0f")
        expect(sent[1].body, is: Array("{\"nonce\":\"own\"}".utf8))
    }

    @Test(arguments: [HTTPError.timedOut, .tooLarge(limit: 10), .redirected(to: "https://evil.example/", status: 302)])
    func passesOnWhatHTTPReports(_ error: HTTPError) async throws {
        let client = try client(ScriptedServer(failing: error))
        await #expect(throws: ServerError.http(error)) { _ = try await client.call(.get, "/token/") }
    }
}
