// SPDX-License-Identifier: Apache-2.0

import YKCapture
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

extension Effect {
    /// Looks a FIDO message up (CTAP 2.2 §6, U2F raw messages §3); what is not known to read counts as a change.
    init(ofFIDO command: CTAPHID.Command, _ payload: [UInt8]) {
        switch command {
        case .cbor: self = Self.ctap(payload)
        case .msg:
            guard let apdu = try? APDU(decoding: payload) else {
                self = .write(reply: nil)
                return
            }
            self = apdu.ins == 0x03 || apdu.ins == 0x02 && apdu.p1 == 0x07 ? .read : .write(reply: nil)
        // READ CONFIG, WRITE CONFIG and SET MODE of Yubico's management.
        case .init(rawValue: 0x42): self = .read
        case .init(rawValue: 0x43), .init(rawValue: 0x40): self = .write(reply: [])
        default: self = .write(reply: nil)
        }
    }

    private static func ctap(_ message: [UInt8]) -> Effect {
        let parameters = (try? CBOR(decoding: Array(message.dropFirst())))?.map
        let done = Effect.write(reply: [0x00])
        switch message.first {
        case 0x04: return .read
        case 0x06:
            switch parameters?[2]?.unsigned {
            case 1, 2, 7: return .read
            case 3, 4: return done
            default: return .write(reply: nil)
            }
        case 0x07, 0x0B, 0x0D: return done
        case 0x0A, 0x41: return [6, 7].contains(parameters?[1]?.unsigned) ? done : .write(reply: nil)
        case 0x09, 0x40:
            if parameters?[6] != nil || parameters?[2]?.unsigned == 7 { return .read }
            return [3, 5, 6].contains(parameters?[2]?.unsigned) ? done : .write(reply: nil)
        case 0x0C: return parameters?[1] != nil ? .read : done
        default: return .write(reply: nil)
        }
    }
}
