// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// OpenPGP card (OpenPGP Smart Card Application 3.4).
package enum OpenPGPProtocol: CardVocabulary {
    package static var aid: AID { .openPGP }

    /// The instruction bytes (§7.2; Yubico's from F1 on).
    package enum Instruction {
        package static let verify: UInt8 = 0x20
        package static let changeReference: UInt8 = 0x24
        package static let performOperation: UInt8 = 0x2A
        package static let resetRetry: UInt8 = 0x2C
        package static let activate: UInt8 = 0x44
        package static let generateKey: UInt8 = 0x47
        package static let getChallenge: UInt8 = 0x84
        package static let authenticate: UInt8 = 0x88
        package static let selectData: UInt8 = 0xA5
        package static let getData: UInt8 = 0xCA
        package static let getNextData: UInt8 = 0xCC
        package static let putData: UInt8 = 0xDA
        package static let importKey: UInt8 = 0xDB
        package static let terminate: UInt8 = 0xE6
        package static let getVersion: UInt8 = 0xF1
        package static let setRetries: UInt8 = 0xF2
        package static let attest: UInt8 = 0xFB
    }

    /// P1 and P2 of PERFORM SECURITY OPERATION for DECIPHER (§7.2.11).
    package static let decipher: UInt16 = 0x8086

    /// The secret data objects written with PUT DATA: the resetting code (D3), the key of PSO:ENCIPHER (D5), and the
    /// KDF's hashes of default PINs (F9).
    private static let secretObjects: Set<UInt8> = [0xD3, 0xD5, 0xF9]

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case Instruction.importKey: SecretRuns.all(data)
        case Instruction.putData where command.p1 == 0 && secretObjects.contains(command.p2): SecretRuns.all(data)
        default: []
        }
    }

    /// What a private key deciphers or agrees on, and the hashes of the default PINs in the KDF-DO, from which a PIN is
    /// easily guessed.
    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        let parameters = UInt16(command.p1) << 8 | UInt16(command.p2)
        if command.ins == Instruction.getData, parameters == 0xF9 {
            // Some cards prepend the object's own tag.
            let start = reply.first == 0xF9 ? reply.count > 1 && reply[1] > 0x80 ? 3 : 2 : 0
            return SecretRuns.values(of: [0x87, 0x88], in: reply, from: start)
        }
        return command.ins == Instruction.performOperation && parameters == decipher ? SecretRuns.all(reply) : []
    }

    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.getData, Instruction.getNextData, Instruction.selectData, Instruction.getVersion,
            Instruction.getChallenge:
            .read
        case Instruction.generateKey: command.p1 == 0x81 ? .read : .write(reply: nil)
        case Instruction.verify where command.data.isEmpty: .read
        // The values read back afterwards cannot be assumed.
        case Instruction.putData where command.p1 == 0 && (0xD6...0xD9).contains(command.p2): .write(reply: nil)
        case Instruction.putData where command.p1 == 0 && command.p2 == 0xF9: .write(reply: nil)
        case Instruction.putData, Instruction.verify, Instruction.changeReference, Instruction.resetRetry,
            Instruction.terminate, Instruction.activate, Instruction.setRetries:
            .done
        default: .write(reply: nil)
        }
    }
}
