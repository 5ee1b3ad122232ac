// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKBridge
import YKDesktop

/// How the use of a card with contacts is confirmed.
enum ConfirmChoice: String, CaseIterable, ExpressibleByArgument {
    /// At the terminal if there is one, else on the desktop; refused without either.
    case auto
    case terminal, desktop
    /// Without asking.
    case none

    /// Whoever is asked.
    ///
    /// - Throws: `Explanation` if what was chosen is not there.
    func person(_ terminal: Terminal) throws(Explanation) -> any BridgePerson {
        switch self {
        case .none: return NoPerson()
        case .terminal:
            guard let person = BridgeTerminal(terminal) else {
                throw Explanation(
                    "no-terminal", .declined, "there is no terminal to confirm at", hint: "--ask desktop")
            }
            return person
        case .desktop: return try BridgeDesktop()
        case .auto:
            if let person = BridgeTerminal(terminal) { return person }
            if let person = try? BridgeDesktop() { return person }
            return RefusingPerson(terminal: terminal)
        }
    }
}

/// Refuses every use of a card, and reports it.
struct RefusingPerson: BridgePerson {
    let terminal: Terminal

    func ask(_ ceremony: Ceremony, reader: String, answer: @escaping @Sendable (Bool) -> Void) {
        terminal.warnNow(
            "the card in '\(reader.printable)' was not used to \(ceremony.words): there is no terminal or desktop to "
                + "confirm at")
        answer(false)
    }

    func withdraw() {}
}
