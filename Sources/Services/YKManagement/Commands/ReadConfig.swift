// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// READ CONFIG (Yubico management interface, INS 1D): one raw page of device information.
package struct ReadConfig: CardCommand {
    package static let name = "READ CONFIG"

    /// The number of the page, from 0.
    package let page: UInt8

    package init(page: UInt8) { self.page = page }

    package var apdu: APDU { APDU(ins: ManagementProtocol.Instruction.readConfig, p1: page) }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        try reader.bytes(reader.remaining, "the page")
    }
}
