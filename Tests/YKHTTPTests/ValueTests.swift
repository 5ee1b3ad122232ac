// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHTTP
import YKTestSupport
import YKTransport
import YKWire

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
        expect(url.origin, is: origin)
        expect(url.target, is: target)
        try expect(HTTPURL(url.description), is: url)
        expect(url.usesTLS, is: text.hasPrefix("https"))
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
        expect(fields, is: [HTTPField("A", "b"), HTTPField("X", "y"), HTTPField("Set-Cookie", "a=b:c")])
        expect(fields.values(of: "x"), is: ["y"])
        expect(HTTPResponse(status: 302).redirect, is: "")
        expect(HTTPResponse(status: 304).redirect, is: nil)
        expect(HTTPResponse(status: 200).type, is: nil)
    }

    @Test("pins") func pins() throws {
        let text = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        try expect(HTTPPin(text).description, is: text)
        try expect(HTTPPin("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), is: HTTPPin(text))
        let slashes = Base64.encode([UInt8](repeating: 0xFF, count: 32))
        for mark in ["", "sha256/", "sha256//", "sha256:"] {
            try expect(HTTPPin(mark + slashes).description, is: "sha256/" + slashes)
        }
        for wrong in ["", "sha256/AAAA", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] {
            #expect(throws: HTTPError.self) { try HTTPPin(wrong) }
        }
    }

    @Test("the server's clock") func date() {
        func date(_ text: String) -> Int64? { HTTPResponse(status: 200, fields: [HTTPField("date", text)]).date }
        expect(date("Sun, 06 Nov 1994 08:49:37 GMT"), is: 784_111_777)
        expect(date("Sat, 31 Dec 2016 23:59:60 GMT"), is: 1_483_228_800)
        for wrong in [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        ] {
            expect(date(wrong), is: nil)
        }
        expect(HTTPResponse(status: 200).date, is: nil)
    }

    @Test("each failure in words") func words() {
        let all: [HTTPError] = [
            .notInstalled, .malformed("x"), .unreachable("x"), .timedOut, .cancelled, .certificate("x"),
            .pin(seen: nil),
            .authorities("x"), .redirected(to: "x", status: 302), .tooLarge(limit: 1), .failed(35, "x"),
        ]
        expect(Set(all.map(\.description)).count, is: all.count - 1)
    }
}
