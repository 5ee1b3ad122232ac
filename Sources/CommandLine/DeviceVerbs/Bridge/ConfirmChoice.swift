// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKBridge
import YKCrypto
import YKInteraction

/// How the use of a card with contacts, or of the key for another machine, is confirmed.
enum ConfirmChoice: String, CaseIterable, ExpressibleByArgument {
    /// At the terminal if there is one, else on the desktop; refused without either.
    case auto
    case terminal, desktop
    /// Without asking.
    case none

    /// Returns the person to ask.
    ///
    /// - Parameter cause: What causes the questions.
    /// - Throws: `Explanation` if the chosen place is not available.
    func person(_ terminal: Terminal, _ cause: QuestionCause) throws(Explanation) -> any Person {
        let (person, hasTerminal) = (terminal.stage.person.asked(because: cause), terminal.hasPerson)
        switch self {
        case .none: return NoPerson()
        case .terminal:
            guard hasTerminal else {
                throw Explanation(
                    "no-terminal", .declined, "there is no terminal to confirm on", hint: "--ask desktop")
            }
            return person
        case .desktop: return try DesktopDialogue(cause)
        case .auto:
            if hasTerminal { return person }
            if let person = try? DesktopDialogue(cause) { return person }
            return NobodyThere(terminal: terminal)
        }
    }
}

/// A person who cannot be asked, which is reported.
private struct NobodyThere: Person {
    let terminal: Terminal

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
        throw .nobodyToAsk
    }

    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        if let question = question as? BridgeQuestion {
            terminal.warnNow("\(question.refusal): there is no terminal or desktop to confirm on")
        }
        throw .nobodyToAsk
    }
}
