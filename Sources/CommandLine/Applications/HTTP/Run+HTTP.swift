// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
package import Verbs
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

/// How a server is authenticated.
package struct ServerTrustOptions: ParsableArguments {
    package static let title = "Server Options"

    @Option("--ca <file>", help: "Trust the authorities in this PEM file instead of the system's.") package var ca:
        String?

    @Option(
        "--server-pin <sha256/…>",
        help: "Require the server to have one of these public keys: at least two, so that it can change its key.")
    var serverPin: [String] = []

    @Flag("--insecure", help: "Do not verify the server's certificate.") var insecure = false

    package init() {}

    /// Returns the trust settings. A single pin is refused (RFC 7469 §4.3): the server could never change its key.
    ///
    /// - Parameter risk: What an attacker on the network can do if the certificate is not verified, for the warning.
    package func trust(_ run: Run, risk: String) throws -> HTTPTrust {
        var trust = HTTPTrust(authorities: ca)
        trust.pins = try serverPin.map { try HTTPPin($0) }
        if Set(trust.pins).count == 1 {
            throw Explanation.usage(
                "one --server-pin is not enough: the server could never change its key",
                hint: "also give a backup pin; the server's operator can provide one")
        }
        if insecure {
            run.terminal.warn(
                "not-verified", "the server's certificate is not verified: anyone on the network path can \(risk)")
            trust.verifiesCertificate = false
        }
        return trust
    }
}
