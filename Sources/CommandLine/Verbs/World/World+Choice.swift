// SPDX-License-Identifier: Apache-2.0

import Glibc
import TerminalIO
import Words
import YKKeys

extension World {
    /// Asks the user to choose one of several candidates, if a terminal is available; for programs, and in a plan,
    /// several candidates are an error.
    ///
    /// - Throws: `failure` if nobody can be asked, `interrupted`.
    package func choose(_ question: String, among lines: [String], orElse failure: any Error) throws -> Int {
        guard terminal.isErrorTerminal, isatty(0) == 1, !options.json, plan == nil,
            let prompt = try? Prompt(orElse: ""),
            prompt.hasMenu
        else { throw failure }
        return try prompt.choose(question, among: lines)
    }

    /// Asks the user to choose one of several attached keys.
    func chosenKey(_ interface: KeyInterface, _ candidates: [KeyCandidate]) throws -> KeyCandidate {
        let choice = try choose(
            "which key?", among: candidates.map(\.line), orElse: KeyError.several(interface, candidates))
        return candidates[choice]
    }
}
