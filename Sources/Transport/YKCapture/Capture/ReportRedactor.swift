// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Finds the secrets in HID reports, in both directions: CTAPHID messages (CTAP 2.1 §11.2) and OTP slot frames.
struct ReportRedactor: Sendable {
    /// A message split into reports.
    private struct Message {
        var channel: ArraySlice<UInt8>
        let command: UInt8
        let total: Int
        var data: [UInt8] = []

        /// Starts a message with an initialization report.
        init(_ report: [UInt8]) {
            channel = report[..<4]
            command = report[4] & 0x7F
            total = Int(report[5]) << 8 | Int(report[6])
        }

        /// Appends the content of a report and returns its range in the message.
        mutating func add(_ report: [UInt8], from offset: Int) -> Range<Int> {
            let start = data.count
            data += report[offset...].prefix(max(0, total - start))
            return start..<data.count
        }
    }

    private var request: Message?
    private var reply: Message?
    /// The command of the latest slot frame.
    private var slotCommand: OTPCommand?

    /// The ranges to overwrite in a report from the host.
    mutating func masks(written report: [UInt8]) -> [Capture.Event.Mask] {
        Self.masks(report, &request, starts: { _ in true }) { Self.places($0.command, $0.data) }
    }

    /// The ranges to overwrite in a report from the device.
    mutating func masks(delivered report: [UInt8]) -> [Capture.Event.Mask] {
        let asked = request
        let isReply = { (message: Message) in
            // Keepalives may come in between, even while a message is being delivered on another channel.
            [CTAPHID.Command.cbor.rawValue, SecretsProtocol.vendorCommand].contains(message.command)
                && message.channel == asked?.channel
        }
        return Self.masks(report, &reply, starts: isReply) { message in
            guard let asked, asked.command == message.command else { return [] }
            return message.command == SecretsProtocol.vendorCommand
                ? Self.tunnelled(message.data, to: asked.data)
                : CTAPProtocol.secrets(inReply: message.data, to: asked.data)
        }
    }

    private static func masks(
        _ report: [UInt8], _ message: inout Message?, starts: (Message) -> Bool, _ places: (Message) -> [Range<Int>]
    ) -> [Capture.Event.Mask] {
        guard report.count > 7 else { return [] }
        let isInitial = report[4] & 0x80 != 0
        if isInitial {
            let first = Message(report)
            guard starts(first) else { return [] }
            message = first
        }
        guard var whole = message, report[..<4] == whole.channel else { return [] }
        let offset = isInitial ? 7 : 5
        let part = whole.add(report, from: offset)
        message = whole
        return places(whole).parts(in: part)
            .map { Capture.Event.Mask(offset: offset + $0.lowerBound, length: $0.count) }
    }

    private static func places(_ command: UInt8, _ message: [UInt8]) -> [Range<Int>] {
        let secretMessages = [FIDOProtocol.Instruction.fipsVerifyPIN, FIDOProtocol.Instruction.fipsSetPIN]
        switch command {
        case CTAPHID.Command.cbor.rawValue: return CTAPProtocol.secrets(in: message)
        case FIDOProtocol.Vendor.writeConfig: return ManagementProtocol.lockCodes(message)
        case CTAPHID.Command.msg.rawValue where message.count > 7 && secretMessages.contains(message[1]):
            return [7..<message.count]
        case SecretsProtocol.vendorCommand: return tunnelled(message)
        default: return []
        }
    }

    /// The secrets in a command APDU carried by a vendor command, given its first bytes.
    private static func tunnelled(_ message: [UInt8]) -> [Range<Int>] {
        guard message.count > 5 else { return [] }
        let start = message[4] == 0 ? 7 : 5
        guard message.count > start else { return [] }
        return OATHProtocol.secrets(in: header(message), data: Array(message[start...]))
            .map { ($0.lowerBound + start)..<($0.upperBound + start) }
    }

    /// The secrets in the answer, which begins with the status word. The rest of a long answer is not searched: only
    /// LIST has one, and it contains no secrets.
    private static func tunnelled(_ answer: [UInt8], to message: [UInt8]) -> [Range<Int>] {
        guard answer.count > 2, message.count >= 4 else { return [] }
        return OATHProtocol.secrets(inReply: Array(answer[2...]), to: header(message), data: [])
            .map { ($0.lowerBound + 2)..<($0.upperBound + 2) }
    }

    private static func header(_ message: [UInt8]) -> APDU {
        APDU(cla: message[0], ins: message[1], p1: message[2], p2: message[3])
    }

    /// The ranges to overwrite in a feature report from the host: the payload of a slot frame. The slot command comes
    /// last in a frame, so the payload is masked before it is known whether it is secret. The CRC after it reveals
    /// something about the payload and is masked too, except for commands known to carry no secret.
    mutating func masks(featureSet report: [UInt8]) -> [Capture.Event.Mask] {
        guard report.count == OTPReport.size, report[7] & 0x80 != 0, report[7] & 0x1F <= 9 else { return [] }
        guard report[7] & 0x1F == 9 else { return [Capture.Event.Mask(offset: 0, length: 7)] }
        let command = OTPCommand(rawValue: report[1])
        slotCommand = command
        let payload = Capture.Event.Mask(offset: 0, length: 1)
        return OTPProtocol.openCommands.contains(command) ? [payload] : [payload, .init(offset: 2, length: 2)]
    }

    /// The ranges to overwrite in a feature report from the key: the reply to an HMAC challenge, and its CRC.
    func masks(featureGot report: [UInt8]) -> [Capture.Event.Mask] {
        guard report.count == OTPReport.size, report[7] & 0x40 != 0,
            slotCommand == .challengeHMAC1 || slotCommand == .challengeHMAC2
        else { return [] }
        let length = Self.replyLength - 7 * Int(report[7] & 0x1F)
        return length > 0 ? [Capture.Event.Mask(offset: 0, length: min(7, length))] : []
    }

    /// The length of a reply to an HMAC challenge with its CRC.
    private static let replyLength = 20 + 2
}
