// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKHTTP
import YKTestSupport
import YKTransport
import YKWire

@testable import YKRelyingParty

/// A browser with the page of a trial open, and a client in it.
private final class Browser {
    private static let host = "localhost:8000"
    private static let origin = "http://localhost:8000"
    let clock = Clock()
    let site: TrialSite
    private let path: String
    private var cookie: String?
    let client: WebAuthnClient

    init(_ steps: [TrialStep], pin: String? = nil) async throws {
        site = TrialSite(steps, ServiceEnvironment(clock: clock)) { _ in }
        path = String(try site.open(at: 8000).dropFirst(Self.origin.count))
        client = try await VirtualClient.open(pin: pin, origin: Self.origin).client
    }

    /// Sends a request with a browser's header fields, except as given; an empty one is left out.
    func send(
        _ method: String, _ target: String, _ body: JSONValue? = nil, _ fields: [String: String] = [:]
    ) throws
        -> HTTPResponse
    {
        var all = ["Host": Self.host, "User-Agent": "a test"]
        all["Cookie"] = cookie
        if method == "POST" { all.merge(["Origin": Self.origin, "Content-Type": "application/json"]) { $1 } }
        all.merge(fields) { $1 }
        let text = body?.text ?? ""
        if method == "POST" { all["Content-Length"] = "\(text.utf8.count)" }
        let lines = all.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.joined()
        var reader = IncomingRequestReader()
        guard case .complete(let request) = reader.take("\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\(text)".utf8)
        else {
            throw BrowserError.badRequest
        }
        return site.answer(request)
    }

    func open() throws -> HTTPResponse {
        let page = try send("GET", path)
        cookie = page.fields.values(of: "Set-Cookie").first.flatMap { $0.split(separator: ";").first.map(String.init) }
        return page
    }

    func reload() throws -> HTTPResponse { try send("GET", path) }

    func post(_ path: String, _ body: JSONValue) throws -> JSONValue {
        let reply = try send("POST", path, body)
        return reply.status == 200 ? try JSONValue(parsing: reply.body) : .int(Int64(reply.status))
    }

    /// Does what the page's script does.
    func run(_ step: TrialStep, _ change: (inout JSONValue) -> Void = { _ in }) async throws -> TrialResult? {
        let name = JSONValue.string(step.rawValue)
        guard let options = try post("/begin", ["step": name])["publicKey"] else { return result(step) }
        let finished: JSONValue
        do {
            var answer = try await credential(options)
            change(&answer)
            finished = ["step": name, "credential": answer]
        } catch let error as WebAuthnError {
            finished = ["step": name, "error": .string(error.name.rawValue)]
        }
        _ = try post("/finish", finished)
        return result(step)
    }

    private func result(_ step: TrialStep) -> TrialResult? { site.results.first { $0.step == step } }

    private func credential(_ options: JSONValue) async throws -> JSONValue {
        if options["rp"] != nil {
            return try await client.create(PublicKeyCredentialCreationOptions(json: options)).json
        }
        let wanted = try PublicKeyCredentialRequestOptions(json: options)
        guard var answer = try await client.get(wanted).first?.json.object else { return .null }
        if var results = answer["clientExtensionResults"]?.object, let made = results["prf"]?["results"]?.object {
            let secrets = try made.members.map { try Base64.decode($0.value.string ?? "") }
            results["prf"] = [
                "lengths": .array(secrets.map { .int(Int64($0.count)) }), "different": .bool(Set(secrets).count == 2),
            ]
            answer["clientExtensionResults"] = .object(results)
        }
        return .object(answer)
    }

    func fail(_ step: TrialStep, _ error: String) throws -> TrialResult? {
        _ = try post("/begin", ["step": .string(step.rawValue)])
        _ = try post("/finish", ["step": .string(step.rawValue), "error": .string(error)])
        return result(step)
    }
}

private enum BrowserError: Error { case badRequest }

/// Trials with the virtual key, without sockets.
struct TrialTests {
    @Test func passes() async throws {
        let browser = try await Browser(TrialStep.basic)
        try expect(browser.open().status, is: 200)
        let made = try #require(try await browser.run(.signUp))
        let credential = try #require(made.response?.credential)
        #expect(made.outcome == .passed && made.reason == nil && credential.algorithm == .es256)
        #expect(credential.aaguid.count == 16 && made.response?.flags.names == ["UP", "AT"])
        #expect(!browser.site.isOver)
        let signed = try #require(try await browser.run(.signIn))
        #expect(signed.outcome == .passed && signed.response?.credential == nil)
        expect(signed.response?.credentialID, is: made.response?.credentialID)
        let again = try #require(try await browser.run(.signUpAgain))
        #expect(again.outcome == .passed && again.response == nil && browser.site.isOver)
        #expect(browser.site.results.map(\.step) == TrialStep.basic && browser.site.userAgent == "a test")
        try expect(browser.send("POST", "/begin", ["step": "sign-in"]).status, is: 409)
    }

    @Test func passesEveryStep() async throws {
        let browser = try await Browser(TrialStep.allCases, pin: "12345")
        _ = try browser.open()
        #expect(try await browser.run(.largeBlobRead) == nil)
        for step in TrialStep.allCases {
            let result = try #require(try await browser.run(step))
            expect(result.outcome, is: .passed, "\(step.rawValue): \(result.reason?.description ?? "")")
        }
        let results = Dictionary(uniqueKeysWithValues: browser.site.results.map { ($0.step, $0) })
        expect(results[.pin]?.response?.flags.userState, is: "present, verified")
        expect(results[.attestation]?.response?.credential?.trust.name(isAnchored: false), is: "certificates")
        expect(results[.prf]?.response?.extensions["prf"], is: ["lengths": [32, 32], "different": true])
        let rows = results.mapValues { TrialPage.details(of: $0).map { "\($0.name): \($0.words)" } }
        #expect(rows.values.joined().allSatisfy { !$0.contains("{") })
        expect(rows[.signUp]?.contains("attestation: none"), is: true)
        expect(rows[.signUp]?.contains { $0.hasPrefix("model: AAGUID ") }, is: true)
        expect(rows[.passkey]?.contains("stored on the key: yes"), is: true)
        expect(rows[.passkey]?.contains("data (largeBlob): supported"), is: true)
        expect(rows[.largeBlobWrite]?.contains("data: stored"), is: true)
        expect(rows[.attestation]?.contains { $0.hasPrefix("attestation: packed, signed by ") }, is: true)
        expect(browser.site.passkey?.id, is: results[.passkey]?.response?.credentialID)
        expect(browser.site.passkey?.account.hasPrefix("ykit try "), is: true)
    }

    @Test func opensOnce() async throws {
        let browser = try await Browser([.signUp])
        try expect(browser.send("POST", "/begin", ["step": "sign-up"]).status, is: 404)
        try expect(browser.send("GET", "/").status, is: 404)
        let page = try browser.open()
        let text = String(decoding: page.body, as: UTF8.self)
        expect(page.fields.values(of: "Set-Cookie").first?.hasSuffix("; HttpOnly; SameSite=Strict; Path=/"), is: true)
        #expect(!text.contains("http:") && !text.contains("src="))
        let reloaded = try browser.reload()
        #expect(reloaded.status == 200 && reloaded.fields.values(of: "Set-Cookie").isEmpty)
        #expect(reloaded.body != page.body)
        for (field, value, status) in [
            ("Cookie", "", 404), ("Cookie", "ykit-try=x", 404), ("Host", "127.0.0.1:8000", 403), ("Host", "", 403),
            ("Origin", "null", 403), ("Origin", "", 403), ("Content-Type", "text/plain", 415),
        ] {
            let refused = try browser.send("POST", "/begin", ["step": "sign-up"], [field: value])
            expect(refused.status, is: status, "\(field): \(value)")
        }
        try expect(browser.send("GET", "/begin").status, is: 405)
        try expect(browser.send("POST", "/other", [:]).status, is: 404)
        for body: JSONValue in [[:], [], ["step": "x"], ["step": 1]] {
            try expect(browser.send("POST", "/begin", body).status, is: 400)
        }
        try expect(browser.send("POST", "/finish", ["step": "sign-up"]).status, is: 400)
        try expect(browser.send("POST", "/finish", ["step": "sign-up", "error": "x"]).status, is: 409)
        #expect(try browser.post("/end", [:]) == ["over": true] && browser.site.isOver)
    }

    @Test(
        arguments: [
            ("NotAllowedError", .unanswered), ("SecurityError", .failed), ("", .failed),
            ("ConstraintError", .unsupported), ("NotSupportedError", .unsupported), ("no-webauthn", .unsupported),
        ] as [(String, TrialResult.Outcome)])
    func readsBrowserErrors(_ name: String, _ outcome: TrialResult.Outcome) async throws {
        let browser = try await Browser(TrialStep.basic)
        _ = try browser.open()
        let result = try #require(try browser.fail(.signUp, name))
        #expect(result.outcome == outcome && (result.hint != nil) == (outcome == .unanswered))
        expect(result.reason?.description.isEmpty, is: false)
        let next = try await browser.run(.signIn)
        expect(next?.reason, is: (outcome == .unsupported ? .prerequisite(.signUp) : nil))
    }

    @Test func refusesWrongAnswers() async throws {
        let browser = try await Browser([.signUp, .signIn, .signUpAgain, .pin, .prf], pin: "12345")
        _ = try browser.open()
        let malformed = try await browser.run(.signUp) { $0 = ["id": 1] }
        expect(malformed?.outcome, is: .failed)
        try await expect(browser.run(.signUp)?.outcome, is: .passed)
        var kept: JSONValue = .null
        let unsigned = try await browser.run(.signIn) { answer in
            kept = answer
            guard var object = answer.object, var response = object["response"]?.object else { return }
            response["signature"] = "MAA"
            object["response"] = .object(response)
            answer = .object(object)
        }
        guard case .ceremony(.signature) = unsigned?.reason else { throw BrowserError.badRequest }
        try await expect(browser.run(.signIn) { $0 = kept }?.reason, is: .ceremony(.challenge))
        let other = try await browser.run(.signIn) { answer in
            guard var object = answer.object else { return }
            (object["id"], object["rawId"]) = ("AQ", "AQ")
            answer = .object(object)
        }
        #expect(other?.reason == .otherCredential && other?.hint == nil)
        try expect(browser.fail(.pin, "NotAllowedError")?.hint?.contains("PIN"), is: true)
        let shortened = try await browser.run(.prf) { answer in
            guard var object = answer.object, var results = object["clientExtensionResults"]?.object else { return }
            results["prf"] = ["lengths": [32, 16], "different": true]
            object["clientExtensionResults"] = .object(results)
            answer = .object(object)
        }
        expect(shortened?.reason, is: .badSecrets)
        let silent = try await browser.run(.prf) { answer in
            guard var object = answer.object else { return }
            object["clientExtensionResults"] = [:]
            answer = .object(object)
        }
        #expect(silent?.reason == .noExtension("prf") && silent?.outcome == .unsupported)
    }

    @Test func refusesLateAnswers() async throws {
        let browser = try await Browser([.signUp])
        _ = try browser.open()
        let clock = browser.clock
        try await expect(browser.run(.signUp) { _ in clock.advance(100_000) }?.reason, is: .ceremony(.expired))
    }

    @Test func servesLocally() throws {
        let server = try TrialServer(TrialStep.basic) { _ in }
        #expect(server.url.hasPrefix(server.origin + "/") && server.origin.hasPrefix("http://localhost:"))
        #expect(!server.isOver && server.results.isEmpty && server.userAgent == nil && server.passkey == nil)
        server.stop()
    }

    @Test func describesEveryProblem() {
        let problems: [TrialProblem] = [
            .prerequisite(.signUp), .noExtension("prf"), .registeredTwice, .notDiscoverable, .attestationWithheld,
            .otherCredential, .badSecrets, .badBlob, .ceremony(.expired), .browser(.type),
        ]
        expect(Set(problems.map(\.description)).count, is: problems.count)
        expect(problems.map { TrialResult(.passkeySignIn, $0) }.filter { $0.hint != nil }.count, is: 2)
        #expect(TrialProblem.badBlob.outcome == .failed && TrialProblem.notDiscoverable.outcome == .unsupported)
    }
}
