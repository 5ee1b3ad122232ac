// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes CanoKey's administration application.
enum CanoKeyNarration: ApplicationNarration {
    private typealias Instruction = CanoKeyProtocol.Instruction

    static var vocabulary: any CardVocabulary.Type { CanoKeyProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        guard let name = CanoKeyProtocol.name(of: command.apdu) else { return nil }
        switch command.ins {
        case Instruction.changePIN: return (name, GenericNarration.secret(command))
        case Instruction.configure: return (name, ["parameters \(Hex.encode([command.p1, command.p2]))"])
        default: return nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        switch command.ins {
        case _ where data.isEmpty: []
        case Instruction.readVersion: [data.text]
        case Instruction.readSerial: ["serial \(data.hex)"]
        default: nil
        }
    }
}
