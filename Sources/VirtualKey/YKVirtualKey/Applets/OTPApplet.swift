// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The Yubico OTP application over a card: the commands are in P1 of instruction 01; 03 and SELECT return the status.
struct OTPApplet: Applet {
    static let aid = AID(rawValue: AID.otp.rawValue + [0x01])
    static let capabilities = VirtualCapability.otp
    static let takesReaderForTouch = true

    mutating func select(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) -> [UInt8] {
        // NEO and YubiKey 4 add mode, challenge-response timeout and time until ejection, the low byte first.
        let management = key.management
        guard key.profile.version.major == 3 || key.profile.version.major == 4 else { return key.otpStatus.encoded }
        return key.otpStatus.encoded + [
            (management.mode ?? 6) | management.flags, management.challengeResponse,
            UInt8(truncatingIfNeeded: management.autoEject), UInt8(management.autoEject >> 8),
        ]
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        switch command.ins {
        case OTPProtocol.Instruction.status: return key.otpStatus.encoded
        case OTPProtocol.Instruction.slot:
            let command = (number: OTPCommand(rawValue: command.p1), payload: command.data)
            let data = try key.otp(command.number, command.payload, inputs)
            return command.number.isWrite ? key.otpStatus.encoded : data
        default: throw .status(.unknownInstruction)
        }
    }
}
