// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
package import YKHardware
public import YKTransport

/// Why a prompt program has no answer.
public enum PromptFailure: Error, Hashable, Sendable {
    /// The user declined, or entered nothing.
    case declined
    /// There was no answer in time.
    case timedOut
    /// The question was withdrawn.
    case withdrawn
    /// The program could not ask, for this reason: pinentry has neither a display nor a terminal, for example.
    case cannotAsk(program: String, reason: String)
}

/// A program that asks the user in a window of its own, or on a terminal of its own.
public enum PromptProgram: Hashable, Sendable {
    /// A program of SSH_ASKPASS (ssh-add(1)), by its path.
    case askpass(String)
    /// pinentry (the Assuan protocol), by its path.
    case pinentry(String, PinentryTerminal)

    /// Finds the SSH_ASKPASS program that must be used in place of a terminal, by the rules of OpenSSH.
    ///
    /// - Parameters:
    ///   - askpass: The variable SSH_ASKPASS.
    ///   - requirement: The variable SSH_ASKPASS_REQUIRE: `force`, `prefer` or `never`.
    ///   - hasTerminal: Whether the user can be asked on a terminal.
    /// - Returns: `nil` if the terminal is to be used, or pinentry without one.
    package static func askpass(
        _ askpass: String?, requirement: String?, _ session: DesktopSession, hasTerminal: Bool,
        _ programs: ProgramRunner
    ) -> PromptProgram? {
        let isPreferred = requirement == "prefer" || requirement != "never" && !hasTerminal
        guard requirement == "force" || session.isGraphical && isPreferred else { return nil }
        let program = askpass ?? (session.isGraphical ? programs.find("ssh-askpass") : nil)
        return program.map { .askpass($0) }
    }

    /// Asks for a secret.
    ///
    /// - Parameters:
    ///   - time: How long the program may run.
    ///   - cancellation: Withdraws the question.
    public func secret(
        _ question: String, within time: Duration, cancellation: Cancellation = Cancellation()
    ) throws(PromptFailure) -> SharedSecret {
        try secret(question, Self.runner(cancellation, time), time)
    }

    /// pinentry, on the terminal that the variables name if it has no display; `nil` if it is not installed.
    ///
    /// - Parameter variable: Returns the value of an environment variable; `nil` if it is not set.
    package static func pinentry(
        _ programs: ProgramRunner, variable: (_ name: String) -> String?
    ) -> PromptProgram? {
        programs.find("pinentry").map { .pinentry($0, PinentryTerminal(variable: variable)) }
    }

    /// Asks whether the user agrees: returns only after an explicit yes.
    ///
    /// - Parameters:
    ///   - time: How long the program may run.
    ///   - cancellation: Withdraws the question.
    public func agree(
        _ question: String, within time: Duration, cancellation: Cancellation = Cancellation()
    ) throws(PromptFailure) {
        try agree(question, Self.runner(cancellation, time), time)
    }

    /// A program without a window must not use the terminal, which belongs to another program.
    private static func runner(_ cancellation: Cancellation, _ limit: Duration) -> ProgramRunner {
        .system(cancellation, limit: limit, hasTerminal: false)
    }

    package func secret(
        _ question: String, _ programs: ProgramRunner, _ time: Duration
    ) throws(PromptFailure) -> SharedSecret {
        switch self {
        case .askpass(let program):
            var result = try Self.run(programs, program, [question + ": "])
            defer { Secret.wipe(&result.output) }
            guard result.status == 0 else { throw .declined }
            return try Self.secret(result.output.prefix { $0 != UInt8(ascii: "\n") })
        case .pinentry(let program, let terminal):
            let pinentry = Pinentry(
                program, question, "SETPROMPT PIN:", "GETPIN", options: terminal.options + [Self.timeout(time)])
            var result = try Self.run(programs, program, input: pinentry.script)
            defer { Secret.wipe(&result.output) }
            var data = try pinentry.answer(result)
            defer { Secret.wipe(&data) }
            return try Self.secret(data)
        }
    }

    package func agree(
        _ question: String, _ programs: ProgramRunner, _ time: Duration
    ) throws(PromptFailure) {
        switch self {
        case .askpass(let program):
            let result = try Self.run(programs, program, [question], variables: ["SSH_ASKPASS_PROMPT": "confirm"])
            // As in OpenSSH: a dialogue with buttons prints nothing and ends with 0.
            let line = result.output.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            guard result.status == 0, ["", "yes"].contains(String(decoding: line, as: UTF8.self).lowercased()) else {
                throw .declined
            }
        case .pinentry(let program, let terminal):
            let pinentry = Pinentry(program, question, "CONFIRM", options: terminal.options + [Self.timeout(time)])
            let data = try pinentry.answer(try Self.run(programs, program, input: pinentry.script))
            guard data.isEmpty else { throw .cannotAsk(program: program, reason: "it sent unexpected data") }
        }
    }

    /// pinentry gives up by itself first, so that it can restore its terminal.
    private static func timeout(_ time: Duration) -> String {
        "SETTIMEOUT \(max(1, time.components.seconds - 1))"
    }

    private static func run(
        _ programs: ProgramRunner, _ program: String, _ arguments: [String] = [], input: [UInt8] = [],
        variables: [String: String] = [:]
    ) throws(PromptFailure) -> ChildProcess.Ending {
        do { return try programs.run(program, arguments, input, variables) } catch {
            switch error {
            case .failed(_, let reason): throw .cannotAsk(program: program, reason: reason)
            case .timedOut: throw .timedOut
            case .cancelled: throw .withdrawn
            case .tooMuchOutput: throw .cannotAsk(program: program, reason: "its answer is too long")
            }
        }
    }

    private static func secret(_ bytes: some Collection<UInt8>) throws(PromptFailure) -> SharedSecret {
        guard !bytes.isEmpty else { throw .declined }
        return SharedSecret(Secret(bytes))
    }
}
