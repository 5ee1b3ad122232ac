// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
package import TerminalIO
import Verbs
import YKHardware
import YKNFC
import YKToken
import YKTransport
package import YKWire

/// Commands for NFC tags.
package struct NFCGroup: ParsableCommand {
    package static let about = About(
        "NFC tags: what a key shows to a phone.",
        subcommands: ["read": NFCRead.self, "parse": NFCParse.self],
        examples: [Example("ykit nfc read")])

    package init() {}
}

/// Reads the tag on the reader.
struct NFCRead: Verb {
    static let about = About(
        "Read the tag of a key, and the one-time password in it.",
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

/// Interprets an NDEF message without a tag.
struct NFCParse: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Decode an NDEF message.",
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

/// How to interpret a message.
struct MessageOptions: ParsableArguments {
    static let title = "Reading Options"

    @Option("--layout <layout>", help: "The keyboard layout of a static password.")
    var layout: KeyboardLayout = .us
}

/// The interpretation of a message, for people and for programs.
struct MessageReport: Report {
    private let bytes: [UInt8]
    private let message: NDEFMessage
    private let token: OTPToken?
    static let members: [Member<MessageReport>] = [
        Member("message", "in hexadecimal") { Hex.encode($0.bytes) },
        Member("records") { $0.message.records.map(RecordReport.init) },
        Member("token", "the password in the message") { $0.token },
    ]

    init(_ bytes: [UInt8], _ options: MessageOptions) throws(Explanation) {
        do { message = try NDEFMessage(decoding: bytes) } catch {
            throw Explanation.malformed("this is not an NDEF message: \(error)")
        }
        self.bytes = bytes
        token = OTPToken(in: message, layout: options.layout)
    }

    /// One line per record, then the password.
    var lines: [String] {
        var rows = message.records.map(\.row)
        if let token { rows.append(["password", "\(token.value.printable) (\(token.words))"]) }
        return Table.details(rows)
    }
}

/// A record, with the same members for every kind.
private struct RecordReport: Report {
    let record: NDEFRecord
    /// The content; `nil` if it is damaged.
    let content: NDEFContent?
    static let members: [Member<RecordReport>] = [
        Member("kind") { $0.content?.row[0] ?? "damaged" },
        Member("format") { "\($0.record.format)" },
        Member("type") { $0.record.typeName },
        Member("id", "in hexadecimal") { $0.record.id.isEmpty ? nil : Hex.encode($0.record.id) },
        Member("payload", "in hexadecimal") { Hex.encode($0.record.payload) },
        Member("uri") { $0.uri },
        Member("text") { $0.text?.text },
        Member("language") { $0.text?.language },
        Member("encoding") { $0.text?.encoding.rawValue },
        Member("titles") { $0.poster?.titles.map(PosterTitle.init) },
        Member("action", "perform, save, edit or a number") { $0.poster?.action?.description },
        Member("size", "of the resource, in bytes") { $0.poster?.size },
        Member("mediaType") { $0.mediaType },
    ]

    init(_ record: NDEFRecord) {
        self.record = record
        content = try? record.content()
    }

    private var uri: String? {
        switch content {
        case .uri(let uri): uri.description
        case .absoluteURI(let uri, _): uri
        default: poster?.uri.description
        }
    }

    private var text: NDEFText? { if case .text(let text) = content { text } else { nil } }

    private var poster: NDEFSmartPoster? { if case .smartPoster(let poster) = content { poster } else { nil } }

    private var mediaType: String? { if case .media(let type, _) = content { type } else { poster?.mediaType } }
}

private struct PosterTitle: Report {
    let title: NDEFText
    static let members: [Member<PosterTitle>] = [
        Member("text") { $0.title.text },
        Member("language") { $0.title.language },
    ]
}

extension NDEFRecord {
    fileprivate var row: [String] {
        do { return try content().row } catch { return ["damaged", "\(typeName.printable): \(error)"] }
    }
}

extension NDEFContent {
    fileprivate var row: [String] {
        switch self {
        case .empty: ["empty"]
        case .uri(let uri): ["uri", uri.description.printable]
        case .text(let text): ["text", "\(text.text.printable) (\(text.language.printable))"]
        case .smartPoster(let poster):
            ["poster", ([poster.uri.description] + poster.titles.map(\.text)).listed().printable]
        case .wellKnown(let type, let payload): ["well-known", "\(type.printable) \(Hex.encode(payload))"]
        case .media(let type, let payload): ["media", "\(type.printable), \(payload.count) bytes"]
        case .absoluteURI(let uri, _): ["absolute-uri", uri.printable]
        case .external(let type, let payload): ["external", "\(type.printable) \(Hex.encode(payload))"]
        case .unknown(let payload): ["unknown", Hex.encode(payload)]
        }
    }
}
