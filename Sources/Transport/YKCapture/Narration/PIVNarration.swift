// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes PIV (NIST SP 800-73-4) with Yubico's extensions.
enum PIVNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let slot = PIVNames.slot(command.p2)
        switch command.ins {
        case 0x20: return verify(command)
        case 0x24: return ("CHANGE REFERENCE DATA of the \(PIVNames.reference(command.p2))", hidden(command))
        case 0x2C: return ("RESET RETRY COUNTER of the \(PIVNames.reference(command.p2))", hidden(command))
        case 0x47: return ("GENERATE KEY PAIR in \(slot)", command.data.lines(template))
        case 0x87: return authenticate(command)
        case 0xCB: return ("GET DATA \(objectName(command.data))", [])
        case 0xDB: return putData(command)
        case 0xF6: return command.p1 == 0xFF ? ("DELETE KEY in \(slot)", []) : moveKey(command)
        case 0xF7: return ("GET METADATA of \(slot)", [])
        case 0xF8: return ("GET SERIAL", [])
        case 0xF9: return ("ATTEST the key in \(PIVNames.slot(command.p1))", [])
        case 0xFA: return ("SET TRIES: PIN \(command.p1), PUK \(command.p2)", [])
        case 0xFB: return ("RESET", [])
        case 0xFD: return ("GET VERSION", [])
        case 0xFE: return ("IMPORT KEY \(PIVNames.algorithm(command.p1)) into \(slot)", hidden(command))
        case 0xFF: return setManagementKey(command)
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String] {
        let inner = data.fields.list.first { $0.tag == 0x61 }?.value ?? data
        return inner.lines { field in
            switch field.tag {
            case 0x4F: return "application identifier \(field.value.hex)"
            case 0x79: return "authority \(field.value.hex)"
            default: return plain(field)
            }
        }
    }

    static func meaning(_ status: StatusWord, of command: NarratedCommand) -> String? {
        switch (status, command.ins) {
        case (.ok, 0x20) where command.data.isEmpty && command.p1 != 0xFF: "already verified"
        case (.referenceNotFound, 0x20), (.referenceNotFound, 0xF7): "no such PIN, PUK or key"
        case (.notFound, 0xCB): "no such object"
        case (.authenticationBlocked, _): "blocked, no tries left"
        default: status.triesLeft.map { $0 == 1 ? "1 try left" : "\($0) tries left" }
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        if data.isEmpty { return [] }
        switch command.ins {
        case 0xFD: return ["version \(OATHNarration.version(data))"]
        case 0xF8: return ["serial \(data.number.map(String.init) ?? data.hex)"]
        case 0xF7: return data.lines(metadata)
        case 0xCB: return object(data)
        case 0x47: return data.fields.list.first { $0.tag == 0x7F49 }?.value.lines(publicKey) ?? ["reply \(data.hex)"]
        case 0x87: return (data.fields.list.first { $0.tag == 0x7C }?.value ?? data).lines(dynamic)
        case 0xF9: return ["certificate of \(data.count) bytes"]
        default: return ["reply \(data.hex)"]
        }
    }

    private static func hidden(_ command: NarratedCommand) -> [String] { GenericNarration.secret(command) }

    private static func verify(_ command: NarratedCommand) -> (String, [String]) {
        let name = PIVNames.reference(command.p2)
        if command.data.isEmpty {
            return command.p1 == 0xFF
                ? ("VERIFY: forget the \(name)", []) : ("VERIFY: ask for the tries of the \(name)", [])
        }
        return ("VERIFY the \(name)", hidden(command))
    }

    private static func authenticate(_ command: NarratedCommand) -> (String, [String]) {
        let inner = command.data.fields.list.first { $0.tag == 0x7C }?.value
        let text = "GENERAL AUTHENTICATE \(PIVNames.algorithm(command.p1)) with \(PIVNames.slot(command.p2))"
        guard let inner else { return (text, hidden(command)) }
        return (text, inner.lines(dynamic))
    }

    private static func moveKey(_ command: NarratedCommand) -> (String, [String]) {
        ("MOVE KEY from \(PIVNames.slot(command.p2)) to \(PIVNames.slot(command.p1))", [])
    }

    private static func setManagementKey(_ command: NarratedCommand) -> (String, [String]) {
        let touch = command.p2 == 0xFE ? ", touch needed" : ""
        let kind = command.data.isEmpty ? "" : " \(PIVNames.algorithm(command.data[0]))"
        return ("SET MANAGEMENT KEY\(kind)\(touch)", ["key \(command.data.dropFirst(3).hex)"])
    }

    private static func objectName(_ data: MaskedBytes) -> String {
        guard let id = data.fields.list.first(where: { $0.tag == 0x5C })?.value else { return data.hex }
        return PIVNames.object(id)
    }

    private static func putData(_ command: NarratedCommand) -> (String, [String]) {
        let content = command.data.afterFirstField
        let size = content.isSecret ? "content \(content.hex)" : "content of \(content.count) bytes"
        return ("PUT DATA \(objectName(command.data))", [size])
    }

    private static func object(_ data: MaskedBytes) -> [String] {
        guard !data.isSecret, let first = data.fields.list.first else { return ["content \(data.hex)"] }
        guard first.tag == 0x53 || first.tag == 0x7E else { return ["content \(data.hex)"] }
        let (parts, rest) = first.value.fields
        guard rest.isEmpty, !parts.isEmpty else { return ["content of \(first.value.count) bytes: \(first.value.hex)"] }
        return parts.map { field in
            switch field.tag {
            case 0x70: return "certificate of \(field.value.count) bytes"
            case 0x71: return field.value[0] & 1 == 1 ? "certificate is compressed" : "certificate is not compressed"
            case 0xFE:
                return field.value.isEmpty ? "no error detection code" : "error detection code \(field.value.hex)"
            case 0x4F: return "application identifier \(field.value.hex)"
            case 0x5F2F: return "PIN usage policy \(field.value.hex)"
            default: return plain(field)
            }
        }
    }

    private static func plain(_ field: MaskedBytes.Field) -> String {
        "tag \(TLV.Tag(rawValue: field.tag)): \(field.value.hex)"
    }

    private static func dynamic(_ field: MaskedBytes.Field) -> String {
        let names: [UInt32: String] = [0x80: "witness", 0x81: "challenge", 0x82: "response", 0x85: "exponentiation"]
        guard let name = names[field.tag] else { return plain(field) }
        return field.value.isEmpty ? "\(name) wanted" : "\(name) \(field.value.hex)"
    }

    private static func template(_ field: MaskedBytes.Field) -> String {
        guard field.tag == 0xAC else { return plain(field) }
        return field.value.lines { part in
            switch part.tag {
            case 0x80: return PIVNames.algorithm(part.value[0])
            case 0xAA: return "PIN \(PIVNames.pinPolicy(part.value[0]))"
            case 0xAB: return "touch \(PIVNames.touchPolicy(part.value[0]))"
            default: return plain(part)
            }
        }.joined(separator: ", ")
    }

    private static func publicKey(_ field: MaskedBytes.Field) -> String {
        let names: [UInt32: String] = [0x81: "modulus", 0x82: "exponent", 0x86: "point"]
        return "public key, \(names[field.tag] ?? "tag \(TLV.Tag(rawValue: field.tag))") \(field.value.hex)"
    }

    private static func metadata(_ field: MaskedBytes.Field) -> String {
        let value = field.value
        switch field.tag {
        case 0x01: return "algorithm \(PIVNames.algorithm(value[0]))"
        case 0x02: return "PIN \(PIVNames.pinPolicy(value[0])), touch \(PIVNames.touchPolicy(value[1]))"
        case 0x03: return "key \([1: "made on the card", 2: "imported"][value[0]] ?? "origin \(value[0])")"
        case 0x04: return value.lines(publicKey).joined(separator: ", ")
        case 0x05: return value[0] == 0 ? "not the default value" : "the default value"
        case 0x06: return "\(value[1]) of \(value[0]) tries left"
        case 0x07: return value[0] == 0 ? "no fingerprint configured" : "fingerprint configured"
        case 0x08: return value[0] == 0 ? "no temporary PIN" : "temporary PIN generated"
        default: return plain(field)
        }
    }
}
