// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import YKCrypto
import YKDesktop
import YKHardware
import YKKeyAgent
import YKTransport

/// Prompts of an agent: through the SSH_ASKPASS program as in OpenSSH, on the terminal while the agent is in its
/// foreground, or else through pinentry. An agent in the background of a terminal asks nothing there.
struct AgentPrompt: Sendable {
    /// How to ask.
    enum Way { case program(PromptProgram), terminal }

    /// Returns how to ask now: a shell may move the agent to the background, and back.
    func way() throws(Explanation) -> Way {
        let hasTerminal = (try? Prompt(orElse: "")) != nil
        let program = PromptProgram.askpass(
            Variables["SSH_ASKPASS"], requirement: Variables["SSH_ASKPASS_REQUIRE"], .current,
            hasTerminal: hasTerminal, .system(Interruption.cancellation))
        if let program { return .program(program) }
        if hasTerminal { return .terminal }
        if let program = ChildProcess.find("pinentry") { return .program(.pinentry(program)) }
        throw Explanation(
            "no-prompt", .declined,
            "the agent cannot ask: it is not in the foreground of a terminal, and there is neither an"
                + " SSH_ASKPASS program with a display nor pinentry",
            hint: "sudo apt install pinentry-gnome3")
    }

    /// Returns a PIN.
    ///
    /// - Throws: `no-prompt` if there is no way to ask, `no-pin` if none was entered.
    func pin(_ question: String) async throws -> SharedSecret {
        let pin = try await onThread { () throws(Explanation) in try ask(question) }
        guard let pin else { throw Explanation("no-pin", .declined, "no PIN was entered") }
        return pin
    }

    /// Runs work that blocks during input on its own thread.
    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(Explanation) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = SystemThread.start {
                continuation.resume(with: Result { () throws(Explanation) in try body() }.mapError { $0 })
            }
            guard !isStarted else { return }
            continuation.resume(
                throwing: Explanation("failed", .failed, "the system allows no more threads for this user"))
        }
    }

    private func ask(_ question: String) throws(Explanation) -> SharedSecret? {
        switch try way() {
        case .program(let program):
            return program.secret(question.shown(styled: false), cancellation: Interruption.cancellation)
        case .terminal:
            guard let prompt = try? Prompt(orElse: ""), let secret = try? prompt.secret(question) else { return nil }
            return secret.isEmpty ? nil : SharedSecret(secret)
        }
    }
}

/// The user of an agent, asked through the same prompts as for a PIN.
final class AgentAsker: AgentUser {
    private let terminal: Terminal
    private let prompt: AgentPrompt
    private let time: Duration
    private let open = Mutex<ConsentTerminal?>(nil)

    /// - Parameter time: How long a question waits for its answer.
    init(_ terminal: Terminal, _ prompt: AgentPrompt, time: Duration) {
        (self.terminal, self.prompt, self.time) = (terminal, prompt, time)
    }

    func ask(_ use: AgentUse, answer: @escaping @Sendable (Bool) -> Void) {
        do throws(Explanation) {
            switch try prompt.way() {
            case .program(let program):
                let isStarted = SystemThread.start { [time] in
                    let question = use.question.shown(styled: false) + "?"
                    answer(program.isConfirmed(question, within: time, cancellation: Interruption.cancellation))
                }
                if !isStarted { answer(false) }
            case .terminal:
                guard let person = ConsentTerminal(terminal) else { return answer(false) }
                open.withLock { $0 = person }
                person.ask(use.question, answer: answer)
            }
        } catch {
            terminal.warn(error.message)
            answer(false)
        }
    }

    func withdraw() {
        let person = open.withLock { open in
            defer { open = nil }
            return open
        }
        person?.withdraw()
    }
}
