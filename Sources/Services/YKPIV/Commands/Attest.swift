// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// ATTEST (Yubico, firmware 4.3): a certificate for the key in a slot, signed by the key in F9.
package struct Attest: CardCommand {
    package static let name = "ATTEST"
    package let slot: PIVSlot

    package init(_ slot: PIVSlot) { self.slot = slot }

    package var apdu: APDU { APDU(ins: PIVProtocol.Instruction.attest, p1: slot.rawValue) }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] { reader.rest() }
}
