// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// Yubico OATH (YKOATH).
    public static let oath = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x01])
}

/// Yubico's OATH application (YKOATH), and the Secrets application of a Nitrokey 3 (``SecretsProtocol``), which has its AID.
package enum OATHProtocol: CardVocabulary {
    package static var aid: AID { .oath }
    package static let title = "OATH"

    /// The instruction bytes (YKOATH, "Instructions").
    package enum Instruction {
        package static let put: UInt8 = 0x01
        package static let delete: UInt8 = 0x02
        package static let setCode: UInt8 = 0x03
        package static let reset: UInt8 = 0x04
        package static let rename: UInt8 = 0x05
        package static let list: UInt8 = 0xA1
        package static let calculate: UInt8 = 0xA2
        package static let validate: UInt8 = 0xA3
        package static let calculateAll: UInt8 = 0xA4
        package static let sendRemaining: UInt8 = 0xA5
    }

    /// The tags of the data objects (YKOATH, "Definitions").
    package enum Tag {
        package static let name: TLV.Tag = 0x71
        package static let nameList: TLV.Tag = 0x72
        package static let key: TLV.Tag = 0x73
        package static let challenge: TLV.Tag = 0x74
        package static let fullResponse: TLV.Tag = 0x75
        package static let truncatedResponse: TLV.Tag = 0x76
        package static let noResponse: TLV.Tag = 0x77
        /// The tag that is followed by one byte, without a length.
        package static let property: TLV.Tag = 0x78
        package static let version: TLV.Tag = 0x79
        package static let initialCounter: TLV.Tag = 0x7A
        package static let algorithm: TLV.Tag = 0x7B
        package static let touch: TLV.Tag = 0x7C
    }

    package static let instructions: [UInt8: String] = [
        Instruction.put: "PUT", Instruction.delete: "DELETE", Instruction.setCode: "SET CODE",
        Instruction.reset: "RESET", Instruction.rename: "RENAME", Instruction.list: "LIST",
        Instruction.calculate: "CALCULATE", Instruction.validate: "VALIDATE",
        Instruction.calculateAll: "CALCULATE ALL", Instruction.sendRemaining: "SEND REMAINING",
    ].merging(SecretsProtocol.instructions) { own, _ in own }

    package static let tags = SecretsProtocol.tags

    package static let continuation = Instruction.sendRemaining

    package static let carriers: [UInt8: UnselectedData] = [
        Instruction.put: .hidden, Instruction.setCode: .hidden, Instruction.validate: .located,
    ].merging(SecretsProtocol.carriers) { own, _ in own }

    package static let protectedCapability: UInt32? = ManagementProtocol.Capability.oath

    /// P1 and P2 of RESET.
    package static let resetParameters: (p1: UInt8, p2: UInt8) = (0xDE, 0xAD)

    package static func name(of command: APDU) -> String? {
        if command.ins == Instruction.reset, (command.p1, command.p2) != resetParameters { return nil }
        return instructions[command.ins]
    }

    /// Account keys, and everything computed with the access key: a challenge together with its response allows
    /// guessing the password off-line.
    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case Instruction.put:
            let key = SecretRuns.values(of: [Tag.key], in: data, skipping: 2, bare: Tag.property)
            return key + SecretsProtocol.secrets(in: command, data: data)
        case Instruction.setCode:
            let key = SecretRuns.values(of: [Tag.key], in: data, skipping: 1)
            return key + SecretRuns.values(of: [Tag.fullResponse], in: data)
        case Instruction.validate: return SecretRuns.values(of: [Tag.fullResponse], in: data)
        case _ where SecretsProtocol.instructions[command.ins] != nil:
            return SecretsProtocol.secrets(in: command, data: data)
        default: return []
        }
    }

    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.validate
            ? SecretRuns.values(of: [Tag.fullResponse], in: reply)
            : SecretsProtocol.secrets(inReply: reply, to: command)
    }

    package static func isProof(_ command: APDU) -> Bool { command.ins == Instruction.validate }

    /// CALCULATE without a challenge increments the counter of an HOTP account.
    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.list, Instruction.validate, Instruction.calculateAll, Instruction.sendRemaining: return .read
        case Instruction.calculate:
            let challenge = (try? TLV.list(command.data))?.value(Tag.challenge)
            return challenge?.isEmpty ?? true ? .write(reply: nil) : .read
        default: return SecretsProtocol.effect(of: command)
        }
    }

    /// Accounts may require a touch; CALCULATE ALL leaves these out.
    package static func waiting(for command: APDU) -> UserAction? {
        command.ins == Instruction.calculate ? .touch : SecretsProtocol.waiting(for: command)
    }

    package static func meaning(of status: StatusWord, for command: APDU) -> String? {
        switch (status, command.ins) {
        case (.dataInvalid, Instruction.delete), (.dataInvalid, Instruction.rename),
            (.dataInvalid, Instruction.calculate):
            "no such account"
        case (.securityStatusNotSatisfied, _): "locked, the password is needed"
        case (.incorrectParameters, Instruction.validate): "wrong password"
        case (.noSpace, _): "no space for another account"
        default: SecretsProtocol.meaning(of: status, for: command)
        }
    }
}
