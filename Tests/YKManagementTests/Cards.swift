// SPDX-License-Identifier: Apache-2.0

import YKTestSupport
import YKTransport
import YKWire

extension ScriptedLink {
    /// A card that answers what a test wrote down, command by command, and the same to anything else.
    convenience init(_ replies: [String: String], otherwise: String = "6a82") {
        self.init(atr: [0x3B, 0x00]) { command throws(LinkError) in
            let reply = replies[Hex.encode(command)] ?? otherwise
            return try lift(LinkError.malformed) { () throws(WireError) in try Hex.decode(reply) }
        }
    }

    /// A card with a management application that has these pages.
    convenience init(version: String = "5.7.1", pages: [[UInt8]], otherwise: String = "6a82") {
        var replies = ["00a4040008a00000052747111700": Hex.encode(Array("FW \(version)".utf8)) + "9000"]
        for (number, page) in pages.enumerated() {
            replies["001d" + Hex.encode([UInt8(number)]) + "0000"] = Hex.encode(page) + "9000"
        }
        self.init(replies, otherwise: otherwise)
    }

    /// A page: a length byte, then data objects.
    static func page(_ objects: TLV...) -> [UInt8] {
        let content = objects.encoded
        return [UInt8(content.count)] + content
    }
}
