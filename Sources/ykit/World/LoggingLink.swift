// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A card link that says what passes over it, secrets overwritten.
final class LoggingLink: CardLink {
    private let link: any CardLink
    private let log: Log
    private var redactor = Redactor()
    private var narrator = Narrator()

    init(link: any CardLink, log: Log) {
        self.link = link
        self.log = log
        log.say(.info, "connected to '\(link.identity.reader)'")
    }

    var identity: CardIdentity { link.identity }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        do {
            let reply = try link.exchange(command, deadline: deadline)
            let masks = redactor.masks(command: command, reply: reply)
            let narration = narrator.narrate(.init(.exchange(command: command, reply: reply)))
            log.say(.debug, narration.summary.printable)
            narration.details.forEach { log.say(.traffic, "  " + $0.printable) }
            log.say(.traffic, "> \(Hex.encode(command.masked(masks.command)))")
            log.say(.traffic, "< \(Hex.encode(reply.masked(masks.reply)))")
            return reply
        } catch {
            log.say(.info, "\(narrator.narrate(command: command).summary.printable): \(error)")
            throw error
        }
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { try link.begin(deadline: deadline) }
    func end() { link.end() }
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) { try link.reset(kind, deadline: deadline) }
    func close() { link.close() }
}
