// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKBridge
import YKCrypto
import YKDesktop
import YKHardware
import YKInteraction
import YKTransport

/// The user of a guard at the desktop: the buttons of a notification for yes and no, pinentry for the PIN, and a list of
/// zenity or kdialog for one of several accounts.
struct GuardDesktop: Person {
    let terminal: Terminal
    /// Who answers with yes or no.
    let questions: any Person
    let patience: Duration
    /// The programs of the desktop, ended by a cancellation or after a time.
    var programs: @Sendable (Cancellation, Duration) -> ProgramRunner = {
        .system($0, limit: $1, hasTerminal: false)
    }

    /// Returns the person to ask.
    static func person(_ choice: ConfirmChoice, _ terminal: Terminal, _ policy: GuardPolicy) throws -> any Person {
        let person = try choice.person(terminal, policy.cause)
        guard person is DesktopDialogue else { return person }
        return GuardDesktop(terminal: terminal, questions: person, patience: policy.questionTime)
    }

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
        let question = ConsentWords.pin(request).shown(styled: false)
        let variables = terminal.stage.variables
        return try await PromptProgram.asking(terminal) { [programs, patience] cancellation throws(PromptFailure) in
            let programs = programs(cancellation, patience)
            guard let pinentry = PromptProgram.pinentry(programs, variable: { variables[$0] }) else {
                throw .cannotAsk(program: "pinentry", reason: "it is not installed")
            }
            return try pinentry.secret(question, programs, patience)
        }
    }

    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard case .pick(let choices) = question.way, let words = (question as? any Worded)?.words else {
            return try await questions.answer(question)
        }
        let labels = choices.map(\.label)
        let index = try await PromptProgram.asking(terminal) {
            [programs, patience] cancellation throws(PromptFailure) in
            try Self.choose(words, labels, programs(cancellation, patience))
        }
        return choices[index].answer
    }

    /// Lets the user choose a line. Lines are named by their numbers, since several can be the same.
    private static func choose(
        _ words: QuestionWords, _ labels: [String], _ programs: ProgramRunner
    ) throws(PromptFailure) -> Int {
        let rows = labels.enumerated().flatMap { [String($0 + 1), $1] }
        let (program, arguments): (String, [String])
        if let zenity = programs.find("zenity") {
            // Its text is markup, but the title is not.
            let options = [
                "--list", "--title=" + words.question + "?", "--text=", "--hide-column=1", "--print-column=1",
            ]
            (program, arguments) = (zenity, options + ["--column=Number", "--column=Account"] + rows)
        } else if let kdialog = programs.find("kdialog") {
            (program, arguments) = (kdialog, ["--title", words.title, "--menu", words.question + "?"] + rows)
        } else {
            throw .cannotAsk(program: "zenity", reason: "neither zenity nor kdialog is installed")
        }
        let result: ChildProcess.Ending
        do { result = try programs.run(program, arguments, [], [:]) } catch {
            switch error {
            case .cancelled: throw .withdrawn
            case .timedOut: throw .timedOut
            case .failed(_, let reason): throw .cannotAsk(program: program, reason: reason)
            case .tooMuchOutput: throw .cannotAsk(program: program, reason: "its answer is too long")
            }
        }
        let line = String(decoding: result.output.prefix { $0 != 0x0A }, as: UTF8.self)
        guard result.status == 0, let number = Int(line), labels.indices.contains(number - 1) else { throw .declined }
        return number - 1
    }
}
