// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import YKCrypto
import YKDesktop
import YKHardware
import YKInteraction
import YKKeyAgent
import YKSSH
import YKTransport

/// The client for which the agent uses the key now; there is none while the agent starts.
final class AgentTurn: Sendable {
    private let current = Mutex<AgentCaller?>(nil)

    var caller: AgentCaller? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Whether it has hung up.
    var hasLeft: Bool { caller?.hasLeft ?? false }
}

/// The user of an agent, asked through the SSH_ASKPASS program as in OpenSSH, on the terminal while the agent is in its
/// foreground, or else through pinentry. An agent in the background of a terminal asks nothing there itself.
///
/// A question is withdrawn when the client that caused it hangs up.
struct AgentPerson: Person {
    let terminal: Terminal
    let turn: AgentTurn
    /// How long a question waits for its answer, and one for a PIN.
    let patience: Duration
    let pinPatience: Duration

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
        let question = ConsentWords.pin(request)
        return try await forClient { [self] () async throws(Declined) -> SharedSecret in
            switch try means() {
            case .program(let program):
                return try await run { [pinPatience] cancellation throws(PromptFailure) in
                    try program.secret(question.shown(styled: false), within: pinPatience, cancellation: cancellation)
                }
            case .terminal:
                let person = terminal.stage.person.asked(because: .program(patience: pinPatience))
                let secret = try await person.answer(Asked(question, .secret(SecretEntry()) { $0 }))
                guard !secret.value.isEmpty else { throw .no }
                return secret
            }
        }
    }

    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard let words = (question as? any Worded)?.words, case .agree(let answer) = question.way else {
            throw .nobodyToAsk
        }
        return try await forClient { [self] () async throws(Declined) -> Q.Answer in
            switch try means() {
            case .program(let program):
                try await run { [patience] cancellation throws(PromptFailure) in
                    try program.agree(
                        words.question.shown(styled: false) + "?", within: patience, cancellation: cancellation)
                }
                return answer
            case .terminal:
                return try await terminal.stage.person.asked(because: .program(patience: patience)).answer(question)
            }
        }
    }

    private nonisolated(nonsending) func forClient<Value: Sendable>(
        _ question: @escaping @Sendable () async throws(Declined) -> Value
    ) async throws(Declined) -> Value {
        guard let caller = turn.caller else { return try await question() }
        return try await caller.asking(question)
    }

    /// How to ask.
    private enum Means { case program(PromptProgram), terminal }

    /// Returns how to ask now: a shell may move the agent to the background, and back.
    private func means() throws(Declined) -> Means {
        let (stage, hasTerminal) = (terminal.stage, terminal.hasPerson)
        let programs = stage.programs
        let program = PromptProgram.askpass(
            stage.variables["SSH_ASKPASS"], requirement: stage.variables["SSH_ASKPASS_REQUIRE"], stage.desktop,
            hasTerminal: hasTerminal, programs)
        if let program { return .program(program) }
        if hasTerminal { return .terminal }
        if let program = PromptProgram.pinentry(programs, variable: { stage.variables[$0] }) {
            return .program(program)
        }
        terminal.warn(
            Explanation(
                "no-prompt", .declined,
                "the agent cannot ask: it is not in the foreground of a terminal, and there is neither an"
                    + " SSH_ASKPASS program with a display nor pinentry",
                hint: "install pinentry, or set SSH_ASKPASS and SSH_ASKPASS_REQUIRE=force before the agent starts"))
        throw .nobodyToAsk
    }

    /// Runs a program that asks; it is ended when the task is cancelled.
    private nonisolated(nonsending) func run<Value: Sendable>(
        _ ask: @escaping @Sendable (Cancellation) throws(PromptFailure) -> Value
    ) async throws(Declined) -> Value {
        let cancellation = turn.caller == nil ? terminal.stage.environment.cancellation : Cancellation()
        return try await PromptProgram.asking(terminal, cancellation, ask)
    }
}

extension Terminal {
    /// Writes a warning that says what to do.
    func warn(_ explanation: Explanation) {
        warn(Warning(explanation))
        if let hint = explanation.hint { notice("hint: \(hint)") }
    }
}

extension AgentUse: Worded {
    /// The question whether the key may be used.
    var words: QuestionWords {
        let asker = hops.isEmpty ? "a program here" : "a program at \(place)"
        return QuestionWords(
            "SSH agent", ConsentWords.question(asker, asksTo: action, key: Untrusted.word(key)))
    }

    /// The action, as a phrase after "to", and the machine that requests it unless it is this one.
    var purpose: String { action + (hops.isEmpty ? "" : ", requested from \(place)") }

    /// The purpose and the key, for a log.
    var line: String { "\(purpose), key \(Untrusted.word(key))" }

    /// The action, as a phrase after "to". A name that a client chose stands after the host.
    private var action: String {
        switch operation {
        case .decrypt: ConsentWords.age
        case .sign(.login(let user, _, let bound), let host):
            "log in" + (bound.map { " at \(Self.host($0))" } ?? unnamed(host)) + " as \(Untrusted.name(user))"
        case .sign(.file(let namespace), _): "sign a file for \(Untrusted.name(namespace))"
        case .sign(.other(let bytes), _): "sign \(bytes) bytes of an unknown kind"
        }
    }

    /// The host of a login that does not name it. A program on another machine can claim any host.
    private func unnamed(_ host: [UInt8]?) -> String {
        guard let host else { return "" }
        return hops.isEmpty
            ? " at \(Self.host(host))" : " at an unverified host, which claims to be \(Self.host(host)),"
    }

    /// The machine on which the client runs, and those through which its requests come.
    private var place: String {
        let places = hops.reversed().map(Self.host)
        guard let last = places.first else { return "this machine" }
        return last + places.dropFirst().map { " through \($0)" }.joined()
    }

    private static func host(_ key: [UInt8]) -> String { "the host \(SSHPublicKey.fingerprint(ofHost: key))" }
}

extension AgentRefusal {
    /// The reason, as a phrase after a colon.
    var words: String {
        switch self {
        case .declined(.no): RemotePolicy.Refusal.declined.words
        case .declined(let declined): Explanation(declined).message
        case .tooManyQuestions: RemotePolicy.Refusal.tooManyQuestions.words
        }
    }
}
