// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// GET METADATA (Yubico, firmware 5.3): the metadata of a key, PIN, PUK or fingerprint.
struct GetMetadata: CardCommand {
    static let name = "GET METADATA"
    let reference: UInt8

    init(_ reference: UInt8) { self.reference = reference }

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getMetadata, p2: reference) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [TLV] { try reader.tlvs() }
}
