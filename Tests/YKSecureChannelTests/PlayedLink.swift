// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKSecureChannel
import YKTransport
import YKWire

/// A card that expects commands in order and answers each as written. Le fields make no difference; a step of at most
/// four bytes is the start of any command.
final class PlayedLink: CardLink {
    struct Step: Sendable {
        let command: [UInt8]
        let reply: [UInt8]
    }

    /// What was sent, to look at after the link was handed over.
    final class Log: Sendable {
        private let state = Mutex<[[UInt8]]>([])
        var commands: [[UInt8]] { state.withLock { $0 } }
        func append(_ command: [UInt8]) { state.withLock { $0.append(command) } }
    }

    let identity: CardIdentity
    private let log: Log
    private var steps: ArraySlice<Step>

    private static let extendedATR: [UInt8] = [0x3B, 0x85, 0x80, 0x01, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0xD6]

    init(_ steps: [Step], _ form: APDU.Form, log: Log = Log()) {
        identity = CardIdentity(reader: "played", atr: form == .extended ? Self.extendedATR : [0x3B, 0x80, 0x01, 0x81])
        self.steps = steps[...]
        self.log = log
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        log.append(command)
        guard let step = steps.popFirst() else { throw .removed }
        let tail = command.dropFirst(step.command.count)
        #expect(command.starts(with: step.command) && (step.command.count <= 4 || tail.allSatisfy { $0 == 0 }))
        return step.reply
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { false }
    func end() {}
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {}
    func close() {}
}

/// Gives the bytes it was made with, whatever for.
struct FixedRandom: RandomSource {
    let bytes: [UInt8]
    func draw(_ count: Int, secret: Bool) -> [UInt8] { Array(bytes.prefix(count)) }
}

/// The published vectors.
struct Vectors {
    let all: [JSONValue]

    init(_ name: String) throws {
        let url = try #require(Bundle.module.url(forResource: "vectors/\(name)", withExtension: "json"))
        all = try #require(try JSONValue(parsing: Array(try Data(contentsOf: url)))["vectors"]?.array)
    }

    subscript(_ id: String) -> JSONValue {
        get throws { try #require(all.first { $0["id"]?.string == id }) }
    }
}

extension JSONValue {
    /// A member's bytes.
    func bytes(_ member: String) throws -> [UInt8] { try Hex.decode(try #require(self[member]?.string)) }

    func secret(_ member: String) throws -> SharedSecret { SharedSecret(Secret(try bytes(member))) }

    /// The frames of a member that is a list of texts.
    func frames(_ member: String) throws -> [[UInt8]] {
        try #require(self[member]?.array).map { try Hex.decode(try #require($0.string)) }
    }
}
