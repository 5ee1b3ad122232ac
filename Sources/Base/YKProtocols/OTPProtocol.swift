// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Yubico's OTP application: slots, over a card and in feature reports.
package enum OTPProtocol: CardVocabulary {
    package static var aid: AID { .otp }

    /// The instruction bytes over a card.
    package enum Instruction {
        /// A slot command; P1 selects it.
        package static let slot: UInt8 = 0x01
        package static let read: UInt8 = 0x02
        package static let status: UInt8 = 0x03
    }

    /// The slot commands: P1 over a card, the command byte of a frame over HID.
    package enum Slot {
        package static let configure1: UInt8 = 0x01
        package static let configure2: UInt8 = 0x03
        package static let update1: UInt8 = 0x04
        package static let update2: UInt8 = 0x05
        package static let swap: UInt8 = 0x06
        package static let ndef1: UInt8 = 0x08
        package static let ndef2: UInt8 = 0x09
        package static let serial: UInt8 = 0x10
        package static let deviceConfiguration: UInt8 = 0x11
        package static let scanCodes: UInt8 = 0x12
        package static let deviceInfo: UInt8 = 0x13
        package static let fipsMode: UInt8 = 0x14
        package static let writeDeviceInfo: UInt8 = 0x15
        package static let challengeHMAC1: UInt8 = 0x30
        package static let challengeHMAC2: UInt8 = 0x38
    }

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        guard command.ins == Instruction.slot else { return [] }
        switch command.p1 {
        case Slot.configure1, Slot.configure2, Slot.update1, Slot.update2: return SecretRuns.all(data)
        // The access code after the settings.
        case Slot.ndef1, Slot.ndef2: return SecretRuns.from(56, data)
        case Slot.deviceConfiguration: return SecretRuns.from(4, data)
        case Slot.scanCodes: return SecretRuns.from(45, data)
        case Slot.writeDeviceInfo: return ManagementProtocol.lockCodes(data)
        default: return []
        }
    }

    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        let isChallenge = command.p1 == Slot.challengeHMAC1 || command.p1 == Slot.challengeHMAC2
        return command.ins == Instruction.slot && command.cla == 0 && isChallenge ? SecretRuns.all(reply) : []
    }

    package static func effect(of command: APDU) -> CommandEffect {
        let isQuery = [Slot.serial, Slot.deviceInfo, Slot.fipsMode].contains(command.p1)
        let isRead = command.ins == Instruction.status || command.ins == Instruction.slot && isQuery
        return isRead ? .read : .write(reply: nil)
    }
}
