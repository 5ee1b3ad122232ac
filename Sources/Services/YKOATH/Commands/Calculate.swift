// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// CALCULATE (YKOATH): the response of one account to a challenge. A counter-based account takes an empty challenge and
/// advances its counter.
package struct Calculate: CardCommand {
    package static let name = "CALCULATE"
    package let account: [UInt8]
    package let challenge: [UInt8]
    package let isTruncated: Bool

    package init(account: [UInt8], challenge: [UInt8], isTruncated: Bool) {
        self.account = account
        self.challenge = challenge
        self.isTruncated = isTruncated
    }

    package var apdu: APDU {
        let data = [TLV(OATHProtocol.Tag.name, account), TLV(OATHProtocol.Tag.challenge, challenge)].encoded
        return APDU(ins: OATHProtocol.Instruction.calculate, p2: isTruncated ? 1 : 0, data: data)
    }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> OATHResponse {
        let tag = isTruncated ? OATHProtocol.Tag.truncatedResponse : OATHProtocol.Tag.fullResponse
        var value = try reader.tlv(tag, "the response")
        let response = try OATHResponse(&value, isTruncated: isTruncated)
        try reader.finish("the response")
        return response
    }
}
