// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// READ CONFIG (Yubico management interface, INS 1D): one raw page of device information.
package struct ReadConfig: CardCommand {
    package static let name = "READ CONFIG"

    /// The number of the page, from 0.
    package let page: UInt8

    package var apdu: APDU { APDU(ins: ManagementProtocol.Instruction.readConfig, p1: page) }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        try reader.bytes(reader.remaining, "the page")
    }
}

/// WRITE CONFIG (Yubico management interface, INS 1C): a length byte, then the data objects to change.
package struct WriteConfig: CardCommand {
    package static let name = "WRITE CONFIG"

    /// The configuration.
    package let bytes: [UInt8]

    package var apdu: APDU { APDU(ins: ManagementProtocol.Instruction.writeConfig, data: bytes, le: .none) }
}

/// SET MODE for keys before firmware 5 (Yubico management interface, INS 16; in the OTP application of a NEO slot
/// command 11).
struct SetMode: CardCommand {
    static let name = "SET MODE"

    /// Mode, seconds for challenge-response, seconds until ejection (two bytes, least significant first).
    let bytes: [UInt8]
    /// Whether it is sent to the OTP application.
    let isInOTP: Bool

    var apdu: APDU {
        APDU(
            ins: isInOTP ? OTPProtocol.Instruction.slot : ManagementProtocol.Instruction.setMode,
            p1: ManagementProtocol.mode, data: bytes)
    }
}

/// RESET DEVICE (Yubico management interface, INS 1F): resets all applications and their shared PIN, on keys with a
/// fingerprint sensor and more than FIDO.
package struct ResetDevice: CardCommand {
    package static let name = "RESET DEVICE"

    package var apdu: APDU { APDU(ins: ManagementProtocol.Instruction.resetDevice, le: .none) }
}
