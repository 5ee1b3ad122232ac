// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// GET METADATA (Yubico, firmware 5.3): the metadata of a key, PIN, PUK or fingerprint.
package struct GetMetadata: CardCommand {
    package static let name = "GET METADATA"
    package let reference: UInt8

    package init(_ reference: UInt8) { self.reference = reference }

    package var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getMetadata, p2: reference) }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [TLV] { try reader.tlvs() }
}
