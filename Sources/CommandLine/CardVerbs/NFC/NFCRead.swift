// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
import YKNFC
import YKTransport
package import YKWire

/// Reads the tag on the reader.
struct NFCRead: Verb {
    static let about = About(
        "read", "Read the tag of a key, and the one-time password in it.",
        discussion: """
            Waits up to --timeout for a key to be held to a contactless reader; a YubiKey in a USB port has no tag. A \
            key generates a new password each time it is read.
            """,
        examples: [Example("ykit nfc read")])

    @OptionGroup var reading: MessageOptions

    func run(in run: Run) async throws -> Outcome<TagReport> {
        let tag = try await run.readTag()
        guard !tag.content.bytes.isEmpty else {
            throw Explanation("tag-empty", .notFound, "the tag is empty")
        }
        let message = try MessageReport(tag.content.bytes, reading)
        let report = TagReport(identity: tag.identity, capabilities: tag.content.capabilities, message: message)
        return Outcome(report, message.lines)
    }
}

/// A tag and its message.
struct TagReport: Report {
    let identity: CardIdentity
    let capabilities: CapabilityContainer
    let message: MessageReport
    static let members: [Member<TagReport>] =
        [
            Member("reader") { $0.identity.reader },
            Member("atr", "in hexadecimal") { Hex.encode($0.identity.atr) },
            Member("contactless") { (try? ATR(decoding: $0.identity.atr))?.contactless != nil },
            Member("capabilities") { $0.capabilities },
        ] + including { $0.message }
}

/// The members of interest to people who write tags.
extension CapabilityContainer: Report {
    package static let members: [Member<CapabilityContainer>] = [
        Member("version") { "\($0.version >> 4).\($0.version & 15)" },
        Member("readLimit", "in bytes") { $0.readLimit },
        Member("writeLimit", "in bytes") { $0.writeLimit },
        Member("file", "the identifier in hexadecimal") {
            Hex.encode([UInt8($0.file >> 8), UInt8(truncatingIfNeeded: $0.file)])
        },
        Member("fileSize", "in bytes") { $0.fileSize },
        Member("writable") { $0.writeAccess == 0 },
    ]
}
