// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHTTP

@Suite("Addresses, header fields, pins") struct ValueTests {
    @Test(
        "addresses that are taken",
        arguments: [
            ("https://Example.com", "https://example.com", "/"),
            ("https://example.com:443/a?b=c", "https://example.com", "/a?b=c"),
            ("https://example.com:8443?q", "https://example.com:8443", "/?q"),
            ("http://localhost:5810/x", "http://localhost:5810", "/x"), ("http://127.0.0.1", "http://127.0.0.1", "/"),
            ("http://[::1]:80/", "http://[::1]", "/"), ("http://a.localhost/", "http://a.localhost", "/"),
            ("https://[2001:db8::1]:444/p", "https://[2001:db8::1]:444", "/p"),
            ("https://1.2.3.4/", "https://1.2.3.4", "/"),
        ])
    func reads(text: String, origin: String, target: String) throws {
        let url = try HTTPURL(text)
        #expect(url.origin == origin)
        #expect(url.target == target)
        #expect(try HTTPURL(url.description) == url)
        #expect(url.isSealed == text.hasPrefix("https"))
    }

    @Test(
        "addresses that are refused",
        arguments: [
            "", "example.com", "ftp://example.com", "http://example.com/", "http://localhost.evil.example/", "https://",
            "https://:443/", "https://a:0/", "https://a:65536/", "https://a:+1/", "https://a:/", "https://user@a/",
            "https://a/#x", "https://a b/", "https://ä/", "https://a/\u{7F}", "https://a\\b/", "https://[zz]/",
            "https://a%2F/", "http://127.0.0.1.evil.example/", "http://127.1/",
            "https://a/" + String(repeating: "x", count: 2048),
        ])
    func refuses(text: String) {
        #expect { try HTTPURL(text) } throws: { error in if case HTTPError.malformed = error { true } else { false } }
    }

    @Test("header fields") func fields() {
        let fields = [HTTPField](
            parsing: Array(
                "HTTP/1.1 200 OK\r\nA:b\r\nC : d\r\n:e\r\nnothing\r\nX: \t y \r\nSet-Cookie: a=b:c\n\r\n".utf8))
        #expect(fields == [HTTPField("A", "b"), HTTPField("X", "y"), HTTPField("Set-Cookie", "a=b:c")])
        #expect(fields.values(of: "x") == ["y"])
        #expect(HTTPResponse(status: 302).redirect == "")
        #expect(HTTPResponse(status: 304).redirect == nil)
        #expect(HTTPResponse(status: 200).type == nil)
    }

    @Test("pins") func pins() throws {
        let text = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        #expect(try HTTPPin(text).description == text)
        #expect(try HTTPPin("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") == HTTPPin(text))
        for wrong in ["", "sha256/AAAA", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] {
            #expect(throws: HTTPError.self) { try HTTPPin(wrong) }
        }
    }

    @Test("each failure in words") func words() {
        let all: [HTTPError] = [
            .notInstalled, .malformed("x"), .unreachable("x"), .timedOut, .cancelled, .certificate("x"), .pin,
            .authorities("x"), .redirected(to: "x", status: 302), .tooLarge(limit: 1), .failed(35, "x"),
        ]
        #expect(Set(all.map(\.description)).count == all.count - 1)
    }
}

@Suite("Cookies") struct CookieTests {
    private func after(_ lines: String..., from text: String = "https://a.example/api/begin") throws -> HTTPCookies {
        var cookies = HTTPCookies()
        cookies.take(
            HTTPResponse(status: 200, fields: lines.map { HTTPField("set-cookie", $0) }), from: try HTTPURL(text))
        return cookies
    }

    private func sent(_ cookies: HTTPCookies, to text: String) throws -> String? {
        cookies.field(for: try HTTPURL(text))?.value
    }

    @Test("go back to the host that set them") func hosts() throws {
        let cookies = try after("session=x.y=z; HttpOnly; Path=/", "b = 2 ; Domain=example; SameSite=Lax; Path=/")
        #expect(try sent(cookies, to: "https://a.example/other?x") == "session=x.y=z; b=2")
        #expect(try sent(cookies, to: "https://b.example/") == nil)
        #expect(try sent(cookies, to: "https://example/") == nil)
        #expect(cookies.field(for: try HTTPURL("https://a.example"))?.name == "Cookie")
    }

    @Test("go below their path") func paths() throws {
        let cookies = try after("a=1", "b=2; path=/api/begin", "c=3; path=nonsense")
        #expect(try sent(cookies, to: "https://a.example/api/complete") == "a=1; c=3")
        #expect(try sent(cookies, to: "https://a.example/api/begin") == "a=1; b=2; c=3")
        #expect(try sent(cookies, to: "https://a.example/apiary") == nil)
        #expect(try sent(try after("a=1", from: "https://a.example"), to: "https://a.example/x") == "a=1")
    }

    @Test("are replaced and taken back") func changes() throws {
        let url = try HTTPURL("https://a.example/api/begin")
        var cookies = try after("a=1", "a=2")
        #expect(cookies.field(for: url)?.value == "a=2")
        cookies.take(HTTPResponse(status: 200, fields: [HTTPField("Set-Cookie", "a=; Max-Age=0")]), from: url)
        #expect(cookies.isEmpty)
    }

    @Test("with Secure stay on sealed ways, or this machine") func secure() throws {
        let local = try after("a=1; Secure", from: "http://localhost:1/x")
        #expect(try sent(local, to: "http://localhost:2/x") == "a=1")
        #expect(try sent(try after("a=1; secure"), to: "https://a.example/api") == "a=1")
    }

    @Test("that are nonsense, too long or too many are left out") func limits() throws {
        #expect(try after("", "=x", "nothing", "a=" + String(repeating: "x", count: 4096)).isEmpty)
        var cookies = HTTPCookies()
        let url = try HTTPURL("https://a.example/")
        let fields = (0..<99).map { HTTPField("Set-Cookie", "c\($0)=1") }
        cookies.take(HTTPResponse(status: 200, fields: fields), from: url)
        #expect(cookies.field(for: url)?.value.split(separator: ";").count == 50)
    }
}
