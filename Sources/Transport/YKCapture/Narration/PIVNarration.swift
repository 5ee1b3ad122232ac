// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes PIV (NIST SP 800-73-4) with Yubico's extensions.
enum PIVNarration: ApplicationNarration {
    private typealias Instruction = PIVProtocol.Instruction
    private typealias Tag = PIVProtocol.Tag
    private typealias MetadataTag = PIVProtocol.MetadataTag

    static var vocabulary: any CardVocabulary.Type { PIVProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        guard let name = PIVProtocol.name(of: command.apdu) else { return nil }
        let slot = PIVNames.slot(command.p2)
        switch command.ins {
        case Instruction.verify: return verify(command)
        case Instruction.changeReference, Instruction.resetRetry:
            return ("\(name) of the \(PIVNames.reference(command.p2))", hidden(command))
        case Instruction.generate: return ("\(name) in \(slot)", command.data.lines(template))
        case Instruction.authenticate: return authenticate(command)
        case Instruction.getData: return ("\(name) \(objectName(command.data))", [])
        case Instruction.putData: return putData(command)
        case Instruction.moveKey: return moveKey(command)
        case Instruction.getMetadata: return ("\(name) of \(slot)", [])
        case Instruction.attest: return ("\(name) the key in \(PIVNames.slot(command.p1))", [])
        case Instruction.setRetries: return ("\(name): PIN \(command.p1), PUK \(command.p2)", [])
        case Instruction.importKey:
            return ("\(name) \(PIVNames.algorithm(command.p1)) into \(slot)", hidden(command))
        case Instruction.setManagementKey: return setManagementKey(command)
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String]? {
        let inner = data.fields.list.first { $0.tag == Tag.applicationProperties }?.value ?? data
        return inner.lines { field in
            switch field.tag {
            case Tag.applicationIdentifier: return "application identifier \(field.value.hex)"
            case Tag.authority: return "authority \(field.value.hex)"
            default: return plain(field)
            }
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        if data.isEmpty { return [] }
        switch command.ins {
        case Instruction.getVersion: return ["version \(OATHNarration.version(data))"]
        case Instruction.getSerial: return ["serial \(data.number.map(String.init) ?? data.hex)"]
        case Instruction.getMetadata: return data.lines(metadata)
        case Instruction.getData: return object(data)
        case Instruction.generate:
            return data.fields.list.first { $0.tag == Tag.publicKey }?.value.lines(publicKey) ?? ["reply \(data.hex)"]
        case Instruction.authenticate:
            return (data.fields.list.first { $0.tag == Tag.dynamic }?.value ?? data).lines(dynamic)
        case Instruction.attest: return ["certificate of \(data.count) bytes"]
        default: return ["reply \(data.hex)"]
        }
    }

    private static func hidden(_ command: NarratedCommand) -> [String] { GenericNarration.secret(command) }

    private static func verify(_ command: NarratedCommand) -> (String, [String]) {
        let name = PIVNames.reference(command.p2)
        if command.data.isEmpty {
            return command.p1 == 0xFF
                ? ("VERIFY: forget the \(name)", []) : ("VERIFY: read the tries left of the \(name)", [])
        }
        return ("VERIFY the \(name)", hidden(command))
    }

    private static func authenticate(_ command: NarratedCommand) -> (String, [String]) {
        let inner = command.data.fields.list.first { $0.tag == Tag.dynamic }?.value
        let text = "GENERAL AUTHENTICATE \(PIVNames.algorithm(command.p1)) with \(PIVNames.slot(command.p2))"
        guard let inner else { return (text, hidden(command)) }
        return (text, inner.lines(dynamic))
    }

    private static func moveKey(_ command: NarratedCommand) -> (String, [String]) {
        command.p1 == PIVProtocol.deleted
            ? ("DELETE KEY in \(PIVNames.slot(command.p2))", [])
            : ("MOVE KEY from \(PIVNames.slot(command.p2)) to \(PIVNames.slot(command.p1))", [])
    }

    private static func setManagementKey(_ command: NarratedCommand) -> (String, [String]) {
        let touch = command.p2 == 0xFE ? ", touch needed" : ""
        let kind = command.data.isEmpty ? "" : " \(PIVNames.algorithm(command.data[0]))"
        return ("SET MANAGEMENT KEY\(kind)\(touch)", ["key \(command.data.dropFirst(3).hex)"])
    }

    private static func objectName(_ data: MaskedBytes) -> String {
        guard let id = data.fields.list.first(where: { $0.tag == Tag.objectID })?.value else { return data.hex }
        return PIVNames.object(id)
    }

    private static func putData(_ command: NarratedCommand) -> (String, [String]) {
        let content = command.data.afterFirstField
        let size = content.isSecret ? "content \(content.hex)" : "content of \(content.count) bytes"
        return ("PUT DATA \(objectName(command.data))", [size])
    }

    private static func object(_ data: MaskedBytes) -> [String] {
        guard !data.isSecret, let first = data.fields.list.first else { return ["content \(data.hex)"] }
        guard first.tag == Tag.content || first.tag == Tag.discovery else { return ["content \(data.hex)"] }
        let (parts, rest) = first.value.fields
        guard rest.isEmpty, !parts.isEmpty else { return ["content of \(first.value.count) bytes: \(first.value.hex)"] }
        return parts.map { field in
            switch field.tag {
            case Tag.certificate: return "certificate of \(field.value.count) bytes"
            case Tag.certificateInformation:
                return field.value[0] & 1 == 1 ? "certificate is compressed" : "certificate is not compressed"
            case Tag.errorDetection:
                return field.value.isEmpty ? "no error detection code" : "error detection code \(field.value.hex)"
            case Tag.applicationIdentifier: return "application identifier \(field.value.hex)"
            case Tag.pinUsagePolicy: return "PIN usage policy \(field.value.hex)"
            default: return plain(field)
            }
        }
    }

    private static func plain(_ field: MaskedBytes.Field) -> String {
        "tag \(field.tag): \(field.value.hex)"
    }

    private static func dynamic(_ field: MaskedBytes.Field) -> String {
        let names: [TLV.Tag: String] = [
            Tag.witness: "witness", Tag.challenge: "challenge", Tag.response: "response",
            Tag.exponentiation: "exponentiation",
        ]
        guard let name = names[field.tag] else { return plain(field) }
        return field.value.isEmpty ? "\(name) wanted" : "\(name) \(field.value.hex)"
    }

    private static func template(_ field: MaskedBytes.Field) -> String {
        guard field.tag == Tag.template else { return plain(field) }
        return field.value.lines { part in
            switch part.tag {
            case Tag.algorithm: return PIVNames.algorithm(part.value[0])
            case Tag.pinPolicy: return "PIN \(PIVNames.pinPolicy(part.value[0]))"
            case Tag.touchPolicy: return "touch \(PIVNames.touchPolicy(part.value[0]))"
            default: return plain(part)
            }
        }.joined(separator: ", ")
    }

    private static func publicKey(_ field: MaskedBytes.Field) -> String {
        let names: [TLV.Tag: String] = [
            Tag.modulus: "modulus", Tag.exponent: "exponent", Tag.point: "point",
        ]
        return "public key, \(names[field.tag] ?? "tag \(field.tag)") \(field.value.hex)"
    }

    private static func metadata(_ field: MaskedBytes.Field) -> String {
        let value = field.value
        switch field.tag {
        case MetadataTag.algorithm: return "algorithm \(PIVNames.algorithm(value[0]))"
        case MetadataTag.policies: return "PIN \(PIVNames.pinPolicy(value[0])), touch \(PIVNames.touchPolicy(value[1]))"
        case MetadataTag.origin:
            return "key \([1: "made on the card", 2: "imported"][value[0]] ?? "origin \(value[0])")"
        case MetadataTag.publicKey: return value.lines(publicKey).joined(separator: ", ")
        case MetadataTag.isDefault: return value[0] == 0 ? "not the default value" : "the default value"
        case MetadataTag.retries: return "\(value[1]) of \(value[0]) tries left"
        case MetadataTag.hasFingerprint: return value[0] == 0 ? "no fingerprint configured" : "fingerprint configured"
        case MetadataTag.hasTemporaryPIN: return value[0] == 0 ? "no temporary PIN" : "temporary PIN generated"
        default: return plain(field)
        }
    }
}

/// The names of PIV codes (NIST SP 800-73-4, SP 800-78-4 and Yubico's extensions).
enum PIVNames {
    private typealias Reference = PIVProtocol.Reference

    /// The PIN or key that P2 refers to.
    static func slot(_ number: UInt8) -> String {
        switch number {
        case Reference.pin: return "the PIN"
        case Reference.puk: return "the PUK"
        case Reference.fingerprint: return "the fingerprint"
        default:
            let name =
                PIVProtocol.Slot.name(number) ?? PIVProtocol.Slot.retiredNumber(number).map { "retired \($0)" }
            return "slot \(Hex.encode([number]))" + (name.map { " (\($0))" } ?? "")
        }
    }

    static func reference(_ number: UInt8) -> String {
        switch number {
        case Reference.globalPIN: "global PIN"
        case Reference.pin: "PIN"
        case Reference.puk: "PUK"
        case Reference.fingerprint: "fingerprint"
        default: "reference \(Hex.encode([number]))"
        }
    }

    static func algorithm(_ number: UInt8) -> String {
        let names: [UInt8: String] = [
            0x00: "3DES", 0x03: "3DES", 0x05: "RSA 3072", 0x06: "RSA 1024", 0x07: "RSA 2048", 0x08: "AES-128",
            0x0A: "AES-192", 0x0C: "AES-256", 0x11: "P-256", 0x14: "P-384", 0x16: "RSA 4096", 0xE0: "Ed25519",
            0xE1: "X25519", 0xFF: "PIN or PUK",
        ]
        return names[number] ?? "algorithm \(Hex.encode([number]))"
    }

    static func pinPolicy(_ number: UInt8) -> String {
        let names = ["by default", "never", "once", "always", "match once", "match always"]
        return Int(number) < names.count ? names[Int(number)] : "policy \(number)"
    }

    static func touchPolicy(_ number: UInt8) -> String {
        let names = ["by default", "never", "always", "cached"]
        return Int(number) < names.count ? names[Int(number)] : "policy \(number)"
    }

    static func object(_ id: MaskedBytes) -> String {
        guard !id.isSecret, let number = id.number else { return id.hex }
        if let name = objects[number] { return "\(name) (\(id.hex))" }
        if (0x5FC10D...0x5FC120).contains(number) {
            return "certificate of retired slot \(number - 0x5FC10C) (\(id.hex))"
        }
        return "object \(id.hex)"
    }

    private static let objects: [UInt64: String] = [
        0x5FC107: "card capability container", 0x5FC102: "CHUID", 0x5FC105: "certificate of 9a",
        0x5FC10A: "certificate of 9c", 0x5FC10B: "certificate of 9d", 0x5FC101: "certificate of 9e",
        0x5FC106: "security object", 0x5FC109: "printed information", 0x5FC103: "fingerprints",
        0x5FC108: "facial image", 0x5FC10C: "key history", 0x5FC121: "iris images", 0x7E: "discovery object",
        0x7F61: "biometric information", 0x5FFF00: "ykman's admin data", 0x5FFF01: "attestation certificate",
        0x5FC122: "secure messaging certificate", 0x5FC123: "pairing code",
    ]
}
