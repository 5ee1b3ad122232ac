// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// GENERAL AUTHENTICATE, first half (NIST SP 800-73-4 Part 2 §A.1): requests a block.
struct RequestBlock: CardCommand {
    static let name = "GENERAL AUTHENTICATE (witness)"
    let kind: Kind
    let type: ManagementKeyType

    /// What the block is for.
    enum Kind: Sendable {
        /// Mutual authentication (§A.1.2): the host returns it decrypted.
        case witness
        /// External authentication (§A.1.1): the host returns it encrypted.
        case challenge

        fileprivate var tag: TLV.Tag { self == .witness ? PIVProtocol.Tag.witness : PIVProtocol.Tag.challenge }
    }

    init(_ kind: Kind, _ type: ManagementKeyType) {
        self.kind = kind
        self.type = type
    }

    var apdu: APDU {
        let data = TLV(PIVProtocol.Tag.dynamic, TLV(kind.tag, []).encoded).encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue, data: data)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var template = try reader.tlv(PIVProtocol.Tag.dynamic, "the template")
        try reader.finish("the template")
        let block = try template.tlvs().required(kind.tag, "\(kind)")
        guard block.count == type.cipher?.blockSize else {
            throw WireError(.malformed, at: 0, "a \(kind) of \(block.count) bytes is not one of \(type)")
        }
        return block
    }
}

/// GENERAL AUTHENTICATE, second half of external authentication: returns the encrypted challenge.
struct AnswerChallenge: CardCommand {
    static let name = "GENERAL AUTHENTICATE (answer)"
    let type: ManagementKeyType
    let answer: [UInt8]

    init(_ type: ManagementKeyType, _ answer: [UInt8]) {
        self.type = type
        self.answer = answer
    }

    var apdu: APDU {
        let data = TLV(PIVProtocol.Tag.dynamic, TLV(PIVProtocol.Tag.response, answer).encoded).encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue, data: data)
    }
}

/// GENERAL AUTHENTICATE, second half: returns the decrypted witness, and has the card encrypt a challenge. The response is
/// `nil` if the card returns nothing, as some do.
struct AnswerWitness: CardCommand {
    static let name = "GENERAL AUTHENTICATE (answer)"
    let type: ManagementKeyType
    let witness: [UInt8]
    let challenge: [UInt8]

    init(_ type: ManagementKeyType, witness: [UInt8], challenge: [UInt8]) {
        self.type = type
        self.witness = witness
        self.challenge = challenge
    }

    var apdu: APDU {
        let data = [TLV(PIVProtocol.Tag.witness, witness), TLV(PIVProtocol.Tag.challenge, challenge)].encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue,
            data: TLV(PIVProtocol.Tag.dynamic, data).encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8]? {
        guard !reader.isAtEnd else { return nil }
        var template = try reader.tlv(PIVProtocol.Tag.dynamic, "the template")
        try reader.finish("the template")
        return try template.tlvs().required(PIVProtocol.Tag.response, "response")
    }
}
