// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// GET VERSION (Yubico): the version of the application, and whether it has a YubiKey's three bytes; cards of other
/// vendors return more.
struct GetVersion: CardCommand {
    static let name = "GET VERSION"

    init() {}

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getVersion) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> (version: FirmwareVersion, isWhole: Bool) {
        let version = try FirmwareVersion(bytes: try reader.bytes(3, "the version"))
        return (version, reader.rest().isEmpty)
    }
}

/// GET SERIAL (Yubico, firmware 5.0.3): the serial number of the key.
struct GetSerial: CardCommand {
    static let name = "GET SERIAL"

    init() {}

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getSerial) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> UInt32 {
        let serial = try reader.uint32("the serial number")
        try reader.finish("the serial number")
        return serial
    }
}
