// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A session with an application through a vendor command of CTAPHID, independent of the card's session.
struct CardTunnel: Sendable {
    var applet: (any Applet)?
    /// The rest of a long reply.
    var rest: [UInt8] = []

    /// The maximum size of an answer's data, in bytes (trussed-secrets-app: `CTAPHID_MESSAGE_SIZE_LIMIT`).
    static let room = 3072
}

extension VirtualCard {
    /// Processes a command APDU that arrived in a vendor command of CTAPHID. The answer has the status word first.
    mutating func tunnel(_ message: [UInt8], by command: UInt8, _ inputs: VirtualInputs) -> VirtualHID.Outcome {
        guard let applet = state.profile.model.applets?.first(where: { $0.tunnel == command }) else {
            return .refused(.invalidCommand)
        }
        guard let apdu = try? APDU(decoding: message) else { return .refused(.invalidLength) }
        var next = self
        let response: ResponseAPDU
        do throws(Refusal) { response = try next.tunnelled(apdu, to: applet, inputs) } catch {
            switch error {
            case .waitingForTouch, .stillWorking: return .waiting
            case .computing: return .computing
            case .status(let status): response = ResponseAPDU(status)
            case .ctap: response = ResponseAPDU(.aborted)
            }
        }
        self = next
        return .answer([response.status.sw1, response.status.sw2] + response.data)
    }

    private mutating func tunnelled(
        _ command: APDU, to type: any Applet.Type, _ inputs: VirtualInputs
    ) throws(Refusal) -> ResponseAPDU {
        guard command.cla == 0 else { throw .status(.unknownClass) }
        if command.ins == SecretsProtocol.Instruction.sendRemaining, command.parameters == 0 {
            guard !tunnel.rest.isEmpty else { throw .status(.conditionsNotSatisfied) }
            return tunnelRest()
        }
        tunnel.rest = []
        var applet = tunnel.applet ?? type.init()
        defer { tunnel.applet = applet }
        if command.ins == ISO7816.select, command.p1 == 0x04, command.p2 == 0 {
            guard command.data == type.aid.rawValue else { throw .status(.notFound) }
            tunnel.rest = try applet.select(&state, inputs)
        } else {
            tunnel.rest = try applet.process(command, &state, inputs)
        }
        return tunnelRest()
    }

    private mutating func tunnelRest() -> ResponseAPDU {
        let data = Array(tunnel.rest.prefix(CardTunnel.room))
        tunnel.rest.removeFirst(data.count)
        return ResponseAPDU(tunnel.rest.isEmpty ? .ok : StatusWord(0x61FF), data: data)
    }
}
