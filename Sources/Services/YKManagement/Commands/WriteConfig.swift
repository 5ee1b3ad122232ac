// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// WRITE CONFIG (Yubico management interface, INS 1C): a length byte, then the data objects to change.
package struct WriteConfig: CardCommand {
    package static let name = "WRITE CONFIG"

    /// The configuration.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var apdu: APDU { APDU(ins: ManagementProtocol.Instruction.writeConfig, data: bytes, le: .none) }
}
