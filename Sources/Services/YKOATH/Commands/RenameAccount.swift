// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// RENAME (YKOATH, firmware 5.3.1): renames an account and keeps its key and counter.
struct RenameAccount: CardCommand {
    static let name = "RENAME"
    let account: [UInt8]
    let newName: [UInt8]

    init(account: [UInt8], newName: [UInt8]) {
        self.account = account
        self.newName = newName
    }

    var apdu: APDU {
        let data = [TLV(OATHProtocol.Tag.name, account), TLV(OATHProtocol.Tag.name, newName)].encoded
        return APDU(ins: OATHProtocol.Instruction.rename, data: data, le: .none)
    }
}
