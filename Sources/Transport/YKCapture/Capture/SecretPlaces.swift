// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// Where the secrets of a card's commands and replies are, whichever application is selected, and before one is.
///
/// Every rule works on the part of a message that is known so far: what is cut off counts as far as it goes, and what
/// cannot be read is a secret from there on.
enum SecretPlaces {
    /// The secret runs of a command's data, which may be the first parts of a chain.
    static func inCommand(_ applet: AID?, _ hasSelected: Bool, _ command: APDU, data: [UInt8]) -> [Range<Int>] {
        if ISO7816.secretInstructions.contains(command.ins) { return SecretRuns.all(data) }
        if isProtected(command) { return carriers.contains(command.ins) ? SecretRuns.all(data) : [] }
        if let vocabulary = CardApplication.vocabulary(of: applet) {
            return vocabulary.secrets(in: command, data: data)
        }
        if hasSelected { return [] }
        if command.ins == PIVProtocol.Instruction.putData, data.first.map({ $0 == 0x5C }) ?? false {
            return PIVProtocol.secrets(in: command, data: data)
        }
        if ambiguous.contains(command.ins) { return SecretRuns.all(data) }
        return recognizable.flatMap { $0.secrets(in: command, data: data) }
    }

    /// The secret runs of a reply's data, which may be the first parts of it.
    static func inReply(
        _ applet: AID?, _ hasSelected: Bool, _ command: APDU, data: [UInt8], reply: [UInt8]
    ) -> [Range<Int>] {
        if isProtected(command) { return carriers.contains(command.ins) ? SecretRuns.all(reply) : [] }
        if let vocabulary = CardApplication.vocabulary(of: applet) {
            return vocabulary.secrets(inReply: reply, to: command, data: data)
        }
        return hasSelected ? [] : recognizable.flatMap { $0.secrets(inReply: reply, to: command, data: data) }
    }

    /// Whether a reply with secrets in it holds more than a result: a proof that services can do without, or a FIDO
    /// message of which they need not use every part.
    static func isProof(_ command: APDU) -> Bool {
        switch command.ins {
        case FIDOProtocol.Instruction.message, FIDOProtocol.Instruction.getResponse: command.cla & 0x80 != 0
        case OATHProtocol.Instruction.validate: true
        case PIVProtocol.Instruction.authenticate: command.p2 == PIVProtocol.managementKey
        default: false
        }
    }

    /// Whether a command went through a secure channel: its data are ciphertext, in which no part can be told from another,
    /// and which the public factory keys decrypt.
    private static func isProtected(_ command: APDU) -> Bool { command.isProtected && command.ins != 0x82 }

    /// Applications whose commands can be told without a SELECT.
    private static let recognizable: [any CardVocabulary.Type] = [
        PIVProtocol.self, OTPProtocol.self, FIDOProtocol.self, OATHProtocol.self,
    ]

    /// Instructions that carry secrets in one application and mean something else in another.
    private static let ambiguous: Set<UInt8> = [
        OATHProtocol.Instruction.put, OATHProtocol.Instruction.setCode, HSMAuthProtocol.Instruction.getChallenge,
        HSMAuthProtocol.Instruction.putManagementKey, HSMAuthProtocol.Instruction.changePassword,
        ManagementProtocol.Instruction.writeConfig, FIDOProtocol.Instruction.fipsVerifyPIN,
        FIDOProtocol.Instruction.fipsSetPIN, SecurityDomainProtocol.Instruction.putKey,
        OpenPGPProtocol.Instruction.putData, OpenPGPProtocol.Instruction.importKey,
        PIVProtocol.Instruction.importKey, PIVProtocol.Instruction.setManagementKey,
    ]

    /// Every instruction that has a rule: what such a command holds is a secret when it cannot be read at all.
    static let carriers: Set<UInt8> = ambiguous.union(ISO7816.secretInstructions).union([
        HSMAuthProtocol.Instruction.delete, FIDOProtocol.Instruction.message, CanoKeyProtocol.Instruction.changePIN,
        PIVProtocol.Instruction.authenticate, OATHProtocol.Instruction.validate,
    ])
}
