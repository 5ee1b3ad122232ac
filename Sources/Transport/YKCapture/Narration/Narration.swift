// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// The description of a capture event in words.
public struct Narration: Sendable, Hashable {
    /// The event on one line.
    public var summary: String
    /// The content, one detail per line.
    public var details: [String]
    /// The application, if any.
    public var application: String?
    /// Whether everything in the event is known, including instruction and application.
    public var isKnown: Bool

    /// Creates a narration.
    public init(_ summary: String, details: [String] = [], application: String? = nil, isKnown: Bool = true) {
        self.summary = summary
        self.details = details
        self.application = application
        self.isKnown = isKnown
    }

    /// Describes a FIDO message and its reply, if any, independent of the transport; secrets are omitted.
    package static func message(_ command: CTAPHID.Command, _ payload: [UInt8], reply: [UInt8]?) -> Narration {
        let request = MaskedBytes(payload, masks: Redactor.masks(message: payload))
        let answer = reply.map { MaskedBytes($0, masks: Redactor.masks(reply: $0, to: payload, of: command)) }
        if command == .cbor {
            let (name, lines) = CTAPNarration.request(request)
            guard let answer else { return Narration(name, details: lines) }
            let words = CTAPNarration.reply(answer, to: request)
            let status = words.first.map { String($0.dropFirst("status ".count)) } ?? "no answer"
            return Narration("\(name) → \(status)", details: lines + words.dropFirst())
        }
        if let words = management(command, payload, reply) { return words }
        guard command == .msg, let apdu = try? APDU(decoding: payload) else {
            return Narration("CTAPHID \(command)", isKnown: false)
        }
        let start = APDU.dataOffset(payload)
        let narrated = NarratedCommand(apdu, data: request[start..<(start + apdu.data.count)])
        let (name, lines) =
            ApplicationNarrator(vocabulary: FIDOProtocol.self).phrase(narrated) ?? (
                "U2F command \(Hex.encode([apdu.ins]))", []
            )
        guard let answer, let status = StatusWord(decoding: answer) else { return Narration(name, details: lines) }
        let words = FIDOProtocol.meaning(of: status, for: narrated.apdu).map { "\(status.hex) (\($0))" } ?? status.words
        let extra = FIDONarration.reply(answer.prefix(answer.count - 2), to: narrated) ?? []
        return Narration("\(name) → \(words)", details: lines + extra)
    }

    /// Describes Yubico's management commands over FIDO HID.
    private static func management(_ command: CTAPHID.Command, _ payload: [UInt8], _ reply: [UInt8]?) -> Narration? {
        let data = MaskedBytes(payload, masks: Redactor.masks(message: payload, of: command))
        switch command.rawValue {
        case FIDOProtocol.Vendor.setMode: return Narration("management SET MODE", details: ["mode \(data.hex)"])
        case FIDOProtocol.Vendor.readConfig:
            let extra = reply.map { ManagementNarration.configuration(MaskedBytes($0)) } ?? []
            return Narration("management READ CONFIG, page \(payload.first ?? 0)", details: extra)
        case FIDOProtocol.Vendor.writeConfig:
            return Narration("management WRITE CONFIG", details: ManagementNarration.configuration(data))
        default: return nil
        }
    }
}

extension Redactor {
    /// The secret ranges of a message: PINs, PIN authentication parameters, and lock codes.
    package static func masks(message: [UInt8], of command: CTAPHID.Command) -> [Mask] {
        guard command.rawValue == FIDOProtocol.Vendor.writeConfig else { return masks(message: message) }
        let places = ManagementProtocol.lockCodes(message).filter { !$0.isEmpty }
        return places.map { Mask(offset: $0.lowerBound, length: $0.count) }
    }

    /// The secret ranges of a CTAP2 message.
    package static func masks(message: [UInt8]) -> [Mask] {
        CTAPProtocol.secrets(in: message).filter { !$0.isEmpty }.map { Mask(offset: $0.lowerBound, length: $0.count) }
    }

    /// The secret ranges of a reply.
    package static func masks(reply: [UInt8], to message: [UInt8], of command: CTAPHID.Command) -> [Mask] {
        guard command == .cbor else { return [] }
        return CTAPProtocol.secrets(inReply: reply, to: message).filter { !$0.isEmpty }
            .map { Mask(offset: $0.lowerBound, length: $0.count) }
    }
}

extension Narration {
    /// Describes a command to the OTP application and its reply, if any, independent of the transport; secrets are
    /// omitted.
    package static func slot(_ command: OTPCommand, _ payload: [UInt8], reply: [UInt8]?) -> Narration {
        let isOpen = OTPProtocol.openCommands.contains(command)
        let secret = isOpen || payload.isEmpty ? [] : [Capture.Event.Mask(offset: 0, length: payload.count)]
        var details = OTPNarration.payload(MaskedBytes(payload, masks: secret), of: command)
        if let reply, command != .challengeHMAC1, command != .challengeHMAC2 {
            details += OTPNarration.reply(MaskedBytes(reply), to: command)
        }
        return Narration("OTP \(OTPProtocol.name(of: command))", details: details, application: OTPProtocol.title)
    }
}

/// A command to describe: its header and all of its data, with chained parts joined.
struct NarratedCommand: Sendable {
    let cla: UInt8
    let ins: UInt8
    let p1: UInt8
    let p2: UInt8
    let data: MaskedBytes
    let le: APDU.Le

    init(_ command: APDU, data: MaskedBytes) {
        cla = command.cla
        ins = command.ins
        p1 = command.p1
        p2 = command.p2
        le = command.le
        self.data = data
    }

    /// Creates a command with the same header and other data.
    init(_ command: NarratedCommand, data: MaskedBytes) {
        (cla, ins, p1, p2) = (command.cla, command.ins, command.p1, command.p2)
        le = command.le
        self.data = data
    }

    var parameters: UInt16 { UInt16(p1) << 8 | UInt16(p2) }

    /// The command with all of its data, secret or not.
    var apdu: APDU { APDU(cla: cla, ins: ins, p1: p1, p2: p2, data: data.bytes, le: le) }

    /// Whether data and reply are encrypted by a secure channel (ISO 7816-4 §5.4.1).
    var isProtected: Bool { cla & 0x04 != 0 }

    var header: String { Hex.encode([cla, ins, p1, p2]) }
}
