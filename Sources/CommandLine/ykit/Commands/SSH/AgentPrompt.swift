// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKHardware
import YKTransport
import YKWire

/// Prompts of an agent: through the SSH_ASKPASS program as in OpenSSH, on the terminal while the agent is in its
/// foreground, or else through pinentry. An agent in the background of a terminal asks nothing there.
struct AgentPrompt: Sendable {
    /// The timeout for an answer.
    private static let patience = Duration.seconds(120)

    private enum Way { case askpass(String), terminal, pinentry(String) }

    /// Returns how to ask now: a shell may move the agent to the background, and back.
    private func way() throws(Explanation) -> Way {
        let require = Variables["SSH_ASKPASS_REQUIRE"] ?? ""
        let isGraphical = ["DISPLAY", "WAYLAND_DISPLAY"].contains { Variables[$0] != nil }
        let hasTerminal = (try? Prompt(orElse: "")) != nil
        if require == "force" || isGraphical && (require == "prefer" || require != "never" && !hasTerminal),
            let program = Variables["SSH_ASKPASS"] ?? (isGraphical ? Spawn.find("ssh-askpass") : nil)
        {
            return .askpass(program)
        }
        if hasTerminal { return .terminal }
        if let program = Spawn.find("pinentry") { return .pinentry(program) }
        throw Explanation(
            "no-prompt", .declined,
            "the agent cannot ask: it is not in the foreground of a terminal, and there is neither a program of"
                + " SSH_ASKPASS with a display nor pinentry",
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

    /// Whether the user agrees: only an explicit yes counts.
    ///
    /// - Throws: `no-prompt` if there is no way to ask.
    func agrees(_ question: String) async throws -> Bool {
        try await onThread { () throws(Explanation) in try confirm(question) }
    }

    /// Runs work that blocks during input on a thread of its own.
    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(Explanation) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = SystemThread.start {
                continuation.resume(with: Result { () throws(Explanation) in try body() }.mapError { $0 })
            }
            guard !isStarted else { return }
            continuation.resume(
                throwing: Explanation("failed", .failed, "the system has no thread left for this user"))
        }
    }

    private func ask(_ question: String) throws(Explanation) -> SharedSecret? {
        switch try way() {
        case .askpass(let program):
            guard var result = Self.run(program, [question.shown(styled: false) + ": "]) else { return nil }
            defer { Secret.wipe(&result.output) }
            guard result.status == 0 else { return nil }
            return Self.secret(result.output.prefix { $0 != UInt8(ascii: "\n") })
        case .terminal:
            guard let prompt = try? Prompt(orElse: ""), let secret = try? prompt.secret(question) else { return nil }
            return secret.isEmpty ? nil : SharedSecret(secret)
        case .pinentry(let program):
            guard var result = Self.run(program, input: Pinentry.script(question, "SETPROMPT PIN:", "GETPIN")) else {
                return nil
            }
            defer { Secret.wipe(&result.output) }
            return Pinentry.data(result).flatMap { Self.secret($0) }
        }
    }

    private func confirm(_ question: String) throws(Explanation) -> Bool {
        switch try way() {
        case .askpass(let program):
            let variables = ["SSH_ASKPASS_PROMPT": "confirm"]
            guard let result = Self.run(program, [question.shown(styled: false)], variables: variables),
                result.status == 0
            else { return false }
            // As in OpenSSH: a dialogue with buttons prints nothing and ends with 0.
            let line = result.output.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return ["", "yes"].contains(String(decoding: line, as: UTF8.self).lowercased())
        case .terminal: return (try? Prompt.confirm(question)) != nil
        case .pinentry(let program):
            return Self.run(program, input: Pinentry.script(question, "CONFIRM")).map(Pinentry.isConfirmed) ?? false
        }
    }

    /// Runs a program that asks; one without a window must not use the terminal, which another program has.
    private static func run(
        _ program: String, _ arguments: [String] = [], input: [UInt8] = [], variables: [String: String] = [:]
    ) -> ChildProcess.Ending? {
        try? Spawn.run(
            program, arguments, input: input, variables: variables, hasTerminal: false, within: patience)
    }

    private static func secret(_ bytes: some Collection<UInt8>) -> SharedSecret? {
        bytes.isEmpty ? nil : SharedSecret(Secret(bytes))
    }
}

/// What is sent to pinentry (the Assuan protocol), all at once, and what its answer says.
enum Pinentry {
    /// Returns the lines that set a description, and then these commands.
    static func script(_ description: String, _ commands: String...) -> [UInt8] {
        let text = description.shown(styled: false).utf8.flatMap { byte in
            // A percent sign and control characters are escaped.
            byte == UInt8(ascii: "%") || byte < 0x20 ? Array("%\(Hex.encode([byte]).uppercased())".utf8) : [byte]
        }
        return "SETDESC ".utf8 + text + commands.flatMap { "\n\($0)".utf8 } + "\nBYE\n".utf8
    }

    /// Whether CONFIRM was answered with OK: the greeting, the description and the question each have one, and nothing
    /// else was said.
    static func isConfirmed(_ result: ChildProcess.Ending) -> Bool { hasSucceeded(result, answers: 3) }

    /// Returns the answer to GETPIN; `nil` if it failed.
    static func data(_ result: ChildProcess.Ending) -> [UInt8]? {
        guard hasSucceeded(result, answers: 4) else { return nil }
        return lines(result).first { $0.starts(with: "D ".utf8) }.map { unescaped($0.dropFirst(2)) }
    }

    /// Whether pinentry ended well, and every answer is OK: this many, and perhaps one to BYE.
    private static func hasSucceeded(_ result: ChildProcess.Ending, answers: Int) -> Bool {
        // Status and comment lines, and data, are not answers.
        let answers = answers...answers + 1
        let said = lines(result).filter { line in !["S ", "#", "D "].contains { line.starts(with: $0.utf8) } }
        return result.status == 0 && answers.contains(said.count)
            && said.allSatisfy { $0.elementsEqual("OK".utf8) || $0.starts(with: "OK ".utf8) }
    }

    private static func lines(_ result: ChildProcess.Ending) -> [ArraySlice<UInt8>] {
        result.output.split(separator: UInt8(ascii: "\n"))
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)  // An array that grows leaves copies behind.
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = try? Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))
            {
                result += code
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
