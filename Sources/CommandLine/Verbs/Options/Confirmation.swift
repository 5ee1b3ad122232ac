// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO

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
