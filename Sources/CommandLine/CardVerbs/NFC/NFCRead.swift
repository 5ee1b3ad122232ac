// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKNFC
import YKTransport
import YKWire

/// Reads the tag on the reader.
struct NFCRead: Verb {
    static let about = About(
        "read", "Read the tag of a key, and the one-time password in it.",
        discussion: """
            Waits as long as --timeout says for a key to be held to a contactless reader; a YubiKey in a USB port has no \
            tag. A key makes a new password each time it is read.
            """, members: ["reader", "atr", "contactless", "capabilities"] + MessageReport.members)

    @OptionGroup var reading: MessageOptions

    func answer(in world: World) async throws -> Answer {
        let tag = try await world.readTag()
        guard !tag.content.bytes.isEmpty else {
            throw Explanation("tag-empty", .notFound, "there is nothing on the tag")
        }
        var answer = try MessageReport(tag.content.bytes, reading).answer
        answer.members["reader"] = .string(tag.identity.reader)
        answer.members["atr"] = .string(Hex.encode(tag.identity.atr))
        answer.members["contactless"] = .bool((try? ATR(decoding: tag.identity.atr))?.contactless != nil)
        answer.members["capabilities"] = tag.content.capabilities.json
        return answer
    }
}

extension CapabilityContainer {
    /// The members of interest to people who write tags.
    fileprivate var json: JSONValue {
        [
            "version": .string("\(version >> 4).\(version & 15)"), "readLimit": .int(Int64(readLimit)),
            "writeLimit": .int(Int64(writeLimit)),
            "file": .string(Hex.encode([UInt8(file >> 8), UInt8(truncatingIfNeeded: file)])),
            "fileSize": .int(Int64(fileSize)), "writable": .bool(writeAccess == 0),
        ]
    }
}
