// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// GET DATA (NIST SP 800-73-4 Part 2 §3.1.2): the content of a data object.
package struct GetPIVData: CardCommand {
    package static let name = "GET DATA"
    package let object: PIVObjectID

    package init(_ object: PIVObjectID) { self.object = object }

    package var apdu: APDU {
        APDU(
            ins: PIVProtocol.Instruction.getData, p1: 0x3F, p2: 0xFF,
            data: TLV(PIVProtocol.Tag.objectID, object.bytes).encoded)
    }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var content = try reader.tlv(object.wrapper, "the object")
        try reader.finish("the object")
        return content.rest()
    }
}

/// PUT DATA (NIST SP 800-73-4 Part 2 §3.3.1): writes a data object; no content removes it.
package struct PutPIVData: CardCommand {
    package static let name = "PUT DATA"
    package let object: PIVObjectID
    package let content: [UInt8]

    package init(_ object: PIVObjectID, _ content: [UInt8]) {
        self.object = object
        self.content = content
    }

    package var apdu: APDU {
        let data = [TLV(PIVProtocol.Tag.objectID, object.bytes), TLV(0x53, content)].encoded
        return APDU(ins: PIVProtocol.Instruction.putData, p1: 0x3F, p2: 0xFF, data: data, le: .none)
    }
}
