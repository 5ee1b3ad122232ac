// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes the commands and replies of an application in more words than the names of its vocabulary. What it does not
/// describe is described by these names.
protocol ApplicationNarration: SendableMetatype {
    /// The application.
    static var vocabulary: any CardVocabulary.Type { get }
    /// A short description of the command, and the content of its data.
    static func phrase(_ command: NarratedCommand) -> (String, [String])?
    /// The content of a complete reply.
    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]?
    /// Describes as much of an incomplete reply as possible; returns the lines and the number of bytes they cover.
    static func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int)
    /// The content of the reply to SELECT.
    static func selected(_ data: MaskedBytes) -> [String]?
}

extension ApplicationNarration {
    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? { nil }
    static func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int) { ([], 0) }
    static func selected(_ data: MaskedBytes) -> [String]? { nil }
}

/// Describes the commands and replies of an application, with its own narration where there is one.
struct ApplicationNarrator: Sendable {
    let vocabulary: any CardVocabulary.Type

    private static let narrations: [any ApplicationNarration.Type] = [
        OATHNarration.self, PIVNarration.self, FIDONarration.self, OTPNarration.self, ManagementNarration.self,
        OpenPGPNarration.self, SecurityDomainNarration.self, NDEFNarration.self, CanoKeyNarration.self,
    ]

    var aid: AID { vocabulary.aid }
    var name: String { vocabulary.title }

    private var narration: (any ApplicationNarration.Type)? {
        Self.narrations.first { $0.vocabulary.aid == aid }
    }

    /// A short description of the command, and the content of its data; `nil` for an unknown instruction.
    func phrase(_ command: NarratedCommand) -> (String, [String])? {
        if let phrase = narration?.phrase(command) { return phrase }
        guard let name = vocabulary.name(of: command.apdu) else { return nil }
        if ISO7816.secretInstructions.contains(command.ins) { return (name, GenericNarration.secret(command)) }
        return (name, vocabulary.tags.isEmpty ? GenericNarration.data(command) : command.data.lines(line))
    }

    /// The content of a complete reply: data objects if all of them are known.
    func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        narration?.reply(data, to: command) ?? content(data)
    }

    /// Describes as much of an incomplete reply as possible; returns the lines and the number of bytes they cover.
    func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int) {
        narration?.partialReply(data, to: command) ?? ([], 0)
    }

    /// The content of the reply to SELECT.
    func selected(_ data: MaskedBytes) -> [String] { narration?.selected(data) ?? content(data) }

    /// The meaning of a status word for this command, if more specific than its general meaning.
    func meaning(_ status: StatusWord, of command: NarratedCommand) -> String? {
        vocabulary.meaning(of: status, for: command.apdu)
    }

    private func content(_ data: MaskedBytes) -> [String] {
        if data.isEmpty { return [] }
        let (list, rest) = data.fields
        let isKnown = !data.isSecret && rest.isEmpty && list.allSatisfy { vocabulary.tags[$0.tag] != nil }
        return isKnown ? list.map(line) : ["reply \(data.hex)"]
    }

    private func line(_ field: MaskedBytes.Field) -> String {
        let isText = vocabulary.tags[field.tag]?.isText ?? false
        return "\(field.name(in: vocabulary)) \(isText ? field.value.text : field.value.hex)"
    }
}

extension MaskedBytes.Field {
    /// The name of the data object, or its tag.
    func name(in vocabulary: any CardVocabulary.Type) -> String { vocabulary.tags[tag]?.text ?? "tag \(tag)" }
}

/// Describes instructions that have the same meaning in every application (ISO 7816-4 §11).
enum GenericNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        switch command.ins {
        case ISO7816.select: return ("SELECT file \(command.data.hex)", [])
        case ISO7816.readBinary: return ("READ BINARY from \(command.parameters)", [])
        case ISO7816.getData, ISO7816.getDataExtended:
            return ("GET DATA \(Hex.encode([command.p1, command.p2]))", data(command))
        case ISO7816.verify: return ("VERIFY of \(Hex.encode([command.p2]))", secret(command))
        case ISO7816.changeReferenceData:
            return ("CHANGE REFERENCE DATA of \(Hex.encode([command.p2]))", secret(command))
        case ISO7816.resetRetryCounter:
            return ("RESET RETRY COUNTER of \(Hex.encode([command.p2]))", secret(command))
        case ISO7816.getChallenge: return ("GET CHALLENGE", [])
        default: return nil
        }
    }

    static func secret(_ command: NarratedCommand) -> [String] {
        command.data.isEmpty ? [] : ["value \(command.data.hex)"]
    }

    static func data(_ command: NarratedCommand) -> [String] {
        command.data.isEmpty ? [] : ["data \(command.data.hex)"]
    }
}
