// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// The Yubico OTP application over a card: the commands are in P1 of instruction 01; 03 and SELECT return the status.
package struct OTPApplet: Applet {
    package static let aid = AID(rawValue: AID.otp.rawValue + [0x01])
    package static let capabilities = VirtualCapability.otp

    package init() {}

    package mutating func select(_ key: inout VirtualKeyState, _ world: VirtualWorld) -> [UInt8] {
        key.otpStatus.encoded
    }

    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        switch command.ins {
        case OTPProtocol.Instruction.status: return key.otpStatus.encoded
        case OTPProtocol.Instruction.slot:
            let command = (number: OTPCommand(rawValue: command.p1), payload: command.data)
            let data = try key.otp(command.number, command.payload, world)
            return command.number.isWrite ? key.otpStatus.encoded : data
        default: throw .status(.unknownInstruction)
        }
    }
}
