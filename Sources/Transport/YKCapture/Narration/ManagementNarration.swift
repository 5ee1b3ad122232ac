// SPDX-License-Identifier: Apache-2.0

import YKProtocols

/// Describes Yubico's device management.
enum ManagementNarration: ApplicationNarration {
    private typealias Instruction = ManagementProtocol.Instruction
    private typealias Tag = ManagementProtocol.Tag

    static var vocabulary: any CardVocabulary.Type { ManagementProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        guard let name = ManagementProtocol.name(of: command.apdu) else { return nil }
        switch command.ins {
        case Instruction.echo: return (name, GenericNarration.data(command))
        case Instruction.readConfig: return ("\(name), page \(command.p1)", [])
        case Instruction.writeConfig: return (name, configuration(command.data))
        case Instruction.setMode: return (name, ["mode \(command.data.hex)"])
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String]? { data.isEmpty ? [] : ["says \(data.text)"] }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        command.ins == Instruction.readConfig ? configuration(data) : data.isEmpty ? [] : ["reply \(data.hex)"]
    }

    /// Describes a configuration: a length byte, then data objects.
    static func configuration(_ data: MaskedBytes) -> [String] {
        guard !data.isEmpty else { return [] }
        return data[1..<(1 + Int(data[0]))].lines(line)
    }

    private static func line(_ field: MaskedBytes.Field) -> String {
        let value = field.value
        let name = field.name(in: vocabulary)
        switch field.tag {
        case Tag.usbSupported, Tag.usbEnabled, Tag.nfcSupported, Tag.nfcEnabled:
            return "\(name): \(value.number.map(applications) ?? value.hex)"
        case Tag.serial: return "\(name) \(value.number.map(String.init) ?? value.hex)"
        case Tag.version, Tag.fingerprintVersion, Tag.stmVersion: return "\(name) \(OATHNarration.version(value))"
        case Tag.formFactor: return "\(name) \(value.number.map(form) ?? value.hex)"
        case Tag.autoEject, Tag.challengeResponseTimeout:
            return "\(name) \(value.number.map(String.init) ?? value.hex) s"
        case Tag.partNumber: return "\(name) \(value.text)"
        default: return "\(name) \(value.hex)"
        }
    }

    static func applications(_ bits: UInt64) -> String {
        let set = ManagementProtocol.Capability.names.filter { bits & UInt64($0.bit) != 0 }.map(\.name)
        return set.isEmpty ? "none" : set.joined(separator: ", ")
    }

    private static func form(_ byte: UInt64) -> String {
        let forms: [UInt64: String] = [
            1: "USB-A keychain", 2: "USB-A nano", 3: "USB-C keychain", 4: "USB-C nano", 5: "USB-C and Lightning",
            6: "USB-A Bio", 7: "USB-C Bio",
        ]
        let extra = (byte & 0x80 != 0 ? ", FIPS" : "") + (byte & 0x40 != 0 ? ", Security Key" : "")
        return (forms[byte & 0x0F] ?? "\(byte & 0x0F)") + extra
    }
}
