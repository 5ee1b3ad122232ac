// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKTransport
package import YKWire

/// GET VERSION (Yubico): the version of the application. Cards of other vendors return more bytes.
package struct GetVersion: CardCommand {
    package static let name = "GET VERSION"

    package init() {}

    package var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getVersion) }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> FirmwareVersion {
        let version = try FirmwareVersion(bytes: try reader.bytes(3, "the version"))
        _ = reader.rest()
        return version
    }
}

/// GET SERIAL (Yubico, firmware 5.0.3): the serial number of the key.
package struct GetSerial: CardCommand {
    package static let name = "GET SERIAL"

    package init() {}

    package var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getSerial) }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> UInt32 {
        let serial = try reader.uint32("the serial number")
        try reader.finish("the serial number")
        return serial
    }
}
