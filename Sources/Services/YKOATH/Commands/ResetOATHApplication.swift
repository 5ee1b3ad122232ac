// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// RESET (YKOATH): removes all accounts and the password, and generates a new salt.
package struct ResetOATHApplication: CardCommand {
    package static let name = "RESET"

    package init() {}

    package var apdu: APDU { APDU(ins: OATHProtocol.Instruction.reset, p1: 0xDE, p2: 0xAD, le: .none) }
}
