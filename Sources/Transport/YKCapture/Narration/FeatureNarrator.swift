// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes the feature reports of an OTP application; a frame is described with its last part, a reply with its end.
struct FeatureNarrator: Sendable {
    /// The parts of the frame that the host is writing.
    private var parts: [Int: MaskedBytes] = [:]
    private var command: OTPCommand?
    private var reply = MaskedBytes([])

    /// Describes a part of a slot frame: seven bytes, then flags and number. The frame is 64 bytes, slot command,
    /// CRC-16.
    mutating func set(_ report: MaskedBytes) -> Narration {
        guard report.count == OTPReport.size else {
            return Narration("feature report of \(report.count) bytes set", details: [report.hex], isKnown: false)
        }
        let flags = report[7]
        if flags == 0x8F {
            parts = [:]
            return Narration("OTP feature report set: reset")
        }
        let number = Int(flags & 0x1F)
        guard flags & 0x80 != 0, number < OTPReport.partsOfFrame else {
            return Narration("OTP feature report set: flags \(Hex.encode([flags]))", details: [report.hex])
        }
        parts[number] = report.prefix(7)
        guard number == OTPReport.partsOfFrame - 1 else {
            return Narration("OTP slot frame, part \(number + 1) of 10", details: [report.prefix(7).hex])
        }
        defer { parts = [:] }
        let command = OTPCommand(rawValue: report[1])
        self.command = command
        reply = MaskedBytes([])
        let zeros = MaskedBytes([UInt8](repeating: 0, count: 7))
        let frame = (0..<OTPReport.partsOfFrame).reduce(MaskedBytes([])) { $0 + (parts[$1] ?? zeros) }
        return Narration(
            "OTP slot frame, part 10 of 10: \(OTPProtocol.name(of: command))",
            details: OTPNarration.payload(frame.prefix(OTPFrame.payloadSize), of: command),
            application: OTPProtocol.title)
    }

    /// Describes a status, or a part of a reply.
    mutating func got(_ report: MaskedBytes) -> Narration {
        guard report.count == OTPReport.size else {
            return Narration("feature report of \(report.count) bytes got", details: [report.hex], isKnown: false)
        }
        let flags = report[7]
        guard flags & 0x40 != 0 else {
            if flags & 0x20 != 0 { return Narration("OTP status: waiting for a touch") }
            if flags & 0x80 != 0 { return Narration("OTP status: the key has not yet accepted the part") }
            return Narration("OTP status", details: OTPNarration.status(report[1..<7]))
        }
        let number = flags & 0x1F
        if number == 0, !reply.isEmpty { return end() }
        reply = reply + report.prefix(7)
        return Narration("OTP reply, part \(number + 1)", details: [report.prefix(7).hex])
    }

    /// Describes the report after a reply, whose number is 0 again.
    private mutating func end() -> Narration {
        defer { reply = MaskedBytes([]) }
        guard let command else { return Narration("OTP reply, end", details: [reply.hex]) }
        let data = reply.prefix(OTPNarration.replySize(command, reply))
        return Narration(
            "OTP reply to \(OTPProtocol.name(of: command))", details: OTPNarration.reply(data, to: command),
            application: OTPProtocol.title)
    }
}
