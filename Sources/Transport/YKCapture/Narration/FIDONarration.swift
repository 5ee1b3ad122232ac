// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes FIDO over a smart card: U2F raw messages (U2F 1.2) and CTAP2 (CTAP 2.1 §11.3).
enum FIDONarration: ApplicationNarration {
    private typealias Instruction = FIDOProtocol.Instruction
    private typealias Control = FIDOProtocol.Control

    static var vocabulary: any CardVocabulary.Type { FIDOProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        guard let name = FIDOProtocol.name(of: command.apdu) else { return nil }
        switch command.ins {
        case Instruction.message: return CTAPNarration.request(command.data)
        case Instruction.register: return (name, challenge(command.data))
        case Instruction.authenticate:
            let modes: [UInt8: String] = [
                Control.enforcePresence: "", Control.checkOnly: ", check only",
                Control.noPresence: ", no touch needed",
            ]
            let mode = modes[command.p1] ?? ", mode \(Hex.encode([command.p1]))"
            return (name + mode, challenge(command.data) + handle(command.data))
        case Instruction.fipsVerifyPIN, Instruction.fipsSetPIN: return (name, GenericNarration.secret(command))
        default: return (name, [])
        }
    }

    static func selected(_ data: MaskedBytes) -> [String]? {
        data.isEmpty ? [] : ["speaks \(data.text.droppingQuotes)"]
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        switch command.ins {
        case Instruction.message, Instruction.getResponse: CTAPNarration.reply(data, to: command.data)
        case Instruction.register: registration(data)
        case Instruction.authenticate: assertion(data)
        case Instruction.version: data.isEmpty ? [] : ["speaks \(data.text.droppingQuotes)"]
        default: data.isEmpty ? [] : ["reply \(data.hex)"]
        }
    }

    private static func challenge(_ data: MaskedBytes) -> [String] {
        guard data.count >= 64 else { return data.isEmpty ? [] : ["data \(data.hex)"] }
        return ["challenge \(data[0..<32].hex)", "application \(data[32..<64].hex)"]
    }

    private static func handle(_ data: MaskedBytes) -> [String] {
        guard data.count > 64 else { return [] }
        let rest = data.dropFirst(65)
        let size = Int(data[64]) == rest.count ? "\(rest.count) bytes" : "\(rest.count) bytes, \(data[64]) announced"
        return ["key handle of \(size): \(rest.hex)"]
    }

    /// Describes a registration: 05, public key, key handle, certificate, signature (U2F 1.2 §4.3).
    private static func registration(_ data: MaskedBytes) -> [String] {
        guard data.count > 67, data[0] == 0x05 else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        let length = Int(data[66])
        let rest = data.dropFirst(67 + length)
        let signature = rest.afterFirstField
        return [
            "public key \(data[1..<66].hex(limit: 65))", "key handle \(data[67..<(67 + length)].hex(limit: 255))",
            "certificate of \(rest.count - signature.count) bytes", "signature \(signature.hex(limit: 80))",
        ]
    }

    /// Describes an assertion: presence, counter, signature (U2F 1.2 §5.4).
    private static func assertion(_ data: MaskedBytes) -> [String] {
        guard data.count >= 5 else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        return [
            data[0] & 1 == 1 ? "user present" : "user not present",
            "counter \(data[1..<5].number.map(String.init) ?? data[1..<5].hex)",
            "signature \(data.dropFirst(5).hex(limit: 80))",
        ]
    }
}
