// SPDX-License-Identifier: Apache-2.0

package import Arguments
import YKToken
package import YKWire

/// How to interpret a message.
package struct MessageOptions: ParsableArguments {
    package static let title = "Reading Options"

    @Option(
        "--layout <layout>",
        help: "The keyboard layout of a static password: \(MessageOptions.layouts).",
        transform: MessageOptions.layout)
    package var layout: KeyboardLayout = .us

    package init() {}

    package static var layouts: String { KeyboardLayout.allCases.map(\.rawValue).listed() }

    private static func layout(_ text: String) throws -> KeyboardLayout {
        guard let layout = KeyboardLayout(rawValue: text.lowercased()) else {
            throw UsageError("'\(text.printable)' is not a keyboard layout known here: \(layouts).")
        }
        return layout
    }
}

/// The interpretation of a message, for people and for programs.
package struct MessageReport {
    package static let members = ["message", "records", "token"]

    private let bytes: [UInt8]
    private let message: NDEFMessage
    private let token: OTPToken?

    package init(_ bytes: [UInt8], _ options: MessageOptions) throws(Explanation) {
        do { message = try NDEFMessage(decoding: bytes) } catch {
            throw Explain.malformed("this is not an NDEF message: \(error)")
        }
        self.bytes = bytes
        token = OTPToken(in: message, layout: options.layout)
    }

    /// The answer: one line per record, then the password.
    package var answer: Answer {
        var rows = message.records.map(\.row)
        if let token { rows.append(["password", "\(token.value.printable) (\(token.words))"]) }
        return Answer(
            Table.details(rows),
            [
                "message": .string(Hex.encode(bytes)), "records": .array(message.records.map(\.json)),
                "token": token?.json ?? .null,
            ])
    }
}

extension NDEFRecord {
    fileprivate var row: [String] {
        do { return try content().row } catch { return ["damaged", "\(typeName.printable): \(error)"] }
    }

    /// The same members for every record; missing values are null.
    fileprivate var json: JSONValue {
        let members: JSONValue = [
            "kind": "damaged", "format": .string("\(format)"), "type": .string(typeName),
            "id": id.isEmpty ? .null : .string(Hex.encode(id)), "payload": .string(Hex.encode(payload)), "uri": nil,
            "text": nil, "language": nil, "encoding": nil, "titles": nil, "action": nil, "size": nil, "mediaType": nil,
        ]
        guard let content = try? content(), var object = members.object else { return members }
        object["kind"] = .string(content.row[0])
        switch content {
        case .uri(let uri): object["uri"] = .string(uri.description)
        case .absoluteURI(let uri, _): object["uri"] = .string(uri)
        case .text(let text): text.describe(&object)
        case .smartPoster(let poster): poster.describe(&object)
        case .media(let type, _): object["mediaType"] = .string(type)
        case .empty, .wellKnown, .external, .unknown: break
        }
        return .object(object)
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

extension NDEFText {
    fileprivate func describe(_ object: inout JSONValue.Object) {
        object["text"] = .string(text)
        object["language"] = .string(language)
        object["encoding"] = .string(encoding.rawValue)
    }
}

extension NDEFSmartPoster {
    fileprivate func describe(_ object: inout JSONValue.Object) {
        object["uri"] = .string(uri.description)
        object["titles"] = .array(
            titles.map { ["text": .string($0.text), "language": .string($0.language)] })
        object["action"] = action.map { .string($0.description) } ?? .null
        object["size"] = size.map { .int(Int64($0)) } ?? .null
        object["mediaType"] = mediaType.map(JSONValue.string) ?? .null
    }
}
