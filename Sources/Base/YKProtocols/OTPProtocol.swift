// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// Yubico OTP slots.
    public static let otp = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x20, 0x01])
}

/// Yubico's OTP application: slot commands (`OTPCommand`), over a card and in feature reports.
package enum OTPProtocol: CardVocabulary {
    package static var aid: AID { .otp }
    package static let title = "OTP"

    /// The instruction bytes over a card.
    package enum Instruction {
        /// A slot command; P1 selects it.
        package static let slot: UInt8 = 0x01
        package static let read: UInt8 = 0x02
        package static let status: UInt8 = 0x03
    }

    package static let instructions: [UInt8: String] = [
        Instruction.slot: "SLOT COMMAND", Instruction.read: "READ", Instruction.status: "STATUS",
    ]

    package static let carriers: [UInt8: UnselectedData] = [Instruction.slot: .located]

    /// Slot commands with no payload or no secret in it.
    package static let openCommands: Set<OTPCommand> = [.serial, .deviceInfo, .fipsMode, .swap]

    /// Slot commands that compute a response, for which a slot may require a touch.
    package static let challenges: Set<OTPCommand> = [
        .challengeOTP1, .challengeOTP2, .challengeHMAC1, .challengeHMAC2,
    ]

    /// The name of a slot command.
    package static func name(of command: OTPCommand) -> String {
        slots[command] ?? "slot command \(Hex.encode([command.rawValue]))"
    }

    private static let slots: [OTPCommand: String] = [
        .configure1: "CONFIGURE slot 1", .configure2: "CONFIGURE slot 2", .update1: "UPDATE slot 1",
        .update2: "UPDATE slot 2", .swap: "SWAP the slots", .ndef1: "NDEF of slot 1", .ndef2: "NDEF of slot 2",
        .serial: "SERIAL", .deviceMode: "DEVICE CONFIG", .scanCodeMap: "SCAN MAP", .deviceInfo: "READ CONFIG",
        .fipsMode: "FIPS MODE", .setDeviceInfo: "WRITE CONFIG", .challengeOTP1: "OTP CHALLENGE to slot 1",
        .challengeOTP2: "OTP CHALLENGE to slot 2", .challengeHMAC1: "HMAC CHALLENGE to slot 1",
        .challengeHMAC2: "HMAC CHALLENGE to slot 2",
    ]

    package static func name(of command: APDU) -> String? {
        command.ins == Instruction.slot
            ? name(of: OTPCommand(rawValue: command.p1)) : instructions[command.ins]
    }

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        guard command.ins == Instruction.slot else { return [] }
        switch OTPCommand(rawValue: command.p1) {
        case .configure1, .configure2, .update1, .update2: return SecretRuns.all(data)
        // The access code after the settings.
        case .ndef1, .ndef2: return SecretRuns.from(56, data)
        case .deviceMode: return SecretRuns.from(4, data)
        case .scanCodeMap: return SecretRuns.from(45, data)
        case .setDeviceInfo: return ManagementProtocol.lockCodes(data)
        default: return []
        }
    }

    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        let slot = OTPCommand(rawValue: command.p1)
        let isChallenge = slot == .challengeHMAC1 || slot == .challengeHMAC2
        return command.ins == Instruction.slot && command.cla == 0 && isChallenge ? SecretRuns.all(reply) : []
    }

    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.status: .read
        case Instruction.slot: effect(of: OTPCommand(rawValue: command.p1))
        default: .write(reply: nil)
        }
    }

    /// Whether a slot command reads or changes the key.
    package static func effect(of command: OTPCommand) -> CommandEffect {
        [.serial, .deviceInfo, .fipsMode].contains(command) ? .read : .write(reply: nil)
    }

    package static func waiting(for command: APDU) -> UserAction? {
        command.ins == Instruction.slot && challenges.contains(OTPCommand(rawValue: command.p1)) ? .touch : nil
    }
}
