// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKHardware
import YKWire

/// Interprets an NDEF message without a tag.
struct NFCParse: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "parse", "Decode an NDEF message.",
        discussion: "The message is given in hexadecimal, or in a file as bytes or hexadecimal.",
        members: MessageReport.members)

    @Argument("hex|file", help: "The message in hexadecimal, a file, or - for standard input.", completion: .file)
    var message: String

    @OptionGroup var reading: MessageOptions

    func answer(in world: World) throws -> Answer {
        if message != "-", let bytes = Self.hex(message) { return try MessageReport(bytes, reading).answer }
        guard message == "-" || FileStatus(message) != nil else {
            throw Explanation(
                "no-such-file", .notFound,
                "'\(message.printable)' is neither a message in hexadecimal nor a file that is there")
        }
        let content = try Files.read(message)
        let text = String(validating: content, as: UTF8.self)
        return try MessageReport(text.flatMap(Self.hex) ?? content, reading).answer
    }

    /// Parses pairs of hexadecimal digits separated by spaces, colons or line ends.
    private static func hex(_ text: String) -> [UInt8]? {
        let digits = text.filter { !$0.isWhitespace && $0 != ":" }
        guard !digits.isEmpty else { return nil }
        return try? Hex.decode(digits)
    }
}
