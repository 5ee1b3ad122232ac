// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// SET MODE for keys before firmware 5 (Yubico management interface, INS 16; in the OTP application of a NEO slot
/// command 11).
struct SetMode: CardCommand {
    static let name = "SET MODE"

    /// Mode, seconds for challenge-response, seconds until ejection (two bytes, least significant first).
    let bytes: [UInt8]
    /// Whether it is sent to the OTP application.
    let isInOTP: Bool

    init(bytes: [UInt8], isInOTP: Bool) {
        self.bytes = bytes
        self.isInOTP = isInOTP
    }

    var apdu: APDU {
        APDU(
            ins: isInOTP ? OTPProtocol.Instruction.slot : ManagementProtocol.Instruction.setMode,
            p1: ManagementProtocol.mode, data: bytes)
    }
}
