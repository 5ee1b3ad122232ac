// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKCrypto
import YKHardware
import YKTransport
import YKWire

/// Prompts of an agent: through the SSH_ASKPASS program as in OpenSSH, through pinentry if there is no terminal, or
/// else on the terminal.
struct AgentPrompt: Sendable {
    /// The timeout for an answer.
    private static let patience = Duration.seconds(120)

    private enum Way: Sendable { case askpass(String), terminal, pinentry(String), none }

    private let way: Way

    init() {
        let require = Variables["SSH_ASKPASS_REQUIRE"] ?? ""
        let isGraphical = ["DISPLAY", "WAYLAND_DISPLAY"].contains { Variables[$0] != nil }
        let askpass = Variables["SSH_ASKPASS"]
        let tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let hasTerminal = tty >= 0
        if hasTerminal { close(tty) }
        if let askpass, require != "never",
            require == "force" || require == "prefer" && isGraphical || !hasTerminal && isGraphical
        {
            way = .askpass(askpass)
        } else if hasTerminal {
            way = .terminal
        } else if let pinentry = Spawn.find("pinentry") {
            way = .pinentry(pinentry)
        } else {
            way = .none
        }
    }

    /// Returns a PIN; `nil` if none is entered. Runs on a thread of its own, since it blocks during input.
    func pin(_ question: String) async -> SharedSecret? {
        await onThread { self.ask(question) }
    }

    /// Whether the user agrees.
    func agrees(_ question: String) async -> Bool {
        await onThread { self.confirm(question) }
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value?) async -> Value? {
        await withCheckedContinuation { continuation in
            if !SystemThread.start({ continuation.resume(returning: body()) }) { continuation.resume(returning: nil) }
        }
    }

    private func onThread(_ body: @escaping @Sendable () -> Bool) async -> Bool {
        await onThread { () -> Bool? in body() } ?? false
    }

    private func ask(_ question: String) -> SharedSecret? {
        switch way {
        case .askpass(let program):
            guard var result = try? Spawn.run(program, [question.shown(styled: false)], within: Self.patience),
                result.status == 0
            else { return nil }
            defer { Secret.wipe(&result.output) }
            return Self.secret(result.output.prefix { $0 != UInt8(ascii: "\n") })
        case .terminal:
            guard let prompt = try? Prompt(orElse: ""), let secret = try? prompt.secret(question) else { return nil }
            return secret.isEmpty ? nil : SharedSecret(secret)
        case .pinentry(let program): return pinentry(program, question)
        case .none: return nil
        }
    }

    private static func secret(_ bytes: some Collection<UInt8>) -> SharedSecret? {
        bytes.isEmpty ? nil : SharedSecret(Secret(bytes))
    }

    /// Sends all Assuan commands to pinentry at once: the answer to GETPIN is the line that begins with D.
    private func pinentry(_ program: String, _ question: String) -> SharedSecret? {
        let input = Self.described(question) + "SETPROMPT PIN:\nGETPIN\nBYE\n".utf8
        guard var result = try? Spawn.run(program, [], input: input, within: Self.patience) else {
            return nil
        }
        defer { Secret.wipe(&result.output) }
        let answer = result.output.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "D ".utf8) }
        return answer.flatMap { Self.secret(Self.unescaped($0.dropFirst(2))) }
    }

    /// The Assuan command for a description, in which a percent sign and control characters are escaped.
    private static func described(_ question: String) -> [UInt8] {
        let text = question.shown(styled: false).utf8.flatMap { byte in
            byte == UInt8(ascii: "%") || byte < 0x20 ? Array("%\(Hex.encode([byte]).uppercased())".utf8) : [byte]
        }
        return "SETDESC ".utf8 + text + "\n".utf8
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
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

    private func confirm(_ question: String) -> Bool {
        switch way {
        case .askpass(let program):
            let words = ["SSH_ASKPASS_PROMPT=confirm", program, question.shown(styled: false)]
            return (try? Spawn.run("/usr/bin/env", words, within: Self.patience))?.status == 0
        case .terminal: return (try? Prompt.confirm(question)) != nil
        case .pinentry(let program):
            let input = Self.described(question) + "CONFIRM\nBYE\n".utf8
            guard let result = try? Spawn.run(program, [], input: input, within: Self.patience) else {
                return false
            }
            return !result.output.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: "ERR".utf8) }
        case .none: return false
        }
    }
}
