// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// DELETE (YKOATH): removes an account.
struct DeleteAccount: CardCommand {
    static let name = "DELETE"
    let account: [UInt8]

    init(account: [UInt8]) { self.account = account }

    var apdu: APDU {
        APDU(ins: OATHProtocol.Instruction.delete, data: TLV(OATHProtocol.Tag.name, account).encoded, le: .none)
    }
}
