// SPDX-License-Identifier: Apache-2.0

import TerminalIO
package import Verbs
import YKCapture
package import YKHTTP
import YKKeys
package import YKPrivacyIDEA
package import YKTransport

extension Run {
    /// The client for HTTP requests: the network, recorded if `--record` is given, or the recording being replayed.
    package func http() throws(HTTPError) -> any HTTPClient {
        if let replay { return replay.httpClient() }
        let client = try CurlClient(cancellation: environment.cancellation)
        return recorder?.recording(client) ?? client
    }

    /// Returns a client for a privacyIDEA server; a plan adds the first request instead of sending it.
    package func privacyIDEA(_ server: HTTPURL, _ trust: HTTPTrust) throws -> PrivacyIDEA {
        let http: any HTTPClient = if let plan { PlannedHTTP(plan: plan) } else { try http() }
        var client = PrivacyIDEA(server, http, environment.random)
        client.trust = trust
        client.timeout = environment.timeout
        return client
    }
}

/// Adds a request to a plan and stops, since the next step depends on the server's answer.
private struct PlannedHTTP: HTTPClient {
    let plan: ExchangePlan

    /// Form and query fields that may be shown.
    private static let shown: Set<String> = [
        "user", "username", "realm", "serial", "type", "pagesize", "sortorder", "resolver", "display_name", "genkey",
    ]

    func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        let target = request.url.target.split(separator: "?", maxSplits: 1)
        var details: [String] = []
        if target.count == 2 {
            details = target[1].split(separator: "&").map { pair in
                let name = pair.prefix { $0 != "=" }
                return Self.shown.contains(String(name)) ? String(pair) : "\(name)=…"
            }
        }
        plan.add("\(request.method.rawValue) \(request.url.origin)\(target.first ?? "/")", details)
        plan.stop()
        throw .cancelled
    }
}
