// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKTransport

/// A card link that says what passes over it.
final class LoggingLink: CardLink {
    private let link: any CardLink
    private var log: TrafficLog

    init(link: any CardLink, log: Log) {
        self.link = link
        self.log = TrafficLog(log, to: link.identity.reader)
    }

    var identity: CardIdentity { link.identity }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        let reply: [UInt8]
        do { reply = try link.exchange(command, deadline: deadline) } catch {
            log.fail(command, error)
            throw error
        }
        log.say(.exchange(command: command, reply: reply))
        return reply
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { try link.begin(deadline: deadline) }
    func end() { link.end() }
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) { try link.reset(kind, deadline: deadline) }
    func close() { link.close() }
}
