// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKProtocols
import YKTransport
import YKWire

/// A card link that lets reads through and keeps writes back.
final class PlanningLink: CardLink {
    private let link: any CardLink
    private let plan: Plan
    private var redactor = Redactor()
    private var narrator = Narrator()
    private var applet: AID?

    init(link: any CardLink, plan: Plan) {
        self.link = link
        self.plan = plan
    }

    var identity: CardIdentity { link.identity }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        switch Effect(of: command, in: applet) {
        case .read:
            let reply = try link.exchange(command, deadline: deadline)
            note(command, reply, narrator.narrate(.init(.exchange(command: command, reply: reply))), isSent: true)
            let status = (try? ResponseAPDU(decoding: reply))?.status
            if let aid = command.selected, status == .ok { applet = aid }
            return reply
        case .write(let reply):
            note(command, reply ?? [], narrator.narrate(command: command), isSent: false)
            guard let reply else {
                plan.stop()
                throw .failed(code: 0, "the plan ends here")
            }
            return reply
        }
    }

    private func note(_ command: [UInt8], _ reply: [UInt8], _ narration: Narration, isSent: Bool) {
        let masks = redactor.masks(command: command, reply: reply)
        plan.add(
            .init(
                command: command.masked(masks.command), words: narration.summary.printable,
                details: narration.details.map(\.printable), isSent: isSent))
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { try link.begin(deadline: deadline) }
    func end() { link.end() }
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) { try link.reset(kind, deadline: deadline) }
    func close() { link.close() }
}

extension [UInt8] {
    /// The application that this command selects by name.
    fileprivate var selected: AID? {
        guard let command = try? APDU(decoding: self), command.ins == 0xA4, command.p1 == 0x04 else { return nil }
        return AID(rawValue: command.data)
    }
}
