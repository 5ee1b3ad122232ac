// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// RESET (Yubico): removes all keys and objects; the card allows it only if PIN and PUK are blocked.
struct ResetPIVApplication: CardCommand {
    static let name = "RESET"

    init() {}

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.reset, le: .none) }
}
