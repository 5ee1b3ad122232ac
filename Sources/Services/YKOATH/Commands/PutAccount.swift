// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// PUT (YKOATH): writes an account, overwriting one of the same name.
struct PutAccount: CardCommand {
    static let name = "PUT"
    let apdu: APDU

    /// `key` is the value after the type and digits bytes: padded, or hashed if it was longer than the hash's block.
    init(
        account: OATHAccountID, algorithm: OATHAlgorithm, digits: UInt8, key: borrowing OATHKey, needsTouch: Bool,
        counter: UInt32
    ) {
        let head = [account.type.rawValue | algorithm.rawValue, digits]
        var writer = ByteWriter(capacity: 256)
        writer.append(TLV(OATHProtocol.Tag.name, account.rawName).encoded)
        writer.append(TLV(OATHProtocol.Tag.key, head + key.bytes.copyBytes()).encoded)
        if needsTouch { writer.append(OATHProtocol.Tag.property.bytes + [0x02]) }  // This object has no length byte.
        if counter > 0 {
            writer.append(OATHProtocol.Tag.initialCounter.bytes + [4])
            writer.bigEndian(UInt64(counter), 4)
        }
        apdu = APDU(ins: OATHProtocol.Instruction.put, data: writer.bytes, le: .none)
    }
}
