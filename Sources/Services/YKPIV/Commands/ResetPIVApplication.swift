// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// RESET (Yubico): removes all keys and objects; the card allows it only if PIN and PUK are blocked.
package struct ResetPIVApplication: CardCommand {
    package static let name = "RESET"

    package init() {}

    package var apdu: APDU { APDU(ins: PIVProtocol.Instruction.reset, le: .none) }
}
