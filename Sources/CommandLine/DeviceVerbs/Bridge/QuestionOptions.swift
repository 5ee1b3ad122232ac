// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKBridge
import YKInteraction

/// Where and how long the user is asked before the use of a key or card.
struct QuestionOptions: ParsableArguments {
    /// The time for an answer, in seconds, unless the line has another.
    static let usualWait = 30

    @Option("--ask <where>", help: "Where the use of the key or card is confirmed.")
    var ask: ConfirmChoice = .auto

    @Option("--wait <seconds>", help: "How long a question waits for its answer (default: 30).")
    var wait: Int?

    /// The time for an answer.
    var patience: Duration { .seconds(wait ?? Self.usualWait) }

    /// Checks the values.
    ///
    /// - Parameters:
    ///   - limit: The longest time for an answer, in seconds.
    ///   - unasked: What is wrong with asking nobody; `nil` if nothing is.
    func check(limit: Int, unasked: String? = nil) throws {
        if let wait, !(1...limit).contains(wait) { throw UsageError("--wait must be 1 to \(limit) seconds") }
        if ask == .none, let unasked { throw UsageError("--ask none \(unasked)") }
    }
}

/// The user whose programs use a device that ykit creates.
struct OwnerOptions: ParsableArguments {
    @Option("--owner <name>", help: "The user who may use the node (default: the user who ran sudo).")
    var owner: String?

    /// The owner; `nil` for the users that udev's rules for security keys name.
    func user(_ run: Run) throws -> String? {
        if let owner { return owner }
        guard User.name == "root", let name = run.variable("SUDO_USER") else { return nil }
        guard BridgeNode.isName(name) else { throw Explanation.usage("SUDO_USER: invalid user name") }
        return name
    }

    func check() throws {
        if let owner, !BridgeNode.isName(owner) { throw UsageError("--owner: invalid user name") }
    }
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
    /// - Parameter cause: What causes the questions.
    /// - Throws: an error if the chosen place is not available.
    func person(_ terminal: Terminal, _ cause: QuestionCause) throws -> any Person {
        let (person, hasTerminal) = (terminal.stage.person.asked(because: cause), terminal.hasPerson)
        switch self {
        case .none: return NoPerson()
        case .terminal:
            guard hasTerminal else {
                throw Explanation(
                    "no-terminal", .declined, "there is no terminal to confirm on", hint: "--ask desktop")
            }
            return person
        case .desktop: return try DesktopDialogue(cause, terminal)
        case .auto:
            if hasTerminal { return person }
            if let person = try? DesktopDialogue(cause, terminal) { return person }
            return NobodyThere(terminal: terminal)
        }
    }
}

/// A person who cannot be asked, which is reported.
private struct NobodyThere: Person {
    let terminal: Terminal

    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        if let question = question as? BridgeQuestion {
            terminal.warnNow("\(question.refusal): there is no terminal or desktop to confirm on")
        }
        throw .nobodyToAsk
    }
}
