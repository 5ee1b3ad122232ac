// SPDX-License-Identifier: Apache-2.0

import YKHTTP
import YKTransport
import YKWire

/// The requests of one operation: the cookie of the first is sent with the second and then discarded.
struct ServerConversation {
    let server: ArculusServer
    let http: any HTTPClient
    private var cookies = HTTPCookies()

    init(_ server: ArculusServer, _ http: any HTTPClient) {
        self.server = server
        self.http = http
    }

    /// Posts a body and reads the answer.
    ///
    /// - Throws: `http`, `server` or `reply`.
    mutating func post(_ body: JSONValue, to url: HTTPURL) async throws(ArculusError) -> ArculusReply {
        var request = HTTPRequest(post: url, Array(body.text.utf8), type: "application/json")
        request.fields.append(HTTPField("Accept", "application/json"))
        request.cookies = cookies
        request.timeout = server.timeout
        request.limit = server.limit
        request.trust = server.trust
        // All data that WebAuthn sends over the network is public: challenges, credentials and signatures.
        request.secrets = HTTPSecrets(request: [], answer: [])
        let response: HTTPResponse
        do { response = try await http.send(request) } catch { throw .http(error) }
        cookies = response.cookies
        return try ArculusReply(response)
    }
}
