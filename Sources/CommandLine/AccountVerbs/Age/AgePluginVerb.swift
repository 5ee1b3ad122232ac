// SPDX-License-Identifier: Apache-2.0

public import Arguments
import Glibc
import Synchronization
import TerminalIO
import Verbs
public import YKAge
import YKCrypto
import YKTransport

/// Runs as a plugin of age.
struct AgePluginVerb: Verb {
    static let hasOwnOutput = true
    static let about = About(
        "Run as a plugin of age; age starts it.",
        discussion: """
            age starts 'age-plugin-NAME --age-plugin=STATE' for identities and recipients with that name; a link to \
            ykit named age-plugin-ykit, age-plugin-yubikey, age-plugin-fido2-hmac or age-plugin-tag runs this verb. \
            age prompts for the PIN and the touch.
            """,
        examples: [
            Example(
                "age --decrypt --identity identity.txt secrets.age",
                "age starts the plugin if the identity is one of ykit's.")
        ])
    static let answer = Shape(Item<Int>("fileKeyCount"))

    @Option("--state", help: "The state machine: recipient-v1 or identity-v1.") var state: AgePlugin

    func run(in run: Run) async throws -> Outcome<Int> {
        guard !run.options.json, !run.options.plan else {
            throw Explanation.usage("a plugin talks to age on standard output: --json and --plan cannot be used")
        }
        let dialogue = AgeDialogue(AgeStreams(run.environment.cancellation))
        let keys = AgeKeeper(run, dialogue)
        run.terminal.relay { dialogue.say($0) }
        defer { run.terminal.relay(nil) }
        return Outcome(try await state.run(dialogue, keys))
    }
}

extension AgePlugin: ExpressibleByArgument {}

/// The standard streams that connect to age.
final class AgeStreams: AgeConnection {
    private let input = Mutex<[UInt8]>([])
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) { self.cancellation = cancellation }

    /// Reads the lines of one stanza. The bytes of a file key or PIN are wiped with the buffer.
    func receive() throws(AgeError) -> AgeStanza {
        var reader = AgeStanzaReader()
        while true {
            if let stanza = try reader.take(try line()) { return stanza }
        }
    }

    func send(_ stanza: AgeStanza) throws(AgeError) {
        var rest = stanza.encoded[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .connection("age closed the connection") }
            rest = rest.dropFirst(count)
        }
    }

    private func line() throws(AgeError) -> [UInt8] {
        try input.withLock { buffer throws(AgeError) in
            while true {
                if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = Array(buffer[..<end])
                    for index in buffer.indices.prefix(end) { buffer[index] = 0 }
                    buffer.removeFirst(end + 1)
                    return line
                }
                guard buffer.count <= AgeStanzaReader.lineLimit else {
                    throw .malformed("an unterminated line")
                }
                try fill(&buffer)
            }
        }
    }

    private func fill(_ buffer: inout [UInt8]) throws(AgeError) {
        var block = [UInt8](repeating: 0, count: 4096)
        defer { Secret.wipe(&block) }
        while true {
            let count = read(0, &block, block.count)
            if count < 0, errno == EINTR, !cancellation.isCancelled { continue }
            guard count > 0 else { throw .connection("age ended the conversation") }
            buffer += block[..<count]
            return
        }
    }
}
