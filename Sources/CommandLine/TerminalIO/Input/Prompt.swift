// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKInteraction
import YKWire

/// Why there is no prompt.
struct NoTerminal: Error {
    let reach: Presence.Reach
}

/// Asks the user on /dev/tty, so that results and piped input stay clean.
///
/// ^C and ^D exit with 130, and an invalid answer repeats the question.
struct Prompt: ~Copyable {
    private let input: Int32
    private let output: Int32
    private let isOwn: Bool
    private let variables: EnvironmentVariables
    /// What ends its questions without an answer.
    private let end: PromptEnd?

    /// Opens the terminal; fails without one, and in the background, where a question would stop the process.
    ///
    /// - Parameter end: What ends its questions without an answer; `nil` for questions that only the person ends.
    init(_ variables: EnvironmentVariables, _ end: PromptEnd? = nil) throws(NoTerminal) {
        (self.variables, self.end) = (variables, end)
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        if descriptor >= 0, !Self.isForeground(descriptor) {
            close(descriptor)
            throw NoTerminal(reach: .background)
        }
        if descriptor >= 0 {
            input = descriptor
            output = descriptor
            isOwn = true
        } else if isatty(0) == 1 {
            input = 0
            output = 2
            isOwn = false
        } else {
            throw NoTerminal(reach: .absent)
        }
    }

    deinit { if isOwn { close(input) } }

    /// Whether this process is in the foreground of a terminal. In the background, reading from the terminal or
    /// changing its modes stops the process. A terminal that is not the controlling one has no background.
    static func isForeground(_ terminal: Int32) -> Bool {
        let group = tcgetpgrp(terminal)
        return group < 0 || group == getpgrp()
    }

    /// Asks for a line without echo; discards what was typed before the question.
    func secret(_ question: String) throws -> Secret {
        try typed(question, ":", isSilent: true)
    }

    /// Asks for a non-empty secret.
    func neededSecret(_ question: String, _ objection: String) throws -> Secret {
        while true {
            let answer = try secret(question)
            if !answer.isEmpty { return answer }
            tell(objection)
        }
    }

    /// Asks for a secret twice, until the first answer is valid and both match.
    ///
    /// - Parameter rule: Returns why an answer is invalid, which is said before it is asked for again.
    func newSecret(
        _ question: String, _ objection: String = "the password must not be empty",
        rule: (borrowing Secret) -> String? = { _ in nil }
    ) throws -> Secret {
        while true {
            let first = try neededSecret(question, objection)
            if let broken = rule(first) {
                tell(broken)
                continue
            }
            let second = try secret("repeat it")
            if first == second { return first }
            tell("the two entries do not match")
        }
    }

    /// Asks for a line.
    ///
    /// - Parameter mark: What follows the question.
    func line(_ question: String, _ mark: String = "") throws -> String {
        String(decoding: try typed(question, mark, isSilent: false).copyBytes(), as: UTF8.self).trimmed
    }

    private func typed(_ question: String, _ mark: String, isSilent: Bool) throws -> Secret {
        try TypedLine(
            input: input, output: output, question: question, mark: mark, isSilent: isSilent, end: end
        ).read()
    }

    /// Discards what was typed before the next question, so that a secret meant for another one is not shown.
    func discardTyped() { tcflush(input, TCIFLUSH) }

    /// Whether the terminal can show a menu.
    var hasMenu: Bool { end == nil && Menu.isPossible(input, output, variables) }

    /// Asks the user to choose a line, in a menu if the terminal supports one, otherwise by number; returns its index.
    func choose(_ question: String, among lines: [String]) throws -> Int {
        if hasMenu {
            return try Menu(input: input, output: output, variables: variables, question: question, lines: lines)
                .choose()
        }
        for (index, line) in lines.enumerated() { tell("  \(index + 1)  \(line)") }
        while true {
            if let number = Int(try line(question)), lines.indices.contains(number - 1) { return number - 1 }
            tell("answer with a number from 1 to \(lines.count)")
        }
    }

    /// Shows a text, wrapped between words.
    func tell(_ text: String) {
        let shown = text.wrappedLines(to: columns).shown(styled: Style.isWanted(isTerminal: true, variables))
        Descriptor.show(shown + "\n", on: output)
    }

    /// The width of the terminal, or 80 columns if unknown.
    var columns: Int { Descriptor.size(of: output)?.columns ?? 80 }

    /// Asks for yes or no until the answer is one of them; an empty line means no.
    func isAgreed(_ question: String) throws -> Bool {
        while true {
            switch try line(question, " [y/N]").lowercased() {
            case "y", "yes": return true
            case "", "n", "no": return false
            default: tell("answer y or n")
            }
        }
    }

    /// Asks the user to type a word; an empty line means no.
    func isTyped(_ word: String, _ warning: String) throws -> Bool {
        while true {
            switch try line("\(warning); type '\(word)' to continue:") {
            case word: return true
            case "": return false
            case let other where ["n", "no"].contains(other.lowercased()): return false
            default: tell("that is not '\(word)'; press Enter alone to cancel")
            }
        }
    }
}
