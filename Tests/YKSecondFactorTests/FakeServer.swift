// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKFIDO
import YKHTTP
import YKPrivacyIDEA
import YKSecondFactor
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Answers by method and path, in order; what was recorded of a real server, or made up for a test.
actor FakeServer: HTTPClient {
    private var answers: [String: [HTTPResponse]] = [:]
    private(set) var requests: [HTTPRequest] = []
    /// What happens to requests other than GET.
    private var writeError: HTTPError?

    /// The requests as words, such as `POST /token/init`.
    var asked: [String] { requests.map { "\($0.method.rawValue) \($0.url.target.prefix { $0 != "?" })" } }

    func on(_ request: String, _ answers: HTTPResponse...) { self.answers[request, default: []] += answers }

    func failWrites(with error: HTTPError) { writeError = error }

    func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        requests.append(request)
        if let writeError, request.method != .get { throw writeError }
        let words = "\(request.method.rawValue) \(request.url.target.prefix { $0 != "?" })"
        guard var left = answers[words], let next = left.first else { throw .unreachable("nothing for \(words)") }
        left.removeFirst()
        // The last answer stays.
        if !left.isEmpty { answers[words] = left }
        return next
    }

    /// The recorded step whose note begins so; the step without a note for an empty one.
    static func step(_ flow: String, _ note: String, skipping: Int = 0) throws -> JSONValue {
        let json = try JSONValue(parsing: Recordings.text("Tests/YKPrivacyIDEATests/exchanges/\(flow).json"))
        let steps = try #require(json["steps"]?.array).filter { step in
            let found = step["note"]?.string ?? ""
            return step["request"] != nil && (note.isEmpty ? found.isEmpty : found.hasPrefix(note))
        }
        return try #require(steps.dropFirst(skipping).first)
    }

    /// What was sent in a recorded step.
    static func request(_ flow: String, _ note: String) throws -> JSONValue {
        let request = try #require(try step(flow, note)["request"])
        return try #require(request["json"] ?? request["data"])
    }

    /// A member of the form or JSON of the last request like this.
    func sent(_ name: String, in request: String) -> String? {
        let found = requests.last { "\($0.method.rawValue) \($0.url.target.prefix { $0 != "?" })" == request }
        guard let body = found?.body else { return nil }
        if let json = try? JSONValue(parsing: body) { return json[name]?.string ?? json[name]?.text }
        let pairs = String(decoding: body, as: UTF8.self).split(separator: "&")
        let pair = pairs.first { $0.hasPrefix(name + "=") }
        return pair.flatMap { PercentEncoding.decode($0.dropFirst(name.count + 1)) }
    }
}

extension HTTPResponse {
    static func json(_ body: JSONValue, status: Int = 200, cookie: String? = nil) -> HTTPResponse {
        var fields = [HTTPField("Content-Type", "application/json")]
        if let cookie { fields.append(HTTPField("Set-Cookie", "pi_remember_device=\(cookie); Secure; HttpOnly")) }
        return HTTPResponse(status: status, fields: fields, body: Array(body.text.utf8))
    }

    static func value(_ value: JSONValue, detail: JSONValue = .null, cookie: String? = nil) -> HTTPResponse {
        .json(["result": ["status": true, "value": value], "detail": detail], cookie: cookie)
    }

    static func decision(_ word: String, detail: JSONValue = [:], cookie: String? = nil) -> HTTPResponse {
        .json(
            [
                "result": ["status": true, "value": .bool(word == "ACCEPT"), "authentication": .string(word)],
                "detail": detail,
            ],
            cookie: cookie)
    }

    static func refused(_ status: Int, _ code: Int64, _ message: String = "no") -> HTTPResponse {
        .json(
            ["result": ["status": false, "error": ["code": .int(code), "message": .string(message)]]], status: status)
    }

    static func tokens(_ tokens: JSONValue...) -> HTTPResponse {
        .value(["count": .int(Int64(tokens.count)), "tokens": .array(tokens)])
    }

    /// The answer of a recorded step, by the note that it begins with.
    static func recorded(_ flow: String, _ note: String, skipping: Int = 0) throws -> HTTPResponse {
        let answer = try #require(try FakeServer.step(flow, note, skipping: skipping)["response"])
        var fields = [HTTPField("Content-Type", answer["contentType"]?.string ?? "")]
        if let cookie = answer["setCookie"]?.string { fields.append(HTTPField("Set-Cookie", cookie)) }
        return HTTPResponse(
            status: Int(answer["status"]?.int ?? 0), fields: fields, body: Array((answer["body"] ?? .null).text.utf8))
    }
}

/// A token as GET /token/ lists it.
func token(
    _ serial: String, _ type: String, active: Bool = true, state: String = "enrolled", failCount: Int64 = 0,
    description: String = ""
) -> JSONValue {
    [
        "serial": .string(serial), "tokentype": .string(type), "active": .bool(active), "rollout_state": .string(state),
        "failcount": .int(failCount), "maxfail": 10, "description": .string(description), "info": ["aaguid": "00"],
        "username": "alice", "revoked": false, "locked": false, "container_serial": "",
    ]
}

func secret(_ text: String) -> Secret { Secret(utf8: text) }

/// A service at a fake server.
struct Bench {
    let http = FakeServer()
    let client: PrivacyIDEA
    var service: SecondFactor

    init(now: Int64 = 1_795_000_000, url: String = "https://localhost:8443") throws {
        var client = PrivacyIDEA(try HTTPURL(url), http, CountingRandom())
        client.credentials = .token(SharedSecret(Secret(utf8: "token")))
        self.client = client
        service = SecondFactor(client, clock: FixedClock(now))
    }

    /// A key in software with a PIN, or without one.
    func key(pin: String? = "123456", at origin: String = "https://localhost:8443") async throws -> WebAuthnClient {
        let key = try VirtualKey.new()
        var environment = ServiceEnvironment(timeout: .seconds(20))
        environment.pause = { _, _ in }
        let interaction = FIDOInteraction(pin: { _ in pin.map { SharedSecret(Secret(utf8: $0)) } })
        let fido = try await FIDOService.open(
            card: CardChannel(link: key.link(), environment: environment), interaction: interaction)
        if let pin { try await fido.setPIN(SharedSecret(Secret(utf8: pin))) }
        return WebAuthnClient(service: fido, origin: try Origin(origin))
    }

    /// What a call throws.
    func error(_ body: (SecondFactor) async throws -> Void) async -> SecondFactorError? {
        do {
            try await body(service)
            return nil
        } catch { return error as? SecondFactorError }
    }
}
