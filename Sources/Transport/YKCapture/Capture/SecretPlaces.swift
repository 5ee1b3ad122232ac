// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// Locates the secrets in a card's commands and replies for each application, and before one is selected.
///
/// Every rule works on the known part of a message: truncated data is handled as far as it goes, and from the first
/// byte that cannot be parsed, everything is treated as secret.
struct SecretPlaces: Sendable {
    let applications: CardVocabularies

    /// The secret ranges of a command's data, which may be the first parts of a chain.
    func inCommand(
        _ applet: (any CardVocabulary.Type)?, _ hasSelected: Bool, _ command: APDU, data: [UInt8]
    ) -> [Range<Int>] {
        if ISO7816.secretInstructions.contains(command.ins) { return SecretRuns.all(data) }
        if Self.isProtected(command) { return carries(command) ? SecretRuns.all(data) : [] }
        if let applet { return applet.secrets(in: command, data: data) }
        if hasSelected { return [] }
        if let owner = applications.owner(of: command, data: data) { return owner.secrets(in: command, data: data) }
        if applications.hidden.contains(command.ins) { return SecretRuns.all(data) }
        return applications.recognizable.flatMap { $0.secrets(in: command, data: data) }
    }

    /// The secret ranges of a reply's data, which may be its first parts.
    func inReply(
        _ applet: (any CardVocabulary.Type)?, _ hasSelected: Bool, _ command: APDU, data: [UInt8], reply: [UInt8]
    ) -> [Range<Int>] {
        if Self.isProtected(command) { return carries(command) ? SecretRuns.all(reply) : [] }
        if let applet { return applet.secrets(inReply: reply, to: command, data: data) }
        if hasSelected { return [] }
        return applications.recognizable.flatMap { $0.secrets(inReply: reply, to: command, data: data) }
    }

    private func carries(_ command: APDU) -> Bool { applications.carriers.contains(command.ins) }

    /// Whether a command was sent through a secure channel. Its data are then ciphertext, whose parts cannot be
    /// distinguished and which the public factory keys decrypt.
    private static func isProtected(_ command: APDU) -> Bool {
        command.isProtected && command.ins != SecurityDomainProtocol.Instruction.externalAuthenticate
    }
}
