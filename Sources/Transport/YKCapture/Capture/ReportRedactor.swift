// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Finds the secrets in HID reports that the host writes: CTAPHID messages (CTAP 2.1 §11.2) and OTP slot frames.
struct ReportRedactor: Sendable {
    private var channel: ArraySlice<UInt8> = []
    private var command: UInt8 = 0
    private var message: [UInt8] = []
    private var total = 0
    /// The command of the latest slot frame.
    private var slotCommand: OTPCommand?

    /// The runs to overwrite in a report that the host writes.
    mutating func masks(written report: [UInt8]) -> [Capture.Event.Mask] {
        guard report.count > 7 else { return [] }
        let isInitial = report[4] & 0x80 != 0
        if isInitial {
            channel = report[..<4]
            command = report[4] & 0x7F
            message = []
            total = Int(report[5]) << 8 | Int(report[6])
        } else if report[..<4] != channel {
            return []
        }
        let offset = isInitial ? 7 : 5
        let start = message.count
        message += report[offset...].prefix(max(0, total - start))
        let part = start..<message.count
        return places.map { $0.clamped(to: part) }.filter { !$0.isEmpty }
            .map { Capture.Event.Mask(offset: offset + $0.lowerBound - start, length: $0.count) }
    }

    private var places: [Range<Int>] {
        switch command {
        case 0x10: SecretPlaces.ctap(message)
        case 0x43: SecretPlaces.configuration(message)
        case 0x03 where message.count > 7 && [0x43, 0x44].contains(message[1]): [7..<message.count]
        default: []
        }
    }

    /// The runs to overwrite in a feature report: the payload of a slot frame. The slot command comes last in a frame,
    /// so whether the payload is a secret is not known while it passes; it is taken for one. The CRC behind it says
    /// something of the payload and goes with it, but for commands that are known to carry no secret.
    mutating func masks(featureSet report: [UInt8]) -> [Capture.Event.Mask] {
        guard report.count == OTPReport.size, report[7] & 0x80 != 0, report[7] & 0x1F <= 9 else { return [] }
        guard report[7] & 0x1F == 9 else { return [Capture.Event.Mask(offset: 0, length: 7)] }
        let command = OTPCommand(rawValue: report[1])
        slotCommand = command
        let payload = Capture.Event.Mask(offset: 0, length: 1)
        return Self.openCommands.contains(command) ? [payload] : [payload, .init(offset: 2, length: 2)]
    }

    /// The runs to overwrite in a feature report from the key: the reply to an HMAC challenge, and its CRC.
    func masks(featureGot report: [UInt8]) -> [Capture.Event.Mask] {
        guard report.count == OTPReport.size, report[7] & 0x40 != 0,
            slotCommand == .challengeHMAC1 || slotCommand == .challengeHMAC2
        else { return [] }
        let length = Self.maskedReply.count - 7 * Int(report[7] & 0x1F)
        return length > 0 ? [Capture.Event.Mask(offset: 0, length: min(7, length))] : []
    }

    /// Commands whose payload is none or no secret.
    private static let openCommands: Set<OTPCommand> = [.serial, .deviceInfo, .fipsMode, .swap]

    /// A reply to an HMAC challenge that was overwritten, with a CRC that is right.
    private static let maskedReply = [UInt8](repeating: 0, count: 20) + CRC16.trailer([UInt8](repeating: 0, count: 20))

    /// A part of a reply with what was overwritten in it made a reply again whose CRC is right.
    static func restored(_ report: [UInt8], _ masks: [Capture.Event.Mask]) -> [UInt8] {
        guard report.count == OTPReport.size, report[7] & 0x40 != 0, !masks.isEmpty else { return report }
        var report = report
        let start = 7 * Int(report[7] & 0x1F)
        for mask in masks {
            for index in (mask.offset..<mask.end).clamped(to: 0..<7) where maskedReply.indices.contains(start + index) {
                report[index] = maskedReply[start + index]
            }
        }
        return report
    }
}
