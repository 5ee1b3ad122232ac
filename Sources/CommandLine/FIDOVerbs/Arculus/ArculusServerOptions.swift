// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKArculus
import YKCrypto
import YKFIDO
import YKHTTP
import YKUse
import YKWire

/// The server, and the account there.
struct ArculusServerOptions: ParsableArguments {
    static let format = """
        FILE is a JSON object that describes the server:
        {"url": "https://fido.example.com", "paths": "arculus", "rpId": "example.com", "pins": ["sha256/…"]}
        paths is arculus, arculus-register, arculus-short or conformance; the four endpoints can be given one by one \
        (registrationBeginEndpoint, …), and dialect (arculus or conformance), origin, authorities (a file in PEM), \
        timeout (seconds) and limit (bytes).
        """

    @Option("--server <file>", help: "The server: a file that describes it, or its address.") var server: String

    @Option("--user", help: "The account's name at the server.") var user: String

    /// Reads the description; a URL stands for a server with the default paths.
    func read() throws -> ArculusServer {
        if server.contains(bytesOf: "://") { return try ArculusServer(server, .arculus) }
        var description = try ArculusServer(parsing: try Files.read(server))
        if let file = description.trust.authorities, !file.hasPrefix("/") {
            let folder = server.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            description.trust.authorities = (folder + [file[...]]).joined(separator: "/")
        }
        return description
    }
}

extension ArculusServer {
    /// The relying party: by default the host.
    var relyingPartyID: String { rpID ?? origin.host }
}

extension PINOptions {
    /// Returns the PIN of an operation: given, or asked for with the remaining retries shown.
    func arculus(_ reason: String, _ run: Run) -> ArculusPIN {
        let credential = run.fidoCredential(self, for: reason)
        run.pins = credential
        return ArculusPIN(asking: { await credential.pin($0) }, outcome: { credential.takeNote($0) })
    }
}
