// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// SET MODE for keys before firmware 5 (Yubico management interface, INS 16; in the OTP application of a NEO slot
/// command 11).
package struct SetMode: CardCommand {
    package static let name = "SET MODE"

    /// Mode, seconds for challenge-response, seconds until ejection (two bytes, least significant first).
    package let bytes: [UInt8]
    /// Whether it is sent to the OTP application.
    package let isInOTP: Bool

    package init(bytes: [UInt8], isInOTP: Bool) {
        self.bytes = bytes
        self.isInOTP = isInOTP
    }

    package var apdu: APDU {
        APDU(
            ins: isInOTP ? OTPProtocol.Instruction.slot : ManagementProtocol.Instruction.setMode,
            p1: ManagementProtocol.mode, data: bytes)
    }
}
