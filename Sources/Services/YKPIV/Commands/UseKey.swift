// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

/// GENERAL AUTHENTICATE with a private key (NIST SP 800-73-4 Part 2 §A.3 to A.5): the bare operation on a block, a
/// digest, a message or another side's point.
package struct UseKey: CardCommand {
    package static let name = "GENERAL AUTHENTICATE"
    package let slot: PIVSlot
    package let algorithm: PIVAlgorithm
    package let input: TLV

    /// Signs, or decrypts: RSA takes a block as long as the modulus, ECDSA a digest, Ed25519 the message.
    package init(_ slot: PIVSlot, _ algorithm: PIVAlgorithm, challenge: [UInt8]) {
        self.slot = slot
        self.algorithm = algorithm
        input = TLV(PIVTag.challenge, challenge)
    }

    /// Agrees on a secret: a point of the same curve, or 32 bytes of X25519.
    package init(_ slot: PIVSlot, _ algorithm: PIVAlgorithm, point: [UInt8]) {
        self.slot = slot
        self.algorithm = algorithm
        input = TLV(PIVTag.exponentiation, point)
    }

    package var apdu: APDU {
        let template = TLV(PIVTag.dynamic, [TLV(PIVTag.response, []), input].encoded)
        return APDU(
            ins: PIVInstruction.authenticate, p1: algorithm.rawValue, p2: slot.rawValue, data: template.encoded)
    }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var template = try reader.tlv(PIVTag.dynamic, "the template")
        try reader.finish("the template")
        return try template.tlvs().required(PIVTag.response, "response")
    }
}
