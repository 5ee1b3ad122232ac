// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// SET RETRIES (Yubico): sets the retry limits of PIN and PUK, and resets both to their defaults.
package struct SetRetries: CardCommand {
    package static let name = "SET RETRIES"
    package let pin: UInt8
    package let puk: UInt8

    package init(pin: UInt8, puk: UInt8) {
        self.pin = pin
        self.puk = puk
    }

    package var apdu: APDU { APDU(ins: PIVProtocol.Instruction.setRetries, p1: pin, p2: puk, le: .none) }
}
