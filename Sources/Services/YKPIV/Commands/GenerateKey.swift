// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// GENERATE ASYMMETRIC KEY PAIR (NIST SP 800-73-4 Part 2 §3.3.2): generates a key in a slot, replacing any key there.
struct GenerateKey: CardCommand {
    static let name = "GENERATE ASYMMETRIC KEY PAIR"
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    let policies: KeyPolicies

    init(slot: PIVSlot, algorithm: PIVAlgorithm, policies: KeyPolicies) {
        self.slot = slot
        self.algorithm = algorithm
        self.policies = policies
    }

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
