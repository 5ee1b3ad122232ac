// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKInteraction
import YKKeys

extension Run {
    /// Asks the user to choose one of several candidates, if a terminal is available; for programs, and in a plan,
    /// several candidates are an error.
    ///
    /// - Throws: `failure` if nobody can be asked, `interrupted`.
    package func choose(_ question: String, among lines: [String], orElse failure: any Error) throws -> Int {
        guard terminal.isErrorTerminal, stage.streams.isInputTyped, !options.json, person.presence.hasMenu else {
            throw failure
        }
        return try pick(question, among: lines)
    }

    /// Asks the user to choose one of several attached keys.
    func chosenKey(_ interface: KeyInterface, _ candidates: [KeyCandidate]) throws -> KeyCandidate {
        let failure = Explanation(KeyError.several(interface, candidates))
        return candidates[try choose("which key?", among: failure.candidates.map(\.line), orElse: failure)]
    }

    /// The options that select the same key on another command line.
    ///
    /// - Parameter serial: The key's serial number, if it reports one.
    package func keyWords(serial: String?) -> [String] {
        if let file = options.virtual {
            return file.isEmpty || file == GlobalOptions.inMemory ? ["--virtual"] : ["--virtual=\(file)"]
        }
        let link = options.link.map { $0 == .auto ? [] : ["--link", $0.rawValue] } ?? []
        if let serial = serial ?? options.device { return ["--device", serial] + link }
        return (options.reader.map { ["--reader", $0] } ?? options.path.map { ["--path", $0] } ?? []) + link
    }
}
