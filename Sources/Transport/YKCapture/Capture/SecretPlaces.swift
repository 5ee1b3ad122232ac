// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// Locates the secrets in a card's commands and replies for each application, and before one is selected.
///
/// Every rule works on the known part of a message: truncated data is handled as far as it goes, and from the first
/// byte that cannot be parsed, everything is treated as secret.
enum SecretPlaces {
    /// The secret ranges of a command's data, which may be the first parts of a chain.
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

    /// The secret ranges of a reply's data, which may be its first parts.
    static func inReply(
        _ applet: AID?, _ hasSelected: Bool, _ command: APDU, data: [UInt8], reply: [UInt8]
    ) -> [Range<Int>] {
        if isProtected(command) { return carriers.contains(command.ins) ? SecretRuns.all(reply) : [] }
        if let vocabulary = CardApplication.vocabulary(of: applet) {
            return vocabulary.secrets(inReply: reply, to: command, data: data)
        }
        return hasSelected ? [] : recognizable.flatMap { $0.secrets(inReply: reply, to: command, data: data) }
    }

    /// Whether a reply with secrets is more than a result: a proof that services can do without, or a FIDO message of
    /// which they may not need every part.
    static func isProof(_ command: APDU) -> Bool {
        switch command.ins {
        case FIDOProtocol.Instruction.message, FIDOProtocol.Instruction.getResponse: command.cla & 0x80 != 0
        case OATHProtocol.Instruction.validate: true
        case PIVProtocol.Instruction.authenticate: command.p2 == PIVProtocol.managementKey
        default: false
        }
    }

    /// Whether a command was sent through a secure channel. Its data are then ciphertext, whose parts cannot be
    /// distinguished and which the public factory keys decrypt.
    private static func isProtected(_ command: APDU) -> Bool { command.isProtected && command.ins != 0x82 }

    /// Applications whose commands can be recognized without a SELECT.
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

    /// Every instruction with a rule; if such a command cannot be parsed at all, its data is treated as secret.
    static let carriers: Set<UInt8> = ambiguous.union(ISO7816.secretInstructions).union([
        HSMAuthProtocol.Instruction.delete, FIDOProtocol.Instruction.message, CanoKeyProtocol.Instruction.changePIN,
        PIVProtocol.Instruction.authenticate, OATHProtocol.Instruction.validate,
    ])
}
