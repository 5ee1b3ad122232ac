// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHTTP
import YKTestSupport
import YKTransport

@Suite("HTTP by libcurl") struct CurlClientTests {
    private let client: CurlClient

    init() throws { client = try CurlClient() }

    @Test("sends a body with its header fields and reads the answer") func posts() async throws {
        let server = try LocalServer(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nSet-Cookie: a=1\r\n"
                + "Content-Length: 2\r\n\r\n{}")
        var request = HTTPRequest(post: try HTTPURL(server.base + "/x?y=1"), Array("[]".utf8), type: "application/json")
        request.fields.append(HTTPField("Cookie", "s=t"))
        let response = try await client.send(request)
        expect(response.status, is: 200)
        expect(response.body, is: Array("{}".utf8))
        expect(response.type, is: "application/json")
        expect(response.fields.values(of: "set-cookie"), is: ["a=1"])
        let asked = try #require(server.asked.first)
        #expect(asked.hasPrefix("POST /x?y=1 HTTP/1.1\r\n"))
        #expect(asked.contains("Content-Type: application/json\r\n"))
        #expect(asked.contains("Cookie: s=t\r\n"))
        #expect(!asked.contains("Expect"))
        #expect(asked.hasSuffix("\r\n\r\n[]"))
    }

    @Test("asks with GET; a status that is a failure is an answer") func gets() async throws {
        let server = try LocalServer("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")
        let response = try await client.send(HTTPRequest(get: try HTTPURL(server.base)))
        expect(response.status, is: 404)
        expect(response.body, is: Array("gone".utf8))
        expect(server.asked.first?.hasPrefix("GET / HTTP/1.1\r\n"), is: true)
    }

    @Test("an empty body is sent as one") func postsNothing() async throws {
        let server = try LocalServer("HTTP/1.1 204 No Content\r\n\r\n")
        let url = try HTTPURL(server.base + "/n")
        let response = try await client.send(HTTPRequest(post: url, [], type: "text/plain"))
        expect(response, is: HTTPResponse(status: 204))
        expect(server.asked.first?.contains("Content-Length: 0\r\n"), is: true)
    }

    @Test("other methods, with and without a body", arguments: [HTTPMethod.put, .patch, .delete, .post])
    func methods(method: HTTPMethod) async throws {
        let server = try LocalServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let url = try HTTPURL(server.base + "/m")
        _ = try await client.send(HTTPRequest(method, url, Array("{}".utf8), type: "application/json"))
        let asked = try #require(server.asked.first)
        #expect(asked.hasPrefix("\(method.rawValue) /m HTTP/1.1\r\n"))
        #expect(asked.hasSuffix("\r\n\r\n{}"))
        let other = try LocalServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        _ = try await client.send(HTTPRequest(method, try HTTPURL(other.base + "/n")))
        expect(other.asked.first?.hasPrefix("\(method.rawValue) /n HTTP/1.1\r\n"), is: true)
        expect(other.asked.first?.contains("Content-Length: 0\r\n"), is: (method == .post))
    }

    @Test("only the last header counts") func continues() async throws {
        let server = try LocalServer(
            "HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n")
        let response = try await client.send(HTTPRequest(get: try HTTPURL(server.base)))
        expect(response.fields.map(\.name), is: ["X-B", "Content-Length"])
    }

    @Test("follows no redirect", arguments: [301, 302, 303, 307, 308]) func redirects(status: Int) async throws {
        let server = try LocalServer(
            "HTTP/1.1 \(status) Elsewhere\r\nLocation: https://evil.example/x\r\nContent-Length: 0\r\n\r\n")
        let request = HTTPRequest(get: try HTTPURL(server.base))
        await #expect(throws: HTTPError.redirected(to: "https://evil.example/x", status: status)) {
            try await client.send(request)
        }
        expect(server.asked.count, is: 1)
    }

    @Test("reads no more than the limit") func limits() async throws {
        let server = try LocalServer([
            { client in
                client.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n".utf8))
                for _ in 0..<64 { client.send([UInt8](repeating: 0x20, count: 1 << 16)) }
            },
            { client in
                client.send(Array("HTTP/1.1 200 OK\r\n".utf8))
                for _ in 0..<64 { client.send(Array("X-Long: \(String(repeating: "x", count: 4096))\r\n".utf8)) }
            },
        ])
        var request = HTTPRequest(get: try HTTPURL(server.base))
        request.limit = 4096
        await #expect(throws: HTTPError.tooLarge(limit: 4096)) { try await client.send(request) }
        await #expect(throws: HTTPError.tooLarge(limit: 4096)) { try await client.send(request) }
    }

    @Test("gives up when the time is over or somebody calls it off") func stops() async throws {
        let server = try LocalServer([{ _ = $0.receive(upTo: 1) }, { _ = $0.receive(upTo: 1) }])
        var request = HTTPRequest(get: try HTTPURL(server.base))
        request.timeout = .milliseconds(50)
        await #expect(throws: HTTPError.timedOut) { try await client.send(request) }
        let cancellation = Cancellation()
        cancellation.cancel()
        let cancelled = try CurlClient(cancellation: cancellation)
        request.timeout = .seconds(60)
        await #expect(throws: HTTPError.cancelled) { try await cancelled.send(request) }
    }

    @Test("nobody there, and nobody who speaks HTTP or TLS") func refuses() async throws {
        let gone = try LocalServer("").base
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(get: try HTTPURL(gone))) }
        let silent = try LocalServer("not HTTP at all\r\n\r\n")
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(get: try HTTPURL(silent.base))) }
        let plain = try LocalServer("HTTP/1.1 400 Bad Request\r\n\r\n")
        let sealed = try HTTPURL("https" + plain.base.dropFirst(4))
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(get: sealed)) }
    }

    @Test("unreachable, and a header field that could end its line") func refusesToSend() async throws {
        let port = try LocalServer("").base  // Gone at the end of this line.
        await #expect { try await client.send(HTTPRequest(get: try HTTPURL(port))) } throws: { error in
            if case HTTPError.unreachable = error { true } else { false }
        }
        var request = HTTPRequest(get: try HTTPURL("http://localhost/"))
        request.fields = [HTTPField("X", "a\r\nY: b")]
        await #expect(throws: HTTPError.malformed("a header field cannot be sent")) { try await client.send(request) }
    }

    @Test("authorities that cannot be read") func authorities() async throws {
        let server = try LocalServer("")
        var request = HTTPRequest(get: try HTTPURL("https" + server.base.dropFirst(4)))
        request.trust = HTTPTrust(authorities: "/nonexistent/ca.pem")
        await #expect { try await client.send(request) } throws: { error in
            if case HTTPError.authorities = error { true } else { false }
        }
    }
}
