// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKArculus
import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// Resets a card and sets a PIN.
struct ArculusReset: Verb {
    static let about = About(
        "reset", "Delete all credentials on the card, and set a new PIN.",
        discussion:
            "Every account registered with this card becomes inaccessible: register another card or key there first.",
        examples: [Example("ykit arculus reset")])
    static let answer = Shape(done: "reset", "hasPin").following(ArculusResult.ok)

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let field = CardPresence(run)
        return try await field.outcome {
            try run.confirm(typing: "reset", "this permanently deletes all credentials on this card", unless: force)
            try await field.card().reset(to: try await new.arculus(run))
            return Outcome(done: "all credentials on the card deleted; the new PIN is set")
        }
    }
}

extension NewPINOptions {
    /// Returns the new PIN of a card, given or asked for twice.
    func arculus(_ run: Run) async throws -> SharedSecret {
        let question = TerminalQuestion(
            asking: "new PIN, six digits or more", objection: "the PIN must not be empty", orElse: source.hint)
        return try await run.obtain(.fidoPIN, source, question, isNew: true)
    }
}
