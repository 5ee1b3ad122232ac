// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
package import YKWire

/// GENERAL AUTHENTICATE, first half of mutual authentication (NIST SP 800-73-4 Part 2 §A.1.2): requests a witness.
package struct RequestWitness: CardCommand {
    package static let name = "GENERAL AUTHENTICATE (witness)"
    package let type: ManagementKeyType

    package init(_ type: ManagementKeyType) { self.type = type }

    package var apdu: APDU {
        let data = TLV(PIVProtocol.Tag.dynamic, TLV(PIVProtocol.Tag.witness, []).encoded).encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue, data: data)
    }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var template = try reader.tlv(PIVProtocol.Tag.dynamic, "the template")
        try reader.finish("the template")
        let witness = try template.tlvs().required(PIVProtocol.Tag.witness, "witness")
        guard witness.count == type.cipher?.blockSize else {
            throw WireError(.malformed, at: 0, "a witness of \(witness.count) bytes is not one of \(type)")
        }
        return witness
    }
}

/// GENERAL AUTHENTICATE, second half: returns the decrypted witness, and has the card encrypt a challenge.
package struct AnswerWitness: CardCommand {
    package static let name = "GENERAL AUTHENTICATE (answer)"
    package let type: ManagementKeyType
    package let witness: [UInt8]
    package let challenge: [UInt8]

    package init(_ type: ManagementKeyType, witness: [UInt8], challenge: [UInt8]) {
        self.type = type
        self.witness = witness
        self.challenge = challenge
    }

    package var apdu: APDU {
        let data = [TLV(PIVProtocol.Tag.witness, witness), TLV(PIVProtocol.Tag.challenge, challenge)].encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue,
            data: TLV(PIVProtocol.Tag.dynamic, data).encoded)
    }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var template = try reader.tlv(PIVProtocol.Tag.dynamic, "the template")
        try reader.finish("the template")
        return try template.tlvs().required(PIVProtocol.Tag.response, "response")
    }
}
