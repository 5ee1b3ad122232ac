// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// MOVE KEY (Yubico, firmware 5.7): moves a key to another slot; without a destination it is deleted.
package struct MoveKey: CardCommand {
    package static let name = "MOVE KEY"
    package let source: PIVSlot
    package let destination: PIVSlot?

    package init(from source: PIVSlot, to destination: PIVSlot?) {
        self.source = source
        self.destination = destination
    }

    package var apdu: APDU {
        APDU(ins: PIVProtocol.Instruction.moveKey, p1: destination?.rawValue ?? 0xFF, p2: source.rawValue, le: .none)
    }
}
