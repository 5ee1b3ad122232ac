// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// MOVE KEY (Yubico, firmware 5.7): moves a key to another slot; without a destination it is deleted.
struct MoveKey: CardCommand {
    static let name = "MOVE KEY"
    let source: PIVSlot
    let destination: PIVSlot?

    init(from source: PIVSlot, to destination: PIVSlot?) {
        self.source = source
        self.destination = destination
    }

    var apdu: APDU {
        APDU(ins: PIVProtocol.Instruction.moveKey, p1: destination?.rawValue ?? 0xFF, p2: source.rawValue, le: .none)
    }
}
