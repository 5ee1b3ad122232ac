// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
package import Verbs
package import YKHTTP
import YKTransport

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
