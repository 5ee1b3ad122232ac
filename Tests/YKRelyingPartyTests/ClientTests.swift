// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKHTTP
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKWire

/// What a relying party and browsers tell each other beside ceremonies.
struct ClientTests {
    @Test func checksItsOrigins() throws {
        func party(_ origins: [String], _ related: [String] = []) throws -> WebAuthnRelyingParty {
            try WebAuthnRelyingParty(
                id: "example.com", name: "Example", origins: origins, relatedOrigins: related,
                ceremonies: MemoryCeremonies())
        }
        let good = try party(
            ["https://example.com:443/", "android:apk-key-hash:abc"], ["https://example.co.uk"])
        expect(good.origins, is: ["https://example.com", "android:apk-key-hash:abc", "https://example.co.uk"])
        #expect(throws: WebAuthnError.self) { try party(["https://example.org"]) }
        #expect(throws: WebAuthnError.self) { try party(["http://example.com"]) }
        #expect(throws: WebAuthnError.self) { try party([], ["example.org"]) }
    }

    @Test func signals() async throws {
        let server = try Server()
        let made = try await server.register(Authenticator().create)
        expect(server.party.unknownCredentialSignal([1]), is: ["rpId": "example.com", "credentialId": "AQ"])
        let user = Base64.encodeURL(Server.alice.id)
        #expect(
            server.party.acceptedCredentialsSignal(of: Server.alice.id, [made.record])
                == ["rpId": "example.com", "userId": .string(user), "allAcceptedCredentialIds": ["AQIDBA"]])
        #expect(
            server.party.userDetailsSignal(Server.alice)
                == ["rpId": "example.com", "userId": .string(user), "name": "alice", "displayName": "Alice"])
        expect(server.party.userDetailsSignal(FIDOUser(id: [1]))["name"], is: "")
    }

    @Test func readsCapabilities() {
        let browser = ClientCapabilities(
            json: ["conditionalGet": true, "relatedOrigins": false, "extension:prf": true, "odd": 1])
        #expect(browser[.conditionalGet] == true && browser[.relatedOrigins] == false)
        #expect(browser[.extension("prf")] == true && browser[.init(rawValue: "odd")] == nil)
        for name in [
            ClientCapabilities.Name.conditionalCreate, .hybridTransport, .passkeyPlatformAuthenticator,
            .userVerifyingPlatformAuthenticator, .signalAllAcceptedCredentials, .signalCurrentUserDetails,
            .signalUnknownCredential,
        ] { expect(browser[name], is: nil) }
        expect(ClientCapabilities(json: [])[.conditionalGet], is: nil)
    }

    @Test func limitsRelatedOriginsToFiveLabels() throws {
        let related = RelatedOrigins([
            "https://example.com", "https://example.co.uk", "https://shop.example.de", "https://two.test",
            "https://three.test", "https://four.test", "https://five.test", "https://six.test", "https://www.six.test",
            "https://example.fr", "ftp://example.it", "https://co.uk",
        ])
        func permits(_ text: String) throws -> Bool { related.permits(try Origin(text)) }
        #expect(try permits("https://example.co.uk") && permits("https://shop.example.de"))
        #expect(try permits("https://five.test") && permits("https://example.fr"))
        #expect(try !permits("https://six.test") && !permits("https://co.uk") && !permits("https://www.two.test"))
        #expect(try !permits("https://two.test:8443"))
        expect(
            related.ignored, is: ["https://six.test", "https://www.six.test", "ftp://example.it", "https://co.uk"])
        try expect(RelatedOrigins(parsing: Array(related.json.text.utf8)), is: related)
        for text in ["", "[]", "{}", #"{"origins":[1]}"#] {
            #expect(throws: WebAuthnError.self) { try RelatedOrigins(parsing: Array(text.utf8)) }
        }
    }

    /// Answers everything with the same.
    struct Web: HTTPClient {
        let answer: Result<HTTPResponse, HTTPError>
        func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
            expect(request.url.description, is: "https://example.com/.well-known/webauthn")
            return try answer.get()
        }
    }

    /// Answers one request, of which the address is kept.
    struct EndpointsWeb: HTTPClient {
        let answer: Result<HTTPResponse, HTTPError>
        func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
            expect(request.url.description, is: "https://example.com/.well-known/passkey-endpoints")
            #expect(request.limit == 65536 && request.cookies == nil)
            return try answer.get()
        }
    }

    @Test func fetchesPasskeyEndpoints() async throws {
        func fetch(_ status: Int, _ type: String, _ body: String) async throws -> PasskeyEndpoints? {
            let response = HTTPResponse(
                status: status, fields: [HTTPField("Content-Type", type)], body: Array(body.utf8))
            return try await PasskeyEndpoints.fetch("example.com", EndpointsWeb(answer: .success(response)))
        }
        let text = #"{"enroll":"https://login.example.org/new","manage":"http://example.com/","prfUsageDetails":7}"#
        let found = try await fetch(200, "application/json", text)
        #expect(found?.enroll?.description == "https://login.example.org/new" && found?.manage == nil)
        let empty = try await fetch(200, "application/json; charset=utf-8", "{}")
        #expect(empty?.enroll == nil && empty != nil)
        try await expect(fetch(200, "application/json", #"{"enroll":"x y"}"#)?.enroll, is: nil)
        try await expect(fetch(302, "application/json", text), is: nil)
        try await expect(fetch(200, "text/html", text), is: nil)
        for body in ["", "[]", #"{"enroll":1}"#] {
            await #expect(throws: RelatedOriginsError.self) { try await fetch(200, "application/json", body) }
        }
        await #expect(throws: RelatedOriginsError.http(.timedOut)) {
            try await PasskeyEndpoints.fetch("example.com", EndpointsWeb(answer: .failure(.timedOut)))
        }
        await #expect(throws: RelatedOriginsError.self) {
            try await PasskeyEndpoints.fetch("not a host", EndpointsWeb(answer: .failure(.timedOut)))
        }
    }

    @Test(
        "no site has this as its identifier, so nothing is asked",
        arguments: [
            "127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "127.1", "example.com:8080",
            "example.com/x",
            "user@example.com", "EXAMPLE.com", "example.com.", "a b", "", "example.com/../y?z#w",
        ])
    func asksOnlySites(_ name: String) async throws {
        let web = EndpointsWeb(answer: .success(HTTPResponse(status: 200)))
        await #expect(throws: RelatedOriginsError.http(.malformed("'\(name)' is not the domain of a site"))) {
            try await PasskeyEndpoints.fetch(name, web)
        }
        await #expect(throws: RelatedOriginsError.self) {
            try await RelatedOrigins.fetch(name, Web(answer: .success(HTTPResponse(status: 200))))
        }
    }

    @Test func fetchesRelatedOrigins() async throws {
        func fetch(_ status: Int, _ type: String, _ body: String) async throws -> RelatedOrigins {
            let response = HTTPResponse(
                status: status, fields: [HTTPField("Content-Type", type)], body: Array(body.utf8))
            return try await RelatedOrigins.fetch("example.com", Web(answer: .success(response)))
        }
        let text = #"{"origins":["https://example.co.uk"]}"#
        try await expect(fetch(200, "application/json", text).origins, is: ["https://example.co.uk"])
        await #expect(throws: RelatedOriginsError.unavailable(status: 404, type: "text/html")) {
            try await fetch(404, "text/html", text)
        }
        await #expect(throws: RelatedOriginsError.unavailable(status: 200, type: "text/html")) {
            try await fetch(200, "text/html", text)
        }
        await #expect(throws: RelatedOriginsError.self) { try await fetch(200, "application/json", "[]") }
        await #expect(throws: RelatedOriginsError.http(.timedOut)) {
            try await RelatedOrigins.fetch("example.com", Web(answer: .failure(.timedOut)))
        }
    }
}
