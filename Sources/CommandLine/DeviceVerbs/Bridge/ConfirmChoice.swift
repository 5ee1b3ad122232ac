// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import Words
import YKBridge
import YKDesktop

/// The wording of a request for confirmation. Names come from programs and are untrusted.
struct BridgeQuestion: Sendable {
    /// The title of a notification.
    let title: String
    /// Returns the question for a ceremony, without the question mark; the second argument is the reader, or the host
    /// that asks.
    let words: @Sendable (Ceremony, String) -> String
    /// Returns the message for a use that could not be confirmed.
    let refused: @Sendable (Ceremony, String) -> String

    /// For a card in a reader.
    static let card = BridgeQuestion(
        title: "Use the card?", words: { "use the card in '\($1.printable)' to \($0.words)" },
        refused: { "the card in '\($1.printable)' was not used to \($0.words)" })
    /// For the key here, used by a program on another host.
    static let remote = BridgeQuestion(
        title: "Use the key for another machine?",
        words: { ConsentWords.question($1.printable, asksTo: $0.words) },
        refused: { "the key was not used to \($0.words) for \($1.printable)" })
}

/// How the use of a card with contacts, or of the key for another machine, is confirmed.
enum ConfirmChoice: String, CaseIterable, ExpressibleByArgument {
    /// At the terminal if there is one, else on the desktop; refused without either.
    case auto
    case terminal, desktop
    /// Without asking.
    case none

    /// Returns the person to ask.
    ///
    /// - Throws: `Explanation` if the chosen place is not available.
    func person(_ terminal: Terminal, _ question: BridgeQuestion = .card) throws(Explanation) -> any BridgePerson {
        switch self {
        case .none: return NoPerson()
        case .terminal:
            guard let person = BridgeTerminal(terminal, question) else {
                throw Explanation(
                    "no-terminal", .declined, "there is no terminal to confirm on", hint: "--ask desktop")
            }
            return person
        case .desktop: return try BridgeDesktop(question)
        case .auto:
            if let person = BridgeTerminal(terminal, question) { return person }
            if let person = try? BridgeDesktop(question) { return person }
            return RefusingPerson(terminal: terminal, question: question)
        }
    }
}

/// Refuses every use of a card, and reports it.
struct RefusingPerson: BridgePerson {
    let terminal: Terminal
    let question: BridgeQuestion

    func ask(_ ceremony: Ceremony, reader: String, answer: @escaping @Sendable (Bool) -> Void) {
        terminal.warnNow(
            "\(question.refused(ceremony, reader)): there is no terminal or desktop to confirm on")
        answer(false)
    }

    func withdraw() {}
}

/// The user at the terminal.
struct BridgeTerminal: BridgePerson {
    private let terminal: ConsentTerminal
    private let question: BridgeQuestion

    /// Opens the terminal; `nil` without one, or for a background process.
    init?(_ terminal: Terminal, _ question: BridgeQuestion) {
        guard let opened = ConsentTerminal(terminal) else { return nil }
        (self.terminal, self.question) = (opened, question)
    }

    func ask(_ ceremony: Ceremony, reader: String, answer: @escaping @Sendable (Bool) -> Void) {
        terminal.ask(question.words(ceremony, reader), answer: answer)
    }

    func withdraw() { terminal.withdraw() }
}
