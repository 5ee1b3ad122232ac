// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKArculus
import YKCrypto
import YKFIDO
import YKProtocols
import YKTransport
import YKWire

/// Changes a card's PIN.
struct ArculusChangePIN: Verb {
    static let readsLines = true
    static let about = About(
        "change-pin", "Change the card's PIN and keep its credentials.",
        discussion: """
            A wrong old PIN uses up a try. If both are read from standard input, the first line is the old PIN, the \
            second the new one.
            """,
        examples: [Example("ykit arculus change-pin")])
    static let answer = Shape(done: "hasPin").following(ArculusResult.ok)

    @OptionGroup var pin: PINOptions
    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let field = CardPresence(run)
        return try await field.outcome {
            let card = field.card()
            let source = run.source(of: .fido, pin)
            // Given PINs are read in this order, and a prompt shows the remaining retries.
            let old = try await run.obtain(
                .fidoPIN, source, run.fidoQuestion(orElse: source.hint), to: "change its PIN",
                triesLeft: try await Self.retries(card).count)
            try await card.changePIN(from: { _ in old }, to: try await new.arculus(run))
            return Outcome(done: "PIN changed")
        }
    }

    private static func retries(_ card: ArculusCard) async throws -> PINRetries {
        let state = try await card.state()
        guard let retries = state.retries else { throw ArculusError.card(.key(.pinNotSet), during: .settingPIN) }
        guard retries.count > 0 else { throw ArculusError.card(.key(.pinBlocked), during: .settingPIN) }
        return retries
    }
}
