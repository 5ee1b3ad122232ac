// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// The replies that the selected application would repeat, so that no question is asked twice.
///
/// Only what the vocabulary calls repeatable is kept (`CardVocabulary.persistence`), never a reply with secrets,
/// and nothing beyond the next command that may change it. The channel forgets everything when the card is released.
struct ReplyMemory {
    private var vocabulary: (any CardVocabulary.Type)?
    private var replies: [APDU: ResponseAPDU] = [:]

    /// The replies worth keeping: success, and that something does not exist.
    private static let kept: Set<StatusWord> = [.ok, .notFound, .referenceNotFound, .unknownInstruction]

    /// Forgets everything; the next commands are for this application.
    mutating func select(_ applet: AID?) {
        replies = [:]
        vocabulary = applet.flatMap(CardVocabularies.applications.application)
    }

    /// Forgets all replies.
    mutating func forget() { replies = [:] }

    /// Returns the reply that the card would repeat.
    func reply(to command: APDU) -> ResponseAPDU? { replies[command] }

    /// Forgets what a command that is about to be sent may change.
    mutating func forget(before command: APDU) {
        guard let vocabulary else { return }
        if case .read = vocabulary.effect(of: command) { return }
        let changesContent = vocabulary.changesContent(command)
        replies = replies.filter { !changesContent && vocabulary.persistence(of: $0.key) == .content }
    }

    /// Keeps a reply if the card would repeat it.
    mutating func keep(_ reply: ResponseAPDU, to command: APDU) {
        guard let vocabulary, vocabulary.persistence(of: command) != nil, Self.kept.contains(reply.status),
            vocabulary.secrets(inReply: reply.data, to: command, data: command.data).isEmpty
        else { return }
        replies[command] = reply
    }
}
