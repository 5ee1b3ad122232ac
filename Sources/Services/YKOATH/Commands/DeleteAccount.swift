// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// DELETE (YKOATH): removes an account.
package struct DeleteAccount: CardCommand {
    package static let name = "DELETE"
    package let account: [UInt8]

    package init(account: [UInt8]) { self.account = account }

    package var apdu: APDU {
        APDU(ins: OATHProtocol.Instruction.delete, data: TLV(OATHProtocol.Tag.name, account).encoded, le: .none)
    }
}
