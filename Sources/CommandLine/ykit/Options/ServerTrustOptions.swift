// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKHTTP

/// Whose word is taken for who a server is.
struct ServerTrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Trust the authorities in this PEM file instead of the system's.", valueName: "file"),
        completion: .file())
    var ca: String?

    @Option(
        help: ArgumentHelp("Require the server to have this public key; may be given again.", valueName: "sha256/…"))
    var serverPin: [String] = []

    @Flag(help: "Do not verify the server's certificate.")
    var insecure = false

    /// What is trusted.
    ///
    /// - Parameter risk: What anyone on the way can do when the certificate is not verified, which is warned of.
    func trust(_ world: World, risk: String) throws -> HTTPTrust {
        var trust = HTTPTrust(authorities: ca)
        trust.pins = try serverPin.map { try HTTPPin($0) }
        if insecure {
            world.terminal.warn("the server's certificate is not verified: anyone on the way can \(risk)")
            trust.verifiesCertificate = false
        }
        return trust
    }
}
