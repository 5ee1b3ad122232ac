// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
package import YKWire

/// GENERATE ASYMMETRIC KEY PAIR (NIST SP 800-73-4 Part 2 §3.3.2): generates a key in a slot, replacing any key there.
struct GenerateKey: CardCommand {
    static let name = "GENERATE ASYMMETRIC KEY PAIR"
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    let policies: KeyPolicies

    var apdu: APDU {
        let template = TLV(PIVProtocol.Tag.algorithm, [algorithm.rawValue]).encoded + policies.encoded
        return APDU(
            ins: PIVProtocol.Instruction.generate, p2: slot.rawValue,
            data: TLV(PIVProtocol.Tag.template, template).encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> PublicKey {
        var key = try reader.tlv(PIVProtocol.Tag.publicKey, "the public key")
        try reader.finish("the public key")
        return try PublicKey(pivObjects: key.rest(), algorithm)
    }
}

extension KeyPolicies {
    /// The data objects for non-default policies.
    var encoded: [UInt8] {
        var objects: [TLV] = []
        if pin != .default { objects.append(TLV(PIVProtocol.Tag.pinPolicy, [pin.rawValue])) }
        if touch != .default { objects.append(TLV(PIVProtocol.Tag.touchPolicy, [touch.rawValue])) }
        return objects.encoded
    }
}

/// IMPORT ASYMMETRIC KEY (Yubico): writes an existing private key, replacing any key in the slot.
struct ImportKey: CardCommand {
    static let name = "IMPORT ASYMMETRIC KEY"
    let apdu: APDU

    /// Throws if the key's numbers are unavailable.
    init(
        _ key: PrivateKey, algorithm: PIVAlgorithm, slot: PIVSlot, policies: KeyPolicies
    ) throws(CryptoFault) {
        var objects: [TLV] = []
        switch algorithm {
        case .ed25519: objects.append(TLV(0x07, try key.scalar().value.copyBytes()))
        case .x25519: objects.append(TLV(0x08, try key.scalar().value.copyBytes()))
        case .p256, .p384: objects.append(TLV(0x06, try key.scalar().value.copyBytes()))
        default:
            for (index, number) in try key.remainders().enumerated() {
                objects.append(TLV(TLV.Tag(rawValue: UInt32(index + 1)), number.value.copyBytes()))
            }
        }
        apdu = APDU(
            ins: PIVProtocol.Instruction.importKey, p1: algorithm.rawValue, p2: slot.rawValue,
            data: objects.encoded + policies.encoded, le: .none)
    }
}

/// MOVE KEY (Yubico, firmware 5.7): moves a key to another slot; without a destination it is deleted.
struct MoveKey: CardCommand {
    static let name = "MOVE KEY"
    let source: PIVSlot
    let destination: PIVSlot?

    init(from source: PIVSlot, to destination: PIVSlot?) {
        self.source = source
        self.destination = destination
    }

    var apdu: APDU {
        APDU(ins: PIVProtocol.Instruction.moveKey, p1: destination?.rawValue ?? 0xFF, p2: source.rawValue, le: .none)
    }
}

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

/// ATTEST (Yubico, firmware 4.3): a certificate for the key in a slot, signed by the key in F9.
package struct Attest: CardCommand {
    package static let name = "ATTEST"
    package let slot: PIVSlot

    package init(_ slot: PIVSlot) { self.slot = slot }

    package var apdu: APDU { APDU(ins: PIVProtocol.Instruction.attest, p1: slot.rawValue) }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] { reader.rest() }
}

/// GET METADATA (Yubico, firmware 5.3): the metadata of a key, PIN, PUK or fingerprint.
struct GetMetadata: CardCommand {
    static let name = "GET METADATA"
    let reference: UInt8

    init(_ reference: UInt8) { self.reference = reference }

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.getMetadata, p2: reference) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [TLV] { try reader.tlvs() }
}
