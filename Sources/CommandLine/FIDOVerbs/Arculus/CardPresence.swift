// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
package import TerminalIO
import Verbs
package import YKArculus
import YKFIDO
import YKKeys
import YKTransport

/// The reader field in which the card is expected: the program's side of an ``ArculusCard``.
final class CardPresence {
    private let run: Run
    /// Why there is no card, in more detail than the library's error.
    private var problem: Explanation?

    init(_ run: Run) { self.run = run }

    /// Returns the card that will be held to the reader.
    ///
    /// - Parameter replaces: Whether a credential for the same account is replaced without asking.
    func card(retries: Bool = true, replaces: Bool = false) -> ArculusCard {
        var card = ArculusCard { () async throws(ArculusError) -> sending any FIDOLink in try await self.link() }
        let mayRetry = run.perform { retries && run.replay == nil } ?? false
        card.wantsRetry = { mayRetry }
        card.prompt = { self.say($0) }
        card.allowsReplacing = { replaces || self.agrees(toReplace: $0, $1) }
        card.isStrict = run.options.strict
        card.takesOnlyArculus = run.options.strict
        return card
    }

    /// Whether a person presents a card, as opposed to a recording or a virtual key.
    private var isReal: Bool { run.replay == nil && !run.isVirtual }

    private func say(_ prompt: ArculusPrompt) {
        switch prompt {
        case .holdAgain: run.terminal.say("the card was lost: hold the same card to the reader again")
        case .holdSteady where isReal: run.terminal.say("hold the card steady")
        case .done where isReal: run.terminal.notice("done, the card can be removed")
        default: break
        }
    }

    private func agrees(toReplace user: FIDOUser, _ rpID: String) -> Bool {
        do {
            let whose = "'\((user.name ?? "").printable)' at \(rpID.printable)"
            try run.confirm(CredentialReplacing.question(whose), unless: false)
            return true
        } catch {
            problem = Explanation(error)
            return false
        }
    }

    private func link() async throws(ArculusError) -> sending any FIDOLink {
        do {
            if isReal { try await waitForCard() }
            return run.keys.decoration.planned(try run.keys.cardFIDOLink())
        } catch KeyError.fido(let error) {
            throw .card(.key(.ctap(.link(error))), during: .opening)
        } catch KeyError.link(let error) {
            throw .reader(error)
        } catch {
            problem = Explanation(error)
            throw .reader(.noReader)
        }
    }

    private func waitForCard() async throws {
        let terminal = run.terminal
        try await run.keys.waitForCard { terminal.say("hold the card to the reader") }
    }

    /// Runs a verb; a failure also has the SDK's four members, and the exit status of its cause.
    func outcome<Success>(
        _ body: () async throws -> Outcome<Success>
    ) async throws -> Outcome<Success> {
        do { return try await body() } catch let error as ArculusError
            where run.replay == nil && !error.isCancelled
        {
            guard let outcome: Outcome<Success> = run.perform({ failure(error) }) else { throw error }
            return outcome
        }
    }

    private func failure<Success>(_ error: ArculusError) -> Outcome<Success> {
        let why = run.pinProblem ?? problem ?? Explanation(error)
        var result = error.result
        if case .server = error {} else { result.errorMessage = why.message }
        var outcome = Outcome<Success>.printed
        outcome.answer = Outcome(result).answer(as: Shape())
        outcome.answer.failure = why
        return outcome
    }
}

extension ArculusResult: Report {
    package static let members: [Member<Self>] = [
        Member("status", "ok, failed, or false for a session that is over") { $0.status.rawValue },
        Member("errorMessage") { $0.errorMessage },
        Member("statuscode", "that of the card or the server, or the HTTP status") { $0.statuscode },
        Member("responseCode", "the same as a number, for a server's code the HTTP status") { $0.responseCode },
    ]
}

/// Options for a card that is held to a reader.
struct ArculusCardOptions: ParsableArguments {
    @Flag("--no-retry", help: "Stop when the card is removed during the operation, instead of resuming.") var noRetry =
        false

    @OptionGroup var pin: PINOptions

    /// Whether to ask for the card again if it was lost.
    var retries: Bool { !noRetry }
}
