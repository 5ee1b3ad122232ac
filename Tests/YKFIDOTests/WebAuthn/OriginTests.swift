// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import YKFIDO

/// Origins, and for which relying parties they may ask.
struct OriginTests {
    @Test(arguments: [
        ("https://example.com", "https://example.com"), ("HTTPS://Example.COM:443/", "https://example.com"),
        ("https://example.com:8443", "https://example.com:8443"), ("http://localhost", "http://localhost"),
        ("http://localhost:80", "http://localhost"), ("http://app.localhost:3000", "http://app.localhost:3000"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ("https://a_b.example", "https://a_b.example"),
        ("https://localhost", "https://localhost"),
    ])
    func reads(_ text: String, _ wanted: String) throws {
        let origin = try Origin(text)
        expect(origin.description, is: wanted)
        try expect(Origin(wanted), is: origin)
    }

    @Test(arguments: [
        ("", OriginProblem.malformed("")), ("example.com", .malformed("")), ("http://example.com", .insecure),
        ("ftp://example.com", .insecure), ("https://", .malformed("")), ("https:///", .malformed("")),
        ("https://example.com/login", .malformed("")), ("https://user@example.com", .malformed("")),
        ("https://example.com:", .malformed("")), ("https://example.com:0", .malformed("")),
        ("https://example.com:65536", .malformed("")), ("https://example.com:1:2", .malformed("")),
        ("https://example.com:+1", .malformed("")), ("https://bücher.example", .notPunycode),
        ("https://127.0.0.1", .address), ("http://127.0.0.1", .address), ("https://[::1]:80", .address),
        ("https://example..com", .malformed("")), ("https://example.com.", .malformed("")),
        ("https://a.b.1", .malformed("")), ("https://" + String(repeating: "a", count: 64) + ".com", .malformed("")),
    ])
    func refuses(_ text: String, _ problem: OriginProblem) {
        #expect {
            _ = try Origin(text)
        } throws: { error in
            guard case WebAuthnError.origin(let shown, let found) = error else { return false }
            let isSame = if case (.malformed, .malformed) = (found, problem) { true } else { found == problem }
            return isSame && shown == text && (error as? WebAuthnError)?.name == .security && !found.description.isEmpty
        }
    }

    @Test(
        arguments: [
            ("https://example.com", nil, nil), ("https://login.example.com", "example.com", nil),
            ("https://login.example.com", "login.example.com", nil), ("http://localhost:8000", "localhost", nil),
            ("https://a.b.co.uk", "b.co.uk", nil), ("https://github.io", "github.io", nil),
            ("https://me.github.io", "me.github.io", nil), ("https://www.ck", "www.ck", nil),
            ("https://a.www.ck", "www.ck", nil), ("https://example.com", "login.example.com", .otherDomain),
            ("https://badexample.com", "example.com", .otherDomain), ("https://example.com", "com", .publicSuffix),
            ("https://a.b.co.uk", "co.uk", .publicSuffix), ("https://a.b.co.uk", "uk", .publicSuffix),
            ("https://me.github.io", "github.io", .publicSuffix), ("https://me.github.io", "io", .publicSuffix),
            ("https://a.b.ck", "b.ck", .publicSuffix), ("https://a.b.ck", "ck", .publicSuffix),
            ("https://app.localhost", "localhost", .publicSuffix), ("https://example.com", "", .notADomain),
            ("https://example.com", "Example.com", .notADomain), ("https://example.com", ".com", .notADomain),
            ("https://example.com", "exämple.com", .notADomain), ("https://a.example.com", "1", .notADomain),
        ] as [(String, String?, RelyingPartyProblem?)])
    func decides(_ origin: String, _ rpID: String?, _ problem: RelyingPartyProblem?) throws {
        let origin = try Origin(origin)
        guard let problem else {
            try expect(origin.relyingPartyID(rpID, by: .builtIn), is: rpID ?? origin.host)
            return
        }
        let wanted = WebAuthnError.relyingParty(id: rpID ?? "", origin: origin.description, problem)
        #expect(wanted.name == .security && !wanted.description.isEmpty)
        #expect(throws: wanted) { try origin.relyingPartyID(rpID, by: .builtIn) }
    }
}
