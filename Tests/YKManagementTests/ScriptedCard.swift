// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A card that answers what a test wrote down, command by command, and 6A82 to anything else.
final class ScriptedCard: CardLink {
    let identity = CardIdentity(reader: "script", atr: [0x3B, 0x00])
    private let replies: [String: String]
    /// The answer to anything else.
    var always = "6a82"

    init(_ replies: [String: String]) { self.replies = replies }

    /// A card with a management application that has these pages.
    convenience init(version: String = "5.7.1", pages: [[UInt8]]) {
        var replies = ["00a4040008a00000052747111700": Hex.encode(Array("FW \(version)".utf8)) + "9000"]
        for (number, page) in pages.enumerated() {
            replies["001d" + Hex.encode([UInt8(number)]) + "0000"] = Hex.encode(page) + "9000"
        }
        self.init(replies)
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        let reply = replies[Hex.encode(command)] ?? always
        return try lift(LinkError.malformed) { () throws(WireError) in try Hex.decode(reply) }
    }

    func begin(deadline: Deadline) -> Bool { false }
    func end() {}
    func reset(_ kind: CardReset, deadline: Deadline) {}
    func close() {}

    /// A page: a length byte, then data objects.
    static func page(_ objects: TLV...) -> [UInt8] {
        let content = objects.encoded
        return [UInt8(content.count)] + content
    }
}
