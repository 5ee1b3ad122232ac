// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCapture
import YKHTTP
import YKTestSupport
import YKTransport
import YKWire

/// Requests to servers in recordings: what is written, what is left out, and how they are replayed.
@Suite("HTTP in captures") struct HTTPCaptureTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/session.jsonl" }

    /// A server that gives its answers in turn.
    private final class Server: HTTPClient {
        let answers: Mutex<[Result<HTTPResponse, HTTPError>]>

        init(_ answers: Result<HTTPResponse, HTTPError>...) { self.answers = Mutex(answers) }

        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try (next ?? .failure(.timedOut)).get()
        }
    }

    private static let answered = HTTPResponse(
        status: 200,
        fields: [
            HTTPField("Content-Type", "application/json"), HTTPField("Set-Cookie", "session=COOKIE"),
            HTTPField("X-Odd", "ODD"), HTTPField("Date", "Sun, 22 Nov 2026 12:00:00 GMT"),
        ],
        body: Array(#"{"result":{"value":{"token":"JWT","role":"admin"}},"list":[{"otp":"755224"}],"time":1.50}"#.utf8))

    private static func logIn(_ password: String = "hunter2", user: String = "alice") throws -> HTTPRequest {
        let form = "user=\(user)&pass=\(password)%20&note=a+b"
        var request = HTTPRequest(
            post: try HTTPURL("https://id.example/auth?realm=r&key=QUERY"), Array(form.utf8),
            type: "application/x-www-form-urlencoded")
        request.fields.append(HTTPField("Authorization", "BEARER"))
        request.fields.append(HTTPField("X-API-Key", "APIKEY"))
        request.secrets = HTTPSecrets(request: ["pass", "key"], answer: ["token", "otp"])
        return request
    }

    private static func status() throws -> HTTPRequest {
        var request = HTTPRequest(get: try HTTPURL("https://id.example/status"))
        request.secrets = HTTPSecrets(request: [], answer: [])
        return request
    }

    private func text() -> String { String(decoding: Recordings.read(path), as: UTF8.self) }

    /// Records a login that succeeds, and a request that is not answered.
    private func record(keepsSecrets: Bool = false) async throws -> Capture {
        let recorder = Recorder(path: path, keepsSecrets: keepsSecrets, clock: FixedClock(1_700_000_000))
        let client = recorder.recording(Server(.success(Self.answered), .failure(.unreachable("gone"))))
        try await expect(client.send(try Self.logIn()), is: Self.answered)
        await #expect(throws: HTTPError.unreachable("gone")) { try await client.send(try Self.status()) }
        #expect(recorder.problem == nil && recorder.hasBegun)
        return try Capture(parsing: Recordings.read(path))
    }

    @Test("secrets and unknown header fields are not written") func hides() async throws {
        let capture = try await record()
        for secret in ["hunter2", "BEARER", "APIKEY", "QUERY", "JWT", "755224", "COOKIE", "ODD"] {
            #expect(!text().contains(secret), "\(secret)")
        }
        #expect(text().contains("pass=<hidden>&note=a+b") && text().contains("realm=r&key=<hidden>"))
        #expect(text().contains("Date: Sun, 22 Nov 2026"))
        #expect(capture.header.link == .http && folder.mode("session.jsonl") == 0o600)
        #expect(capture.check().isEmpty, "\(capture.check())")
        try expect(Capture(parsing: Array(capture.text.utf8)), is: capture)
        expect(capture.redacted(), is: capture)
    }

    @Test("secrets that are kept can be taken out later") func redacts() async throws {
        let kept = try await record(keepsSecrets: true)
        #expect(text().contains("hunter2") && text().contains("COOKIE") && text().contains("BEARER"))
        let hidden = kept.redacted()
        for secret in ["hunter2", "BEARER", "APIKEY", "QUERY", "JWT", "755224", "COOKIE", "ODD"] {
            #expect(!hidden.text.contains(secret), "\(secret)")
        }
        var unmarked = kept
        unmarked.header.keepsSecrets = false
        expect(unmarked.check().map(\.line), is: [2])
        var narrator = Narrator(.http)
        let told = kept.events.map { narrator.narrate($0) }
        for secret in ["hunter2", "JWT", "QUERY"] {
            #expect(!told.contains { "\($0)".contains(secret) }, "\(secret)")
        }
    }

    @Test("a body that is not described, or cannot be read, is a secret as a whole")
    func whole() async throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        let html = HTTPResponse(
            status: 500, fields: [HTTPField("Content-Type", "text/html")], body: Array("<p>oops SECRET</p>".utf8))
        let client = recorder.recording(Server(.success(html), .success(html), .success(html)))
        var request = HTTPRequest(
            post: try HTTPURL("http://localhost/x?a=SECRET"), Array("SECRET".utf8), type: "text/x")
        _ = try await client.send(request)
        request.secrets = HTTPSecrets(request: ["pin"], answer: ["pin"])
        request.url = try HTTPURL("http://localhost/x?a=b")
        _ = try await client.send(request)
        #expect(!text().contains("SECRET") && text().contains("?a=<hidden>") && text().contains("?a=b"))
        request.secrets = HTTPSecrets(request: [], answer: [])
        _ = try await client.send(request)
        #expect(text().contains("oops SECRET"))
    }

    @Test("is replayed, whatever the secrets are", arguments: CaptureReplay.Mode.allCases)
    func replays(mode: CaptureReplay.Mode) async throws {
        let replay = CaptureReplay(try await record(), mode: mode)
        let client = replay.httpClient()
        let response = try await client.send(try Self.logIn("another"))
        #expect(response.status == 200 && response.type == "application/json")
        let json = try JSONValue(parsing: response.body)
        #expect(json["result"]?["value"]?["role"] == "admin" && json["result"]?["value"]?["token"] == "<hidden>")
        await #expect(throws: HTTPError.unreachable("gone")) { try await client.send(try Self.status()) }
        #expect(throws: Never.self) { try replay.finish() }
        expect(replay.httpMismatch, is: nil)
    }

    @Test("a request that differs ends a replay") func differs() async throws {
        let capture = try await record()
        for change in [
            { (request: inout HTTPRequest) in request.method = .put },
            { $0.body = Array("user=bob&pass=x&note=a+b".utf8) }, { $0.fields = [] },
            { $0.url = try HTTPURL("https://id.example/auth?realm=s&key=1") },
            { $0.url = try HTTPURL("https://other.example/auth?realm=r&key=1") },
        ] as [(inout HTTPRequest) throws -> Void] {
            for mode in CaptureReplay.Mode.allCases {
                let replay = CaptureReplay(capture, mode: mode)
                var request = try Self.logIn()
                try change(&request)
                await #expect(throws: HTTPError.self) { try await replay.httpClient().send(request) }
                let mismatch = try #require(replay.httpMismatch)
                expect(mismatch.line, is: (mode == .strict ? 2 : 0))
                #expect(!"\(mismatch)".contains("hunter2"))
            }
        }
    }

    @Test("order counts in a strict replay, and nothing is left over") func order() async throws {
        let capture = try await record()
        let strict = CaptureReplay(capture)
        await #expect(throws: HTTPError.self) { try await strict.httpClient().send(try Self.status()) }
        #expect(throws: LinkError.self) { try strict.finish() }
        let unfinished = CaptureReplay(capture)
        _ = try await unfinished.httpClient().send(try Self.logIn())
        #expect(throws: LinkError.self) { try unfinished.finish() }
        let lookup = CaptureReplay(capture, mode: .lookup)
        await #expect(throws: HTTPError.unreachable("gone")) { try await lookup.httpClient().send(try Self.status()) }
        _ = try await lookup.httpClient().send(try Self.logIn())
        await #expect(throws: HTTPError.self) { try await lookup.httpClient().send(try Self.logIn()) }
    }

    @Test("an answer of which nothing is left cannot be replayed") func overwritten() async throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        let request = HTTPRequest(get: try HTTPURL("https://id.example/seed"))
        _ = try await recorder.recording(Server(.success(Self.answered))).send(request)
        let replay = CaptureReplay(try Capture(parsing: Recordings.read(path)))
        await #expect(throws: HTTPError.self) { try await replay.httpClient().send(request) }
        expect(replay.httpMismatch?.overwritten, is: "the answer to GET https://id.example/seed")
    }

    @Test("a secret of the request that the answer repeats is put back") func echoes() async throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        let echo = HTTPResponse(status: 200, body: Array("otp=vvcc12 3\r\nstatus=OK\r\n".utf8))
        var request = HTTPRequest(get: try HTTPURL("https://id.example/verify?id=1&otp=vvcc12+3"))
        request.secrets = HTTPSecrets(request: ["otp"], answer: ["otp"])
        _ = try await recorder.recording(Server(.success(echo))).send(request)
        #expect(!text().contains("vvcc12"))
        let client = CaptureReplay(try Capture(parsing: Recordings.read(path))).httpClient()
        request.url = try HTTPURL("https://id.example/verify?id=1&otp=vvdd")
        try await expect(client.send(request).body, is: Array("otp=vvdd\r\nstatus=OK\r\n".utf8))
    }

    @Test("goes with a card's commands in one recording, in order", arguments: [true, false])
    func mixed(isFirst: Bool) async throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        let client = recorder.recording(Server(.success(Self.answered), .success(Self.answered)))
        let soon = Deadline.after(.seconds(60))
        let command: [UInt8] = [0x00, 0xA4, 0x04, 0x00]
        if isFirst { _ = try await client.send(try Self.logIn()) }
        let link = try recorder.recording(ScriptedLink(atr: [0x3B, 0x80, 0x80, 0x01, 0x01]) { _ in [0x90, 0x00] })
        try expect(link.exchange(command, deadline: soon), is: [0x90, 0x00])
        if !isFirst { _ = try await client.send(try Self.logIn()) }
        let capture = try Capture(parsing: Recordings.read(path))
        #expect(capture.header.link == .card && capture.header.atr == [0x3B, 0x80, 0x80, 0x01, 0x01])
        let replay = CaptureReplay(capture)
        if isFirst { _ = try await replay.httpClient().send(try Self.logIn()) }
        let card = replay.link()
        try expect(card.begin(deadline: soon), is: false)
        try expect(card.exchange(command, deadline: soon), is: [0x90, 0x00])
        if !isFirst { _ = try await replay.httpClient().send(try Self.logIn()) }
        #expect(throws: Never.self) { try replay.finish() }
        let swapped = CaptureReplay(capture)
        if isFirst {
            #expect(throws: LinkError.self) { try swapped.link().exchange(command, deadline: soon) }
        } else {
            await #expect(throws: HTTPError.self) { try await swapped.httpClient().send(try Self.logIn()) }
        }
    }

    @Test(
        "events that cannot be read",
        arguments: [
            #"{"h":1}"#, #"{"h":{}}"#, #"{"h":{"method":"GET","url":"u"}}"#,
            #"{"h":{"method":1,"url":"u","status":200}}"#,
            #"{"h":{"method":"GET","url":"u","status":200,"fields":{}}}"#, #"{"h":{"url":"u","status":200}}"#,
            #"{"h":{"method":"GET","url":"u","status":200,"fields":[1]}}"#,
            #"{"h":{"method":"GET","url":"u","status":200,"bodyHex":"0"}}"#,
            #"{"h":{"method":"GET","url":"u","status":200,"body":7}}"#,
            #"{"h":{"method":"GET","url":"u","failure":{"kind":"odd"}}}"#,
            #"{"h":{"method":"GET","url":"u","status":200},"e":"reset"}"#,
        ])
    func malformed(line: String) {
        let error = #expect(throws: CaptureError.self) {
            try Capture(parsing: Array(#"{"capture":1,"link":"http"}"#.utf8) + [0x0A] + Array(line.utf8))
        }
        expect(error?.line, is: 2)
    }

    @Test(
        "every failure comes back as it was",
        arguments: [
            HTTPError.notInstalled, .malformed("m"), .unreachable("u"), .timedOut, .certificate("c"), .pin(seen: nil),
            .authorities("a"), .tooLarge(limit: 9), .failed(35, "f"),
        ])
    func failures(error: HTTPError) async throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        await #expect(throws: error) { try await recorder.recording(Server(.failure(error))).send(try Self.status()) }
        let capture = try Capture(parsing: Recordings.read(path))
        await #expect(throws: error) { try await CaptureReplay(capture).httpClient().send(try Self.status()) }
        #expect(capture.check().isEmpty)
        var narrator = Narrator(.http)
        #expect(narrator.narrate(capture.events[0]).summary.hasPrefix("GET https://id.example/status → no answer: "))
    }
}
