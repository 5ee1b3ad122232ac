// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// CALCULATE ALL (YKOATH): the truncated responses of all time-based accounts without a touch requirement, and the
/// names of the others.
struct CalculateAll: CardCommand {
    static let name = "CALCULATE ALL"
    static let isRepeatable = true
    let challenge: [UInt8]

    init(challenge: [UInt8]) { self.challenge = challenge }

    var apdu: APDU {
        let data = TLV(OATHProtocol.Tag.challenge, challenge).encoded
        return APDU(ins: OATHProtocol.Instruction.calculateAll, p2: 1, data: data)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [Row] {
        var rows: [Row] = []
        while !reader.isAtEnd {
            var name = try reader.tlv(OATHProtocol.Tag.name, "an account")
            rows.append(Row(name: name.rest(), answer: try Answer(&reader)))
        }
        return rows
    }

    /// One account of the reply.
    struct Row: Hashable, Sendable {
        let name: [UInt8]
        let answer: Answer
    }

    /// The reply for one account.
    enum Answer: Hashable, Sendable {
        case response(OATHResponse)
        case hotp(digits: Int)
        case touch(digits: Int)

        init(_ reader: inout ByteReader) throws(WireError) {
            let start = reader.offset
            let tag = try reader.tlvTag()
            var value = try reader.reader(try reader.tlvLength(), "the response")
            switch tag {
            case OATHProtocol.Tag.truncatedResponse: self = .response(try OATHResponse(&value, isTruncated: true))
            case OATHProtocol.Tag.fullResponse: self = .response(try OATHResponse(&value, isTruncated: false))
            case OATHProtocol.Tag.noResponse: self = .hotp(digits: try OATHResponse.digits(&value))
            case OATHProtocol.Tag.touch: self = .touch(digits: try OATHResponse.digits(&value))
            default: throw WireError(.malformed, at: start, "expected a response, got tag \(tag)")
            }
            try value.finish("the response")
        }
    }
}
