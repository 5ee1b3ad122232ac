// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto

/// Asks the person at the terminal: on /dev/tty, so that results and piped input stay clean.
struct Prompt: ~Copyable {
    private let input: Int32
    private let output: Int32
    private let isOwn: Bool

    /// Opens the terminal; without one, nobody can be asked.
    init(orElse hint: String) throws {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        if descriptor >= 0 {
            input = descriptor
            output = descriptor
            isOwn = true
        } else if isatty(0) == 1 {
            input = 0
            output = 2
            isOwn = false
        } else {
            throw Explanation("no-terminal", .usage, "there is no terminal to ask on", hint: hint)
        }
    }

    deinit { if isOwn { close(input) } }

    /// Asks for a line without showing what is typed; what was typed before the question is not taken.
    func secret(_ question: String) throws -> Secret {
        var usual = termios()
        let isTerminal = tcgetattr(input, &usual) == 0
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO)
        if isTerminal { tcsetattr(input, TCSAFLUSH, &silent) }
        Terminal.write(Array((question + ": ").utf8), to: output)
        defer {
            if isTerminal { tcsetattr(input, TCSAFLUSH, &usual) }
            Terminal.write([UInt8(ascii: "\n")], to: output)
        }
        return try SecretInput.line(from: input)
    }

    /// Asks for a secret twice.
    func newSecret(_ question: String, _ objection: String = "an empty password is not a password") throws -> Secret {
        let first = try secret(question)
        guard !first.isEmpty else { throw Explanation.usage(objection) }
        let second = try secret("repeat it")
        guard first == second else { throw Explanation.usage("the two are not the same") }
        return first
    }

    /// Asks for a line.
    func line(_ question: String) throws -> String {
        Terminal.write(Array((question + " ").utf8), to: output)
        let answer: Secret
        do { answer = try SecretInput.line(from: input) } catch {
            tell("")
            throw error
        }
        return String(decoding: answer.copyBytes(), as: UTF8.self)
    }

    /// Shows a line.
    func tell(_ line: String) { Terminal.write(Array((line + "\n").utf8), to: output) }

    /// Asks for yes or no; anything but yes is no.
    static func confirm(_ question: String, orElse hint: String = "answer with --force") throws {
        let answer = try prompt(for: question, hint).line(question + " [y/N]")
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw Explanation("declined", .policy, "nothing was changed")
        }
    }

    /// The terminal for a question, which is told in the failure when there is none.
    private static func prompt(for question: String, _ hint: String) throws -> Prompt {
        do { return try Prompt(orElse: hint) } catch var failure as Explanation {
            failure.message += ": " + question
            throw failure
        }
    }

    /// Asks for a word to be typed, for what cannot be undone.
    static func confirm(typing word: String, _ warning: String, orElse hint: String = "answer with --force") throws {
        let answer = try prompt(for: warning, hint).line("\(warning); type '\(word)' to go on:")
        guard answer == word else { throw Explanation("declined", .policy, "nothing was changed") }
    }
}
