// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes Yubico OTP slots.
enum OTPNarration: ApplicationNarration {
    static var vocabulary: any CardVocabulary.Type { OTPProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        guard command.ins == OTPProtocol.Instruction.slot else { return nil }
        let slot = OTPCommand(rawValue: command.p1)
        return (OTPProtocol.name(of: slot), payload(command.data, of: slot))
    }

    static func selected(_ data: MaskedBytes) -> [String]? { status(data) }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        command.ins == OTPProtocol.Instruction.status ? status(data) : reply(data, to: OTPCommand(rawValue: command.p1))
    }

    /// Describes the reply to a slot command, the same over HID and over a card.
    static func reply(_ data: MaskedBytes, to command: OTPCommand) -> [String] {
        switch command {
        case .deviceInfo: ManagementNarration.configuration(data)
        case .serial: ["serial \(data.number.map(String.init) ?? data.hex)"]
        case _ where command.isWrite: status(data)
        default: data.isEmpty ? [] : ["reply \(data.hex)"]
        }
    }

    /// The size of a slot command's reply over HID, where the CRC follows it.
    static func replySize(_ command: OTPCommand, _ data: MaskedBytes) -> Int {
        switch command {
        case .serial: 4
        case .deviceInfo: 1 + Int(data[0])
        case .fipsMode: 1
        case .challengeHMAC1, .challengeHMAC2: 20
        case .challengeOTP1, .challengeOTP2: 16
        default: max(0, data.count - 2)
        }
    }

    /// Describes the payload of a slot command; over HID it includes the padding zeros.
    static func payload(_ data: MaskedBytes, of command: OTPCommand) -> [String] {
        if data.isEmpty { return [] }
        switch command {
        case .serial, .fipsMode, .swap: return []
        case .setDeviceInfo: return ManagementNarration.configuration(data)
        case .deviceInfo: return ["page \(data[0..<1].number.map(String.init) ?? data[0..<1].hex)"]
        case .configure1, .configure2, .update1, .update2:
            guard !data.isSecret, data.count >= OTPSlotRecord.size else { return ["configuration \(data.hex)"] }
            return data.prefix(OTPSlotRecord.size).bytes == OTPSlotRecord.empty ? ["empties the slot"] : []
        default: return ["data \(data.hex(limit: 64))"]
        }
    }

    /// Describes a status: version (3 bytes), program sequence, touch level (little-endian).
    static func status(_ data: MaskedBytes) -> [String] {
        guard data.count >= 6 else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        let level = UInt16(data[5]) << 8 | UInt16(data[4])
        let slots = [(UInt16(1), "slot 1"), (2, "slot 2")].filter { level & $0.0 != 0 }.map(\.1)
        return [
            "version \(OATHNarration.version(data.prefix(3)))", "program sequence \(data[3])",
            "configured: \(slots.isEmpty ? "none" : slots.joined(separator: ", "))",
        ]
    }
}
