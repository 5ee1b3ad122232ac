// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// RESET (YKOATH): removes all accounts and the password, and generates a new salt.
struct ResetOATHApplication: CardCommand {
    static let name = "RESET"

    init() {}

    var apdu: APDU { APDU(ins: OATHProtocol.Instruction.reset, p1: 0xDE, p2: 0xAD, le: .none) }
}
