// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

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
