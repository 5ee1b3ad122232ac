// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// SET RETRIES (Yubico): sets the retry limits of PIN and PUK, and resets both to their defaults.
struct SetRetries: CardCommand {
    static let name = "SET RETRIES"
    let pin: UInt8
    let puk: UInt8

    init(pin: UInt8, puk: UInt8) {
        self.pin = pin
        self.puk = puk
    }

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.setRetries, p1: pin, p2: puk, le: .none) }
}
