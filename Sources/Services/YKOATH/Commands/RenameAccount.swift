// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// RENAME (YKOATH, firmware 5.3.1): renames an account and keeps its key and counter.
package struct RenameAccount: CardCommand {
    package static let name = "RENAME"
    package let account: [UInt8]
    package let newName: [UInt8]

    package init(account: [UInt8], newName: [UInt8]) {
        self.account = account
        self.newName = newName
    }

    package var apdu: APDU {
        let data = [TLV(OATHProtocol.Tag.name, account), TLV(OATHProtocol.Tag.name, newName)].encoded
        return APDU(ins: OATHProtocol.Instruction.rename, data: data, le: .none)
    }
}
