// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import YKInteraction

/// Asks before an irreversible change, unless `--force` is given.
package struct Confirmation: ParsableArguments {
    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") package var force = false

    /// Asks for yes or no.
    package func ask(_ question: @autoclosure () -> String, in run: Run) throws {
        try run.confirm(question(), unless: force)
    }

    /// Asks the user to type a word before the most serious losses.
    package func ask(typing word: String, _ warning: @autoclosure () -> String, in run: Run) throws {
        try run.confirm(typing: word, warning(), unless: force)
    }
}

/// Asks before a step that loses nothing, unless `--yes` is given.
package struct Agreement: ParsableArguments {
    @Flag(["--yes", "-y"], help: "Do not ask for confirmation; nothing is replaced or deleted.")
    package var yes = false

    // Hidden: `--force` answers every question.
    @Flag(["--force", "-f"]) package var force = false

    /// Asks for yes or no.
    package func ask(_ question: @autoclosure () -> String, in run: Run) throws {
        if !yes, !force { try run.terminal.ask(Asked(question(), .agree(()), orElse: "answer with --yes")) }
    }
}
