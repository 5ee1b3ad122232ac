// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKProtocols
import YKTransport
import YKWire

/// A way to a key that lets messages through that only read, and keeps back those that change the key, want a touch or
/// spend a PIN try.
final class PlanningFIDOLink: FIDOLink {
    private let link: any FIDOLink
    private let plan: Plan

    init(_ link: sending any FIDOLink, plan: Plan) {
        self.link = link
        self.plan = plan
    }

    var environment: Environment { link.environment }
    var profile: FIDOLinkProfile { link.profile }
    var generation: Int { link.generation }
    var messages: Int { link.messages }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        switch Effect(ofFIDO: command, payload) {
        case .read:
            let reply = try link.call(command, payload, deadline: deadline, keepalive: keepalive)
            note(command, payload, Narration.message(command, payload, reply: reply), isSent: true)
            return reply
        case .write(let reply):
            note(command, payload, Narration.message(command, payload, reply: nil), isSent: false)
            guard let reply else {
                plan.stop()
                throw .device(.failed(code: 0, "the plan ends here"))
            }
            return reply
        }
    }

    private func note(
        _ command: CTAPHID.Command, _ payload: [UInt8], _ narration: Narration, isSent: Bool
    ) {
        let masked = payload.masked(Redactor.masks(message: payload, of: command))
        plan.add(
            .init(
                command: masked, words: narration.summary.printable, details: narration.details.map(\.printable),
                isSent: isSent))
    }

    func rest() { link.rest() }
    func close() { link.close() }
}
