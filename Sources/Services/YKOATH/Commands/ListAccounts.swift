// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// LIST (YKOATH): every account with its type and algorithm.
struct ListAccounts: CardCommand {
    static let name = "LIST"
    static let isRepeatable = true

    init() {}

    var apdu: APDU { APDU(ins: OATHProtocol.Instruction.list) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [OATHAccount] {
        var accounts: [OATHAccount] = []
        while !reader.isAtEnd {
            var row = try reader.tlv(OATHProtocol.Tag.nameList, "an account")
            let kind = try row.byte("type and algorithm")
            let id = OATHAccountID(rawName: row.rest(), type: OATHType(rawValue: kind))
            accounts.append(OATHAccount(id: id, algorithm: OATHAlgorithm(rawValue: kind)))
        }
        return accounts
    }
}
