// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// FIDO U2F and CTAP2 over a smart card.
    public static let fido = AID(rawValue: [0xA0, 0x00, 0x00, 0x06, 0x47, 0x2F, 0x00, 0x01])
}

/// The FIDO application over a smart card (CTAP 2.2 §11.3) and U2F's raw messages (FIDO U2F Raw Message Formats §3).
package enum FIDOProtocol: CardVocabulary {
    package static var aid: AID { .fido }
    package static let title = "FIDO"

    /// The instruction bytes.
    package enum Instruction {
        package static let register: UInt8 = 0x01
        package static let authenticate: UInt8 = 0x02
        package static let version: UInt8 = 0x03
        /// NFCCTAP_MSG (CTAP 2.2 §11.3.5), in class 80.
        package static let message: UInt8 = 0x10
        /// NFCCTAP_GETRESPONSE (CTAP 2.2 §11.3.7), in class 80.
        package static let getResponse: UInt8 = 0x11
        /// NFCCTAP_CONTROL (CTAP 2.2 §11.3.6), in class 80.
        package static let control: UInt8 = 0x12
        /// Verifies Yubico's U2F PIN on fourth-generation FIPS keys.
        package static let fipsVerifyPIN: UInt8 = 0x43
        package static let fipsSetPIN: UInt8 = 0x44
        package static let fipsReset: UInt8 = 0x45
        package static let fipsMode: UInt8 = 0x46
    }

    /// P1 of an authentication: requires a touch, only checks whether the key handle is known, or signs without a touch.
    package enum Control {
        package static let enforcePresence: UInt8 = 0x03
        package static let checkOnly: UInt8 = 0x07
        package static let noPresence: UInt8 = 0x08
    }

    /// P1 of NFCCTAP_CONTROL that ends the session.
    package static let endSession: UInt8 = 0x01

    /// P1 of NFCCTAP_GETRESPONSE that cancels the message.
    package static let cancel: UInt8 = 0x11

    /// Yubico's management over FIDO HID: vendor commands of CTAPHID.
    package enum Vendor {
        package static let setMode: UInt8 = 0x40
        package static let readConfig: UInt8 = 0x42
        package static let writeConfig: UInt8 = 0x43
    }

    package static let instructions: [UInt8: String] = [
        Instruction.register: "U2F register", Instruction.authenticate: "U2F authenticate",
        Instruction.version: "U2F version", Instruction.message: "CTAP message",
        Instruction.getResponse: "ask whether CTAP is done", Instruction.control: "end the CTAP session",
        Instruction.fipsVerifyPIN: "U2F FIPS verify PIN", Instruction.fipsSetPIN: "U2F FIPS set PIN",
        Instruction.fipsReset: "U2F FIPS reset", Instruction.fipsMode: "U2F FIPS mode",
    ]

    package static let carriers: [UInt8: UnselectedData] = [
        Instruction.message: .located, Instruction.fipsVerifyPIN: .hidden, Instruction.fipsSetPIN: .hidden,
    ]

    /// The commands of U2F have class 00, those of CTAP class 80.
    package static func name(of command: APDU) -> String? {
        let isCTAP = command.cla & 0x80 != 0
        return switch command.ins {
        case Instruction.register, Instruction.authenticate, Instruction.version:
            isCTAP ? nil : instructions[command.ins]
        case Instruction.getResponse where command.p1 == cancel: "cancel"
        case Instruction.control: isCTAP ? instructions[command.ins] : nil
        default: instructions[command.ins]
        }
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

    package static func isProof(_ command: APDU) -> Bool {
        (command.ins == Instruction.message || command.ins == Instruction.getResponse) && command.cla & 0x80 != 0
    }

    /// Reading the version or the FIPS mode, and checking a key handle, change nothing.
    package static func effect(of command: APDU) -> CommandEffect {
        let isCheck = command.ins == Instruction.authenticate && command.p1 == Control.checkOnly
        let isQuery = command.ins == Instruction.version || command.ins == Instruction.fipsMode
        return isQuery || isCheck ? .read : .write(reply: nil)
    }

    package static func isOptional(_ command: APDU) -> Bool {
        command.ins == Instruction.message && command.cla & 0x80 != 0 && CTAPProtocol.isOptional(command.data)
    }

    /// U2F does not wait: it refuses until the key has been touched, and the host asks again.
    package static func waiting(for command: APDU) -> UserAction? {
        command.ins == Instruction.message ? CTAPProtocol.waiting(for: command.data) : nil
    }

    package static func meaning(of status: StatusWord, for command: APDU) -> String? {
        switch (status, command.ins) {
        case (.conditionsNotSatisfied, Instruction.authenticate) where command.p1 == Control.checkOnly:
            "the key handle is known"
        case (.conditionsNotSatisfied, Instruction.register), (.conditionsNotSatisfied, Instruction.authenticate):
            "touch needed"
        case (.incorrectParameters, Instruction.authenticate): "the key handle belongs to another key"
        default: nil
        }
    }
}
