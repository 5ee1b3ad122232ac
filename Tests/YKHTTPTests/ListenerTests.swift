// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKHTTP
import YKTestSupport
import YKTransport

@Suite("Incoming requests") struct IncomingRequestTests {
    private static let post = "POST /push HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"

    @Test("a request in one piece, and byte by byte") func pieces() {
        var whole = IncomingRequestReader()
        let atOnce = whole.take(Array(Self.post.utf8))
        guard case .complete(let request) = atOnce else {
            Issue.record("the request is not complete")
            return
        }
        #expect(request.method == .post && request.target == "/push" && request.body == Array("hello".utf8))
        #expect(request.value(of: "host") == "x" && request.value(of: "Origin") == nil)
        var bytewise = IncomingRequestReader()
        let steps = Self.post.utf8.map { bytewise.take([$0]) }
        #expect(steps.dropLast().allSatisfy { $0 == .more } && steps.last == atOnce)
        var empty = IncomingRequestReader()
        let nothing = empty.take(Array("POST / HTTP/1.0\r\ncontent-length:0\r\n\r\n".utf8))
        guard case .complete(let request) = nothing else {
            Issue.record("the request is not complete")
            return
        }
        expect(request.body, is: [])
    }

    @Test("a page that is asked for") func page() {
        var reader = IncomingRequestReader()
        let step = reader.take(
            Array("GET /a?b HTTP/1.1\r\nHost: x\r\nhost: y\r\nCookie: a=1; b=2\r\nCookie: c=3;a=4\r\n\r\n".utf8))
        guard case .complete(let request) = step else {
            Issue.record("the request is not complete")
            return
        }
        #expect(request.method == .get && request.target == "/a?b" && request.body.isEmpty)
        expect(request.value(of: "Host"), is: nil)
        expect(["a", "b", "c", ""].map { request.cookie($0) }, is: [nil, "2", "3", nil])
    }

    @Test(
        "what is refused",
        arguments: [
            ("HEAD / HTTP/1.1\r\n\r\n", 405), ("PUT / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405),
            ("POST / HTTP/1.1\r\n\r\n", 411), ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400), ("POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
            ("POST x HTTP/1.1\r\nContent-Length: 1\r\n\r\n", 400),
            ("GET /\u{7F} HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
            ("POST / HTTP/2\r\n\r\n", 400), ("nonsense\r\n\r\n", 400), ("\r\n\r\n", 400),
            ("\u{16}\u{3}\u{1}\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nX: " + String(repeating: "x", count: 8192), 431),
            ("POST / HTTP/1.1\r\nX: " + String(repeating: "x", count: 8192) + "\r\n\r\n", 431),
        ])
    func refused(text: String, status: Int) {
        var request = IncomingRequestReader()
        let step = request.take(Array(text.utf8))
        expect(step, is: .refused(status))
    }
}

@Suite("Listener") struct ListenerTests {
    private final class Box: Sendable {
        let bodies = Mutex<[[UInt8]]>([])
        let limit: Int

        init(limit: Int = .max) { self.limit = limit }

        func answer(_ request: IncomingRequest) -> HTTPResponse {
            guard request.method == .post else { return HTTPResponse(status: 405) }
            return bodies.withLock { bodies in
                guard bodies.count < limit else { return HTTPResponse(status: 503) }
                bodies.append(request.body)
                return HTTPResponse(status: 200)
            }
        }
    }

    private static func listener(_ box: Box) throws -> HTTPListener {
        try HTTPListener("127.0.0.1:0") { box.answer($0) }
    }

    @Test("takes what is posted") func takes() async throws {
        let box = Box(limit: 2)
        let listener = try Self.listener(box)
        let client = try CurlClient()
        expect(listener.url, is: "http://127.0.0.1:\(listener.port)/")
        let url = try HTTPURL(listener.url)
        let long = [UInt8](repeating: 0x61, count: 65_536)
        for body in [Array("{}".utf8), long] {
            try await expect(client.send(HTTPRequest(post: url, body, type: "application/json")).status, is: 200)
        }
        expect(box.bodies.withLock { $0 }, is: [Array("{}".utf8), long])
        try await expect(client.send(HTTPRequest(post: url, [1], type: "x/y")).status, is: 503)
        try await expect(client.send(HTTPRequest(get: url)).status, is: 405)
        try await expect(client.send(HTTPRequest(post: url, long + [0], type: "x/y")).status, is: 413)
    }

    @Test("answers with fields and a long body, at both addresses of this machine") func answers() async throws {
        // More than the system takes at once.
        let body = [UInt8](repeating: 0x79, count: 16 << 20)
        let listener = try HTTPListener(localhost: { request in
            HTTPResponse(status: 404, fields: [HTTPField("X-Target", request.target)], body: body)
        })
        expect(listener.url, is: "http://localhost:\(listener.port)/")
        for host in ["127.0.0.1", "localhost"] {
            var request = HTTPRequest(get: try HTTPURL("http://\(host):\(listener.port)/some/page"))
            request.limit = 32 << 20
            let response = try await CurlClient().send(request)
            #expect(response.status == 404 && response.fields.values(of: "X-Target") == ["/some/page"])
            expect(response.body, is: body)
        }
        listener.stopAndWait()
        listener.stopAndWait()
        #expect(throws: LocalSocket.Failure.self) { try LocalSocket(port: listener.port) }
    }

    @Test("slow clients do not keep others out, and are sent away") func slow() async throws {
        let box = Box()
        let listener = try Self.listener(box)
        // As many as are served at a time, each with half a request.
        let idle = try (0..<HTTPListener.connectionLimit).map { _ in try LocalSocket(port: listener.port) }
        for socket in idle { socket.send(Array("POST / HTTP/1.1\r\n".utf8)) }
        var request = HTTPRequest(post: try HTTPURL(listener.url), [7], type: "x/y")
        // Counted by libcurl from the start of the request: a suite that keeps this task waiting does not shorten it.
        request.timeout = .seconds(60)
        try await expect(CurlClient().send(request).status, is: 200)
        expect(box.bodies.withLock { $0 }, is: [[7]])
    }

    @Test("a burst arrives complete") func burst() async throws {
        let box = Box()
        let listener = try Self.listener(box)
        try await withThrowingTaskGroup { group in
            for part in 0..<4 {
                group.addTask {
                    let answers = try await onThread {
                        try (0..<50).map { number in
                            let socket = try LocalSocket(port: listener.port)
                            let body = "\(part)-\(number)"
                            socket.send(
                                Array("POST / HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
                            return String(decoding: socket.receive(upTo: 15), as: UTF8.self)
                        }
                    }
                    expect(answers, is: [String](repeating: "HTTP/1.1 200 OK", count: 50))
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(box.bodies.withLock { $0 }).count == 200 && box.bodies.withLock { $0.count } == 200)
    }

    @Test(
        "addresses that cannot be listened at",
        arguments: ["", "80", "localhost:80", "127.0.0.1:x", "127.0.0.1:70000", ":1"])
    func addresses(text: String) {
        #expect(throws: HTTPError.self) { try HTTPListener(text) { _ in HTTPResponse(status: 200) } }
    }

    @Test("a port that is in use; a listener that was stopped") func ports() async throws {
        let listener = try Self.listener(Box())
        #expect(throws: HTTPError.self) {
            try HTTPListener("127.0.0.1:\(listener.port)") { _ in HTTPResponse(status: 200) }
        }
        try await onThread { listener.stopAndWait() }
        #expect(throws: LocalSocket.Failure.self) { try LocalSocket(port: listener.port) }
        let other = try? HTTPListener("[::1]:0") { _ in HTTPResponse(status: 200) }
        if let other { #expect(other.url.hasPrefix("http://[::1]:")) }
    }
}
