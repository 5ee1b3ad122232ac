// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

extension Narration {
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
}

extension Narration {
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
