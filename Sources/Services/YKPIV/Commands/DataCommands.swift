// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// GET DATA (NIST SP 800-73-4 Part 2 §3.1.2): the content of a data object.
struct GetPIVData: CardCommand {
    static let name = "GET DATA"
    let object: PIVObjectID

    init(_ object: PIVObjectID) { self.object = object }

    var apdu: APDU {
        APDU(
            ins: PIVProtocol.Instruction.getData, p1: 0x3F, p2: 0xFF,
            data: TLV(PIVProtocol.Tag.objectID, object.bytes).encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var content = try reader.tlv(object.wrapper, "the object")
        try reader.finish("the object")
        return content.rest()
    }
}

/// PUT DATA (NIST SP 800-73-4 Part 2 §3.3.1): writes a data object; no content removes it.
struct PutPIVData: CardCommand {
    static let name = "PUT DATA"
    let object: PIVObjectID
    let content: [UInt8]

    var apdu: APDU {
        let data = [TLV(PIVProtocol.Tag.objectID, object.bytes), TLV(0x53, content)].encoded
        return APDU(ins: PIVProtocol.Instruction.putData, p1: 0x3F, p2: 0xFF, data: data, le: .none)
    }
}

/// GET VERSION (Yubico): the version of the application, and whether it has a YubiKey's three bytes; cards of other
/// vendors return more.
struct GetVersion: CardCommand {
    static let name = "GET VERSION"

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getVersion) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> (version: FirmwareVersion, isWhole: Bool) {
        let version = try FirmwareVersion(bytes: try reader.bytes(3, "the version"))
        return (version, reader.rest().isEmpty)
    }
}

/// GET SERIAL (Yubico, firmware 5.0.3): the serial number of the key.
struct GetSerial: CardCommand {
    static let name = "GET SERIAL"

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getSerial) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> UInt32 {
        let serial = try reader.uint32("the serial number")
        try reader.finish("the serial number")
        return serial
    }
}
