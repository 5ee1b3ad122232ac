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
    static let answer = Shape(Item<String>("u2fVersion"))

    func run(in run: Run) async throws -> Outcome<String> {
        let version = try await run.openU2F().u2fVersion()
        return Outcome(version, version.printable)
    }
}
