// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// SET MANAGEMENT KEY (Yubico): replaces the management key, optionally requiring a touch.
struct SetManagementKey: CardCommand {
    static let name = "SET MANAGEMENT KEY"
    let apdu: APDU

    init(_ key: borrowing ManagementKey, _ type: ManagementKeyType, needsTouch: Bool) {
        let bytes = key.copyBytes()
        let data = [type.rawValue] + TLV(TLV.Tag(rawValue: UInt32(PIVSlot.management.rawValue)), bytes).encoded
        apdu = APDU(
            ins: PIVProtocol.Instruction.setManagementKey, p1: 0xFF, p2: needsTouch ? 0xFE : 0xFF, data: data, le: .none
        )
    }
}
