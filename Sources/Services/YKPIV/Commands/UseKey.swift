// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// GENERAL AUTHENTICATE with a private key (NIST SP 800-73-4 Part 2 §A.3 to A.5): the raw operation on a block, a
/// digest, a message or a peer's point.
struct UseKey: CardCommand {
    static let name = "GENERAL AUTHENTICATE"
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    let input: TLV

    /// Signs or decrypts: RSA takes a block as long as the modulus, ECDSA a digest, Ed25519 the message.
    init(_ slot: PIVSlot, _ algorithm: PIVAlgorithm, challenge: [UInt8]) {
        self.slot = slot
        self.algorithm = algorithm
        input = TLV(PIVProtocol.Tag.challenge, challenge)
    }

    /// Performs a key agreement: with a point of the same curve, or 32 bytes of X25519.
    init(_ slot: PIVSlot, _ algorithm: PIVAlgorithm, point: [UInt8]) {
        self.slot = slot
        self.algorithm = algorithm
        input = TLV(PIVProtocol.Tag.exponentiation, point)
    }

    var apdu: APDU {
        let template = TLV(PIVProtocol.Tag.dynamic, [TLV(PIVProtocol.Tag.response, []), input].encoded)
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: algorithm.rawValue, p2: slot.rawValue, data: template.encoded
        )
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var template = try reader.tlv(PIVProtocol.Tag.dynamic, "the template")
        try reader.finish("the template")
        return try template.tlvs().required(PIVProtocol.Tag.response, "response")
    }
}
