// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKWire

/// A conversation with pinentry (the Assuan protocol): the commands, sent all at once, and the meaning of its output.
struct Pinentry {
    /// The path of the program.
    let program: String
    /// Commands that it need not support.
    let options: [String]
    /// Commands that it must support; the last one asks.
    let commands: [String]

    /// Creates a conversation that shows a description and asks with the last command.
    init(_ program: String, _ description: String, _ commands: String..., options: [String]) {
        self.program = program
        self.options = options
        self.commands = ["SETDESC \(Self.escaped(description))"] + commands
    }

    /// Its input.
    var script: [UInt8] { Array((options + commands + ["BYE"]).map { $0 + "\n" }.joined().utf8) }

    /// Escapes a percent sign and control characters.
    private static func escaped(_ text: String) -> String {
        let bytes = text.utf8.flatMap { byte in
            byte == UInt8(ascii: "%") || byte < 0x20 ? Array("%\(Hex.encode([byte]).uppercased())".utf8) : [byte]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The reply to a command.
    private struct Reply {
        /// The error line; empty for success.
        var error: ArraySlice<UInt8>
        /// The data lines before it, without the "D ".
        var data: [ArraySlice<UInt8>]
    }

    /// Returns the data of the reply to the last command: a confirmation has none.
    ///
    /// - Throws: `declined`, `timedOut`; `cannotAsk` for every other reply, and unless pinentry has answered each command
    ///   in a whole line.
    func answer(_ result: ChildProcess.Ending) throws(PromptFailure) -> [UInt8] {
        let replies = try replies(result.output)
        let needed = 1 + options.count + commands.count
        for (index, reply) in replies.enumerated() where index == 0 || index > options.count {
            if !reply.error.isEmpty { throw failure(reply.error) }
            if !reply.data.isEmpty, index + 1 != needed { throw failure("it sent unexpected data") }
        }
        guard result.status == 0, (needed...needed + 1).contains(replies.count) else {
            throw failure("it ended with status \(result.status) after \(replies.count) of \(needed) answers")
        }
        return Self.unescaped(replies[needed - 1].data)
    }

    /// Reads the replies; an incomplete line at the end is none. Status and comment lines are ignored.
    private func replies(_ output: [UInt8]) throws(PromptFailure) -> [Reply] {
        var replies: [Reply] = []
        var data: [ArraySlice<UInt8>] = []
        let whole = output[..<(output.lastIndex(of: UInt8(ascii: "\n")) ?? 0)]
        for line in whole.split(separator: UInt8(ascii: "\n")) {
            switch line.prefix(while: { $0 != UInt8(ascii: " ") }) {
            case let word where word.elementsEqual("OK".utf8):
                replies.append(Reply(error: [], data: data))
                data = []
            case let word where word.elementsEqual("ERR".utf8):
                replies.append(Reply(error: line.dropFirst(4), data: data))
                data = []
            case let word where word.elementsEqual("D".utf8): data.append(line.dropFirst(2))
            case let word where word.elementsEqual("S".utf8) || word.first == UInt8(ascii: "#"): break
            default: throw failure("it sent an unknown answer")
            }
        }
        return replies
    }

    /// The codes of gpg-error, in the low 16 bits, that mean no: cancelled, not confirmed, fully cancelled, and cancelled in
    /// an Assuan command.
    private static let refusals: Set<UInt32> = [99, 114, 198, 277]
    private static let timeout: UInt32 = 62

    /// The meaning of an error line: a number and a text.
    private func failure(_ error: ArraySlice<UInt8>) -> PromptFailure {
        let words = String(decoding: error, as: UTF8.self).split(separator: " ", maxSplits: 1)
        let code = words.first.flatMap { UInt32($0) }.map { $0 & 0xFFFF }
        if let code, Self.refusals.contains(code) { return .declined }
        if code == Self.timeout { return .timedOut }
        return failure(words.count > 1 ? String(words[1]) : "it reports an error")
    }

    private func failure(_ reason: String) -> PromptFailure { .cannotAsk(program: program, reason: reason) }

    private static func unescaped(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(lines.reduce(0) { $0 + $1.count })  // An array that grows leaves copies behind.
        for var rest in lines {
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
        }
        return result
    }
}

/// The terminal on which pinentry may ask if it has no display.
public struct PinentryTerminal: Hashable, Sendable {
    /// The commands that name it.
    let options: [String]

    /// Describes the terminal of GPG_TTY, as gpg-agent does.
    ///
    /// - Parameter variable: Returns the value of an environment variable; `nil` if it is not set.
    public init(variable: (_ name: String) -> String?) {
        let type = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first
        let values = [
            ("ttyname", variable("GPG_TTY")), ("ttytype", variable("GPG_TTY").flatMap { _ in variable("TERM") }),
            ("lc-ctype", type),
        ]
        options = values.compactMap { name, value in
            guard let value, value.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
            return "OPTION \(name)=\(value)"
        }
    }
}
