// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes a GlobalPlatform security domain and the handshakes and protected commands of its secure channels, which
/// every application accepts.
enum SecurityDomainNarration: ApplicationNarration {
    private typealias Instruction = SecurityDomainProtocol.Instruction
    private typealias Tag = SecurityDomainProtocol.Tag

    static var vocabulary: any CardVocabulary.Type { SecurityDomainProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        if let phrase = handshake(command) { return phrase }
        let data = GenericNarration.data(command)
        switch command.ins {
        case Instruction.getData: return ("GET DATA \(object(command.parameters))", data)
        case Instruction.putKey:
            return ("PUT KEY \(key(command.p2 & 0x7F, command.data[0])), in place of version \(command.p1)", data)
        case Instruction.generateKey: return ("GENERATE KEY \(key(command.p2, command.data[0]))", data)
        default: return nil
        }
    }

    /// Describes a command that opens a secure channel (Amendment D §7.1, Amendment F §7); `nil` for any other.
    static func handshake(_ command: NarratedCommand) -> (String, [String])? {
        guard command.cla & 0x80 != 0 else { return nil }
        switch command.ins {
        case Instruction.initializeUpdate:
            return ("INITIALIZE UPDATE, version \(command.p1) of the keys", ["host challenge \(command.data.hex)"])
        case Instruction.externalAuthenticate where command.cla & 0x04 != 0:
            return (
                "EXTERNAL AUTHENTICATE, security level \(Hex.encode([command.p1]))",
                ["host cryptogram \(command.data.prefix(8).hex)", "MAC \(command.data.dropFirst(8).hex)"]
            )
        case Instruction.externalAuthenticate:
            return ("MUTUAL AUTHENTICATE, \(key(command.p2, command.p1))", ["data \(command.data.hex)"])
        case Instruction.internalAuthenticate:
            return ("INTERNAL AUTHENTICATE, \(key(command.p2, command.p1))", ["data \(command.data.hex)"])
        case Instruction.performOperation:
            return (
                "PERFORM SECURITY OPERATION, a certificate for \(key(command.p2 & 0x7F, command.p1))",
                ["certificate \(command.data.hex)"]
            )
        default: return nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        if command.cla & 0x80 != 0, command.ins == Instruction.initializeUpdate, data.count >= 29 {
            return [
                "version \(data[10]) of the keys, SCP\(Hex.encode([data[11]]))", "card challenge \(data[13..<21].hex)",
                "card cryptogram \(data[21..<29].hex)",
            ]
        }
        guard command.ins == Instruction.getData, command.parameters == Tag.keyInformationObject,
            let list = try? TLV.list(data.bytes), !data.isSecret
        else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        let fields = list.flatMap {
            $0.tag == TLV.Tag(rawValue: UInt32(Tag.keyInformation)) ? ((try? TLV.list($0.value)) ?? []) : [$0]
        }
        return fields.map { field in
            let value = field.value
            return value.count >= 2 ? key(value[0], value[1]) : "entry \(Hex.encode(value))"
        }
    }

    /// Describes what an encrypted command and its reply reveal without the channel's keys.
    static func protected(_ command: NarratedCommand, _ reply: MaskedBytes?) -> [String] {
        var lines = [
            "encrypted for the secure channel: \(command.data.isSecret ? command.data.hex : "\(command.data.count) bytes")"
        ]
        if let reply, !reply.isEmpty { lines.append("encrypted reply: \(reply.count) bytes") }
        return lines
    }

    private static func key(_ identifier: UInt8, _ version: UInt8) -> String {
        let kinds: [UInt8: String] = [
            0x01: "SCP03", 0x02: "SCP03 (MAC)", 0x03: "SCP03 (DEK)", 0x11: "SCP11a", 0x13: "SCP11b", 0x15: "SCP11c",
        ]
        let kind = kinds[identifier] ?? ((0x10...0x2F).contains(identifier) ? "CA" : "key")
        return "\(kind) \(Hex.encode([identifier])), version \(Hex.encode([version]))"
    }

    private static func object(_ parameters: UInt16) -> String {
        let names: [UInt16: String] = [
            Tag.keyInformationObject: "key information", Tag.cardRecognition: "card recognition data",
            Tag.hostAuthorities: "identifiers of the host's CAs", Tag.cardAuthorities: "identifiers of the key's CAs",
            Tag.certificates: "certificates",
        ]
        return names[parameters] ?? Hex.encode([UInt8(parameters >> 8), UInt8(parameters & 0xFF)])
    }
}
