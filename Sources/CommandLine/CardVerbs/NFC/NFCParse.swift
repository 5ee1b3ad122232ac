// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKHardware
import YKWire

/// Interprets an NDEF message without a tag.
struct NFCParse: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "parse", "Decode an NDEF message.",
        discussion: "The message is given in hexadecimal, or in a file as bytes or hexadecimal.",
        examples: [Example("ykit nfc parse d1010a5504796b69742e6578616d")])

    @Argument("hex|file", help: "The message in hexadecimal, a file, or - for standard input.", completion: .input)
    var message: String

    @OptionGroup var reading: MessageOptions

    func run(in run: Run) throws -> Outcome<MessageReport> {
        let bytes = try bytes()
        let report: MessageReport
        do { report = try MessageReport(bytes, reading) } catch {
            throw isFile ? error.in(file: message) : error
        }
        return Outcome(report, report.lines)
    }

    private var isFile: Bool { message == "-" || Self.hex(message) == nil }

    private func bytes() throws -> [UInt8] {
        if message != "-", let bytes = Self.hex(message) { return bytes }
        guard message == "-" || FileStatus(message) != nil else {
            throw Explanation(
                "no-such-file", .notFound,
                "'\(message.printable)' is neither a message in hexadecimal nor an existing file")
        }
        let content = try Files.read(message)
        let text = String(validating: content, as: UTF8.self)
        return text.flatMap(Self.hex) ?? content
    }

    /// Parses pairs of hexadecimal digits separated by spaces, colons or line ends.
    private static func hex(_ text: String) -> [UInt8]? {
        let digits = text.filter { !$0.isWhitespace && $0 != ":" }
        guard !digits.isEmpty else { return nil }
        return try? Hex.decode(digits)
    }
}
