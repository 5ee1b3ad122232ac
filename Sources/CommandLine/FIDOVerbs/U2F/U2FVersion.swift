// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKWire

/// Shows the U2F version.
struct U2FVersion: Verb {
    static let about = About(
        "version", "Show the key's U2F version.",
        examples: [Example("ykit u2f version")])

    struct Version: Report {
        let version: String
        static let members: [Member<Self>] = [Member("u2fVersion") { $0.version }]
    }

    func run(in run: Run) async throws -> Outcome<Version> {
        let version = try await run.openU2F().u2fVersion()
        return Outcome(Version(version: version), version.printable)
    }
}
