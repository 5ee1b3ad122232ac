// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKToken
import YKWire

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
