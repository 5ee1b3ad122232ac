// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The FIDO application over a smart card (CTAP 2.2 §11.3) and U2F's raw messages (FIDO U2F Raw Message Formats §3).
package enum FIDOProtocol: CardVocabulary {
    package static var aid: AID { .fido }

    /// The instruction bytes.
    package enum Instruction {
        package static let register: UInt8 = 0x01
        package static let authenticate: UInt8 = 0x02
        package static let version: UInt8 = 0x03
        /// NFCCTAP_MSG (CTAP 2.2 §11.3.5), in class 80.
        package static let message: UInt8 = 0x10
        /// NFCCTAP_GETRESPONSE (CTAP 2.2 §11.3.7), in class 80.
        package static let getResponse: UInt8 = 0x11
        /// Verifies Yubico's U2F PIN on fourth-generation FIPS keys.
        package static let fipsVerifyPIN: UInt8 = 0x43
        package static let fipsSetPIN: UInt8 = 0x44
        package static let fipsReset: UInt8 = 0x45
        package static let fipsMode: UInt8 = 0x46
    }

    /// P1 of an authentication that only checks whether the key handle is known.
    package static let checkOnly: UInt8 = 0x07
    /// Yubico's management over FIDO HID: vendor commands of CTAPHID.
    package enum Vendor {
        package static let setMode: UInt8 = 0x40
        package static let readConfig: UInt8 = 0x42
        package static let writeConfig: UInt8 = 0x43
    }

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case Instruction.message: CTAPProtocol.secrets(in: data)
        case Instruction.fipsVerifyPIN, Instruction.fipsSetPIN: SecretRuns.all(data)
        default: []
        }
    }

    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.message ? CTAPProtocol.secrets(inReply: reply, to: data) : []
    }

    /// Reading the version and checking a key handle change nothing.
    package static func effect(of command: APDU) -> CommandEffect {
        let isCheck = command.ins == Instruction.authenticate && command.p1 == checkOnly
        return command.ins == Instruction.version || isCheck ? .read : .write(reply: nil)
    }
}
