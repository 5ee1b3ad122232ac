// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
package import YKHardware
public import YKTransport

/// A program that asks the user in a window of its own.
public enum PromptProgram: Hashable, Sendable {
    /// A program of SSH_ASKPASS (ssh-add(1)), by its path.
    case askpass(String)
    /// pinentry (the Assuan protocol), by its path.
    case pinentry(String)

    /// The timeout for an answer.
    package static let limit = Duration.seconds(120)

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
    /// - Returns: `nil` if the user entered none, or the program failed.
    public func secret(_ question: String, cancellation: Cancellation = Cancellation()) -> SharedSecret? {
        secret(question, Self.runner(cancellation))
    }

    /// Whether the user agrees: only an explicit yes counts.
    ///
    /// - Parameter time: How long the program may run.
    public func isConfirmed(
        _ question: String, within time: Duration, cancellation: Cancellation = Cancellation()
    ) -> Bool {
        isConfirmed(question, Self.runner(cancellation, time))
    }

    /// A program without a window must not use the terminal, which belongs to another program.
    private static func runner(_ cancellation: Cancellation, _ limit: Duration = Self.limit) -> ProgramRunner {
        .system(cancellation, limit: limit, hasTerminal: false)
    }

    package func secret(_ question: String, _ programs: ProgramRunner) -> SharedSecret? {
        switch self {
        case .askpass(let program):
            guard var result = try? programs.run(program, [question + ": "], [], [:]) else { return nil }
            defer { Secret.wipe(&result.output) }
            guard result.status == 0 else { return nil }
            return Self.secret(result.output.prefix { $0 != UInt8(ascii: "\n") })
        case .pinentry(let program):
            let script = Pinentry.script(question, "SETPROMPT PIN:", "GETPIN")
            guard var result = try? programs.run(program, [], script, [:]) else { return nil }
            defer { Secret.wipe(&result.output) }
            return Pinentry.data(result).flatMap { Self.secret($0) }
        }
    }

    package func isConfirmed(_ question: String, _ programs: ProgramRunner) -> Bool {
        switch self {
        case .askpass(let program):
            let variables = ["SSH_ASKPASS_PROMPT": "confirm"]
            guard let result = try? programs.run(program, [question], [], variables), result.status == 0 else {
                return false
            }
            // As in OpenSSH: a dialogue with buttons prints nothing and ends with 0.
            let line = result.output.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return ["", "yes"].contains(String(decoding: line, as: UTF8.self).lowercased())
        case .pinentry(let program):
            guard let result = try? programs.run(program, [], Pinentry.script(question, "CONFIRM"), [:]) else {
                return false
            }
            return Pinentry.isConfirmed(result)
        }
    }

    private static func secret(_ bytes: some Collection<UInt8>) -> SharedSecret? {
        bytes.isEmpty ? nil : SharedSecret(Secret(bytes))
    }
}
