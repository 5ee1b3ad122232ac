// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKWire

/// Asks the person at the terminal: on /dev/tty, so that results and piped input stay clean.
///
/// No answer is no consent: ^C and ^D end the program with 130, and what is no answer to the question asks again.
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
            throw Explanation("no-terminal", .declined, "there is no terminal to ask on", hint: hint)
        }
    }

    deinit { if isOwn { close(input) } }

    /// Asks for a line without showing what is typed; what was typed before the question is not taken.
    func secret(_ question: String) throws -> Secret {
        try TypedLine(input: input, output: output, question: question, isSilent: true).read()
    }

    /// Asks for a secret that is not empty.
    func neededSecret(_ question: String, _ objection: String) throws -> Secret {
        while true {
            let answer = try secret(question)
            if !answer.isEmpty { return answer }
            tell(objection)
        }
    }

    /// Asks for a secret twice, until both answers are the same.
    func newSecret(_ question: String, _ objection: String = "an empty password is not a password") throws -> Secret {
        while true {
            let first = try neededSecret(question, objection)
            let second = try secret("repeat it")
            if first == second { return first }
            tell("the two are not the same")
        }
    }

    /// Asks for a line.
    func line(_ question: String) throws -> String {
        let answer = try TypedLine(input: input, output: output, question: question, isSilent: false).read()
        return String(decoding: answer.copyBytes(), as: UTF8.self).trimmed
    }

    /// Whether the terminal can show a menu.
    var hasMenu: Bool { Menu.isPossible(input, output) }

    /// Has one of several lines chosen, in a menu where the terminal can show one, else by its number; returns its index.
    func choose(_ question: String, among lines: [String]) throws -> Int {
        if hasMenu { return try Menu(input: input, output: output, question: question, lines: lines).choose() }
        for (index, line) in lines.enumerated() { tell("  \(index + 1)  \(line)") }
        while true {
            if let number = Int(try line(question)), lines.indices.contains(number - 1) { return number - 1 }
            tell("answer with a number from 1 to \(lines.count)")
        }
    }

    /// Shows a line.
    func tell(_ line: String) {
        Terminal.write(Array((line.shown(styled: Style.isWanted(isTerminal: true)) + "\n").utf8), to: output)
    }

    /// How wide the terminal is, 80 columns when it does not say.
    var columns: Int {
        var size = winsize()
        return ioctl(output, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// Asks for yes or no, until it is one of them; an empty line is no.
    func agree(_ question: String) throws {
        while true {
            switch try line(question + " [y/N]").lowercased() {
            case "y", "yes": return
            case "", "n", "no": throw Self.declined
            default: tell("answer y or n")
            }
        }
    }

    /// Asks for yes or no.
    static func confirm(_ question: String, orElse hint: String = "answer with --force") throws {
        try prompt(for: question, hint).agree(question)
    }

    /// The terminal for a question, which the error repeats when there is none.
    private static func prompt(for question: String, _ hint: String) throws -> Prompt {
        do { return try Prompt(orElse: hint) } catch var failure as Explanation {
            failure.message += ": " + question
            throw failure
        }
    }

    /// Asks for a word to be typed, before what cannot be undone; an empty line is no.
    static func confirm(typing word: String, _ warning: String, orElse hint: String = "answer with --force") throws {
        let prompt = try prompt(for: warning, hint)
        while true {
            switch try prompt.line("\(warning); type '\(word)' to go on:") {
            case word: return
            case "": throw declined
            case let other where ["n", "no"].contains(other.lowercased()): throw declined
            default: prompt.tell("that is not '\(word)'; an empty line changes nothing")
            }
        }
    }

    private static var declined: Explanation { Explanation("declined", .declined, "nothing was changed") }
}
