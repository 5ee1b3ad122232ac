// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// The FIDO application on the card: CTAP2 in NFCCTAP_MSG (CTAP 2.2 §11.3), and U2F's commands.
struct FIDOApplet: Applet {
    static let aid = AID.fido
    static let capabilities = VirtualCapability.u2f | VirtualCapability.fido2
    static let classes: Set<UInt8> = [0x00, 0x80]

    private typealias Instruction = FIDOProtocol.Instruction

    /// Whether the card is on a contactless reader.
    private var isOnReader = false
    /// Whether the host has ended the session, after which the application must be selected again.
    private var isEnded = false

    mutating func arrive(by route: CommandRoute) { isOnReader = route.isOnReader }

    mutating func select(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) -> [UInt8] {
        key.fidoPower.waiting = nil
        return Array((key.profile.model.hasU2F && !key.fido.alwaysUV ? "U2F_V2" : "FIDO_2_0").utf8)
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard !isEnded else { throw .status(.commandNotAllowed) }
        var authenticator = FIDOAuthenticator(key, inputs, isOnReader: isOnReader)
        defer { authenticator.store(in: &key) }
        switch (command.cla, command.ins) {
        case (0x80, _) where key.profile.applications & VirtualCapability.fido2 == 0: throw .status(.unknownClass)
        case (0x80, Instruction.message):
            authenticator.power.waiting = nil
            return try message(command.data, canPoll: command.p1 & 0x80 != 0, &authenticator)
        case (0x80, Instruction.getResponse):
            guard let waiting = authenticator.power.waiting else { throw .status(.conditionsNotSatisfied) }
            authenticator.power.waiting = nil
            if command.p1 == FIDOProtocol.cancel { return [CTAPProtocol.Status.keepaliveCancel] }
            return try message(waiting, canPoll: true, &authenticator)
        case (0x80, Instruction.control):
            guard command.p1 == FIDOProtocol.endSession, command.p2 == 0 else { throw .status(.wrongParameters) }
            isEnded = true
            return []
        case (0x00, _) where !key.profile.model.hasU2F: throw .status(.unknownInstruction)
        case (0x00, _): return try authenticator.u2f(command)
        default: throw .status(.unknownInstruction)
        }
    }

    /// Answers a CTAP2 message. If the message is unfinished and the host can poll, the answer says so.
    private func message(
        _ message: [UInt8], canPoll: Bool, _ authenticator: inout FIDOAuthenticator
    ) throws(Refusal) -> [UInt8] {
        do { return [CTAPProtocol.Status.ok] + (try authenticator.answer(message)) } catch {
            switch error {
            case .waitingForTouch where canPoll, .computing where canPoll:
                authenticator.power.waiting = message
                throw .stillWorking(error == .computing ? 0x01 : 0x02)
            case .ctap(let status): return [status]
            default: throw error
            }
        }
    }
}
