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
        var whole = IncomingRequest()
        let atOnce = whole.take(Array(Self.post.utf8))
        #expect(atOnce == .complete(Array("hello".utf8)))
        var bytewise = IncomingRequest()
        let steps = Self.post.utf8.map { bytewise.take([$0]) }
        #expect(steps.dropLast().allSatisfy { $0 == .more } && steps.last == .complete(Array("hello".utf8)))
        var empty = IncomingRequest()
        let nothing = empty.take(Array("POST / HTTP/1.0\r\ncontent-length:0\r\n\r\n".utf8))
        #expect(nothing == .complete([]))
    }

    @Test(
        "what is refused",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 405), ("PUT / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405),
            ("POST / HTTP/1.1\r\n\r\n", 411), ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400), ("POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
            ("POST x HTTP/1.1\r\nContent-Length: 1\r\n\r\n", 400),
            ("POST / HTTP/2\r\n\r\n", 400), ("nonsense\r\n\r\n", 400), ("\r\n\r\n", 400),
            ("\u{16}\u{3}\u{1}\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nX: " + String(repeating: "x", count: 8192), 431),
            ("POST / HTTP/1.1\r\nX: " + String(repeating: "x", count: 8192) + "\r\n\r\n", 431),
        ])
    func refused(text: String, status: Int) {
        var request = IncomingRequest()
        let step = request.take(Array(text.utf8))
        #expect(step == .refused(status))
    }
}

@Suite("Listener") struct ListenerTests {
    private final class Box: Sendable {
        let bodies = Mutex<[[UInt8]]>([])
        let limit: Int

        init(limit: Int = .max) { self.limit = limit }

        func take(_ body: [UInt8]) -> Bool {
            bodies.withLock { bodies in
                if bodies.count < limit { bodies.append(body) }
                return bodies.count <= limit && bodies.last == body
            }
        }
    }

    private static func listener(_ box: Box) throws -> HTTPListener {
        try HTTPListener("127.0.0.1:0") { box.take($0) }
    }

    @Test("takes what is posted") func takes() async throws {
        let box = Box(limit: 2)
        let listener = try Self.listener(box)
        let client = try CurlClient()
        #expect(listener.url == "http://127.0.0.1:\(listener.port)/")
        let url = try HTTPURL(listener.url)
        let long = [UInt8](repeating: 0x61, count: 65_536)
        for body in [Array("{}".utf8), long] {
            #expect(try await client.send(HTTPRequest(post: url, body, type: "application/json")).status == 200)
        }
        #expect(box.bodies.withLock { $0 } == [Array("{}".utf8), long])
        #expect(try await client.send(HTTPRequest(post: url, [1], type: "x/y")).status == 503)
        #expect(try await client.send(HTTPRequest(get: url)).status == 405)
        #expect(try await client.send(HTTPRequest(post: url, long + [0], type: "x/y")).status == 413)
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
        #expect(try await CurlClient().send(request).status == 200)
        #expect(box.bodies.withLock { $0 } == [[7]])
    }

    @Test("a burst arrives complete") func burst() async throws {
        let box = Box()
        let listener = try Self.listener(box)
        try await withThrowingTaskGroup { group in
            for part in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        let socket = try LocalSocket(port: listener.port)
                        let body = "\(part)-\(number)"
                        socket.send(Array("POST / HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
                        #expect(String(decoding: socket.receive(upTo: 15), as: UTF8.self) == "HTTP/1.1 200 OK")
                    }
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
        #expect(throws: HTTPError.self) { try HTTPListener(text) { _ in true } }
    }

    @Test("a port that is in use; a listener that was stopped") func ports() async throws {
        let listener = try Self.listener(Box())
        #expect(throws: HTTPError.self) { try HTTPListener("127.0.0.1:\(listener.port)") { _ in true } }
        listener.stop()
        for _ in 0..<200 where (try? LocalSocket(port: listener.port)) != nil {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(throws: LocalSocket.Failure.self) { try LocalSocket(port: listener.port) }
        let other = try? HTTPListener("[::1]:0") { _ in true }
        if let other { #expect(other.url.hasPrefix("http://[::1]:")) }
    }
}
