// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKSecureChannel
import YKTestSupport
import YKTransport
import YKWire

extension ScriptedLink {
    /// A command and its reply.
    struct Step: Sendable {
        let command: [UInt8]
        let reply: [UInt8]
    }

    /// A card that expects commands in order and answers each as written. Le fields make no difference; a step of at most
    /// four bytes is the start of any command.
    convenience init(_ steps: [Step], _ form: APDU.Form, log: Log = Log()) {
        var steps = steps[...]
        self.init(atr: form == .extended ? Self.extendedATR : Self.unknown, log: log) { command throws(LinkError) in
            guard let step = steps.popFirst() else { throw .removed }
            let tail = command.dropFirst(step.command.count)
            #expect(command.starts(with: step.command))
            if step.command.count > 4 { #expect(tail.allSatisfy { $0 == 0 }) }
            return step.reply
        }
    }
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
