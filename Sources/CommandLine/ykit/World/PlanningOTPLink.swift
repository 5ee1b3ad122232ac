// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKTransport
import YKWire

/// A way to an OTP application that lets commands through that only read, and keeps back those that change the key or
/// make a token.
final class PlanningOTPLink: OTPLink {
    private let link: any OTPLink
    private let plan: Plan

    init(_ link: sending any OTPLink, plan: Plan) {
        self.link = link
        self.plan = plan
    }

    var environment: Environment { link.environment }
    var carrier: OTPCarrier { link.carrier }

    func status(deadline: Deadline) throws(OTPLinkError) -> OTPStatus { try link.status(deadline: deadline) }

    func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8] {
        guard [.serial, .deviceInfo, .fipsMode].contains(command) else { throw stop(command, payload) }
        let data = try link.query(command, payload, reply: reply, deadline: deadline, waiting: waiting)
        note(command, Narration.slot(command, payload, reply: data), isSent: true)
        return data
    }

    func write(_ command: OTPCommand, _ payload: [UInt8], deadline: Deadline) throws(OTPLinkError) -> OTPStatus {
        throw stop(command, payload)
    }

    /// What comes next depends on the key's answer.
    private func stop(_ command: OTPCommand, _ payload: [UInt8]) -> OTPLinkError {
        note(command, Narration.slot(command, payload, reply: nil), isSent: false)
        plan.stop()
        return .device(.failed(code: 0, "the plan ends here"))
    }

    private func note(_ command: OTPCommand, _ narration: Narration, isSent: Bool) {
        plan.add(
            .init(
                command: [command.rawValue], words: narration.summary.printable,
                details: narration.details.map(\.printable), isSent: isSent))
    }

    func rest() { link.rest() }
    func close() { link.close() }
}
