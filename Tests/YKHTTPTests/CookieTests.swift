// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHTTP
import YKTestSupport
import YKTransport

/// What libcurl's cookie engine does with the settings that it is given.
@Suite("Cookies") struct CookieTests {
    private let client: CurlClient

    init() throws { client = try CurlClient() }

    /// The `Cookie` field of a request to `second` after a server answered one to `first` with `Set-Cookie` lines.
    private func sent(_ lines: [String], _ second: String, _ first: String = "/api/begin") async throws -> String? {
        let setting = lines.map { "Set-Cookie: \($0)\r\n" }.joined()
        let server = try LocalServer(
            "HTTP/1.1 200 OK\r\n\(setting)Content-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        var request = HTTPRequest(get: try HTTPURL(server.base + first))
        request.cookies = HTTPCookies()
        let response = try await client.send(request)
        let base = second.hasPrefix("/") ? server.base : ""
        let port = server.base.split(separator: ":").last ?? ""
        request = HTTPRequest(
            get: try HTTPURL(
                base + second.split(separator: "PORT", omittingEmptySubsequences: false).joined(separator: port)))
        request.cookies = response.cookies
        _ = try await client.send(request)
        let fields = [HTTPField](parsing: Array((server.asked.last ?? "").utf8))
        #expect(fields.values(of: "Cookie").count <= 1)
        return fields.values(of: "Cookie").first
    }

    @Test("go back to the host that set them") func hosts() async throws {
        let lines = ["session=x.y=z; HttpOnly; Path=/", "b = 2 ; Domain=example; SameSite=Lax; Path=/"]
        try await expect(sent(lines, "/other?x"), is: "session=x.y=z")
        try await expect(sent(lines, "http://localhost:PORT/"), is: nil)
    }

    @Test("go below their path") func paths() async throws {
        let lines = ["a=1", "b=2; path=/api/begin", "c=3; path=nonsense"]
        let all = try await sent(lines, "/api/complete")
        expect(Set((all ?? "").split(separator: "; ")), is: ["a=1", "c=3"])
        try await expect(sent(Array(lines.prefix(2)), "/other"), is: nil)
        try await expect(sent(["b=2; path=/api/begin"], "/api/begin/more"), is: "b=2")
        try await expect(sent(["b=2; path=/api/begin"], "/api/beginning"), is: nil)
    }

    @Test("are replaced and taken back") func changes() async throws {
        try await expect(sent(["a=1", "a=2"], "/api/complete"), is: "a=2")
        try await expect(sent(["a=1", "a=; Max-Age=0"], "/api/complete"), is: nil)
    }

    @Test("that are nonsense, too long or too many are left out") func limits() async throws {
        let long = "a=" + String(repeating: "x", count: 4097)
        try await expect(sent(["", "=x", long], "/api/complete"), is: nil)
        let many = try await sent((0..<99).map { "c\($0)=1" }, "/api/complete")
        #expect((1...50).contains((many ?? "").split(separator: ";").count))
    }

    @Test("are neither kept nor sent unless asked for") func off() async throws {
        let server = try LocalServer("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n")
        let response = try await client.send(HTTPRequest(get: try HTTPURL(server.base)))
        #expect(response.cookies.isEmpty)
        expect(response.fields.values(of: "Set-Cookie"), is: ["a=1"])
    }
}
