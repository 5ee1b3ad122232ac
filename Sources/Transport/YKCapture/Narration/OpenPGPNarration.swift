// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes the OpenPGP card (OpenPGP card 3.4).
enum OpenPGPNarration: ApplicationNarration {
    private typealias Instruction = OpenPGPProtocol.Instruction

    private typealias Tag = OpenPGPProtocol.Tag

    static var vocabulary: any CardVocabulary.Type { OpenPGPProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let hidden = GenericNarration.secret(command)
        switch command.ins {
        case Instruction.verify: return ("VERIFY the \(password(command.p2))", hidden)
        case Instruction.changeReference: return ("CHANGE the \(password(command.p2))", hidden)
        case Instruction.performOperation:
            return (
                command.parameters == OpenPGPProtocol.Operation.sign ? "SIGN" : "DECIPHER", ["data \(command.data.hex)"]
            )
        case Instruction.resetRetry: return ("RESET RETRY COUNTER", hidden)
        case Instruction.generateKey:
            return (
                command.p1 == OpenPGPProtocol.KeyPair.generate ? "GENERATE KEY PAIR" : "READ PUBLIC KEY",
                ["key \(command.data.hex)"]
            )
        case Instruction.authenticate: return ("INTERNAL AUTHENTICATE", ["data \(command.data.hex)"])
        case Instruction.selectData: return ("SELECT DATA", ["data \(command.data.hex)"])
        case Instruction.getData: return ("GET DATA \(object(command))", [])
        case Instruction.putData:
            return ("PUT DATA \(Hex.encode([command.p1, command.p2]))", ["data \(command.data.hex)"])
        case Instruction.importKey: return ("IMPORT KEY", hidden)
        case Instruction.setRetries: return ("SET TRIES", ["data \(command.data.hex)"])
        default: return nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        guard command.ins == Instruction.getData, !data.isEmpty else {
            return data.isEmpty ? [] : ["reply \(data.hex)"]
        }
        let object = OpenPGPProtocol.object(of: command.apdu)
        return constructed.contains(object) ? lines(data, depth: 3) : [line(object, data)]
    }

    /// Describes the data objects of a reply, including nested ones (§4.4.3).
    private static func lines(_ data: MaskedBytes, depth: Int) -> [String] {
        let (list, rest) = data.fields
        guard rest.isEmpty, !list.isEmpty else { return ["content \(data.hex)"] }
        return list.flatMap { field -> [String] in
            if depth > 0, constructed.contains(field.tag), !field.value.isEmpty {
                return lines(field.value, depth: depth - 1)
            }
            return [line(field.tag, field.value)]
        }
    }

    private static func line(_ tag: TLV.Tag, _ value: MaskedBytes) -> String {
        let known = vocabulary.tags[tag]
        let name = known?.text ?? "tag \(tag)"
        if value.isEmpty { return "\(name): empty" }
        switch tag {
        case _ where known?.isText == true: return "\(name): \(value.text)"
        case Tag.signatureCounter: return "\(name): \(value.number.map(String.init) ?? value.hex)"
        case Tag.pinStatus where value.count >= 7:
            return "\(name): user PIN \(value[4]), resetting code \(value[5]), admin PIN \(value[6]) tries left"
        default: return "\(name): \(value.hex)"
        }
    }

    private static func object(_ command: NarratedCommand) -> String {
        let tag = OpenPGPProtocol.object(of: command.apdu)
        return vocabulary.tags[tag].map { "\(tag) (\($0.text))" } ?? "\(tag)"
    }

    private static let constructed: Set<TLV.Tag> = [
        Tag.cardholder, Tag.application, Tag.discretionary, Tag.securitySupport,
    ]

    private static func password(_ number: UInt8) -> String {
        switch number {
        case OpenPGPProtocol.Password.signing: "user PIN (signing)"
        case OpenPGPProtocol.Password.user: "user PIN"
        case OpenPGPProtocol.Password.admin: "admin PIN"
        default: "reference \(Hex.encode([number]))"
        }
    }
}
