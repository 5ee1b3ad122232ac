// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// Describes the OpenPGP card (OpenPGP card 3.4).
enum OpenPGPNarration: ApplicationNarration {
    private typealias Instruction = OpenPGPProtocol.Instruction

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let hidden = GenericNarration.secret(command)
        switch command.ins {
        case Instruction.verify: return ("VERIFY the \(password(command.p2))", hidden)
        case Instruction.changeReference: return ("CHANGE the \(password(command.p2))", hidden)
        case Instruction.performOperation:
            return (command.parameters == 0x9E9A ? "SIGN" : "DECIPHER", ["data \(command.data.hex)"])
        case Instruction.resetRetry: return ("RESET RETRY COUNTER", hidden)
        case Instruction.activate: return ("ACTIVATE", [])
        case Instruction.generateKey:
            return (command.p1 == 0x80 ? "GENERATE KEY PAIR" : "READ PUBLIC KEY", ["key \(command.data.hex)"])
        case Instruction.getChallenge: return ("GET CHALLENGE", [])
        case Instruction.authenticate: return ("INTERNAL AUTHENTICATE", ["data \(command.data.hex)"])
        case Instruction.selectData: return ("SELECT DATA", ["data \(command.data.hex)"])
        case Instruction.getData: return ("GET DATA \(object(command.parameters))", [])
        case Instruction.putData:
            return ("PUT DATA \(Hex.encode([command.p1, command.p2]))", ["data \(command.data.hex)"])
        case Instruction.importKey: return ("IMPORT KEY", hidden)
        case Instruction.terminate: return ("TERMINATE", [])
        case Instruction.getVersion: return ("GET VERSION", [])
        case Instruction.setRetries: return ("SET TRIES", ["data \(command.data.hex)"])
        case Instruction.attest: return ("ATTEST", [])
        default: return nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        guard command.ins == Instruction.getData, !data.isEmpty else {
            return data.isEmpty ? [] : ["reply \(data.hex)"]
        }
        if constructed.contains(UInt32(command.parameters)) { return lines(data, depth: 3) }
        return [line(UInt32(command.parameters), data)]
    }

    /// Describes the data objects of a reply, including nested ones (§4.4.3).
    private static func lines(_ data: MaskedBytes, depth: Int) -> [String] {
        let (list, rest) = data.fields
        guard rest.isEmpty, !list.isEmpty else { return ["content \(data.hex)"] }
        return list.flatMap { field -> [String] in
            if depth > 0, constructed.contains(field.tag), !field.value.isEmpty {
                return lines(field.value, depth: depth - 1)
            }
            return [line(field.tag, field.value)]
        }
    }

    private static func line(_ tag: UInt32, _ value: MaskedBytes) -> String {
        let name = names[tag] ?? "tag \(TLV.Tag(rawValue: tag))"
        if value.isEmpty { return "\(name): empty" }
        switch tag {
        case 0x5B, 0x5F50, 0x5E, 0x5F2D: return "\(name): \(value.text)"
        case 0x93: return "\(name): \(value.number.map(String.init) ?? value.hex)"
        case 0xC4 where value.count >= 7:
            return "\(name): user PIN \(value[4]), resetting code \(value[5]), admin PIN \(value[6]) tries left"
        default: return "\(name): \(value.hex)"
        }
    }

    private static func object(_ tag: UInt16) -> String {
        let digits = Hex.encode(tag > 0xFF ? [UInt8(tag >> 8), UInt8(tag & 0xFF)] : [UInt8(tag)])
        return names[UInt32(tag)].map { "\(digits) (\($0))" } ?? digits
    }

    /// Cardholder data, application data, its discretionary objects, and the security support template.
    private static let constructed: Set<UInt32> = [0x65, 0x6E, 0x73, 0x7A]

    private static let names: [UInt32: String] = [
        0x4F: "application identifier", 0x5B: "name", 0x5E: "login data", 0x65: "cardholder data",
        0x6E: "application data", 0x73: "discretionary data objects", 0x7A: "security support template",
        0x93: "signature counter", 0xC0: "extended capabilities", 0xC1: "signature algorithm",
        0xC2: "decryption algorithm", 0xC3: "authentication algorithm", 0xC4: "PIN status", 0xC5: "fingerprints",
        0xC6: "CA fingerprints", 0xCD: "generation times", 0xD6: "signature touch policy",
        0xD7: "decryption touch policy", 0xD8: "authentication touch policy", 0xD9: "attestation touch policy",
        0xDE: "key information", 0xF9: "key derivation of PINs", 0xFA: "algorithms supported", 0x5F2D: "languages",
        0x5F35: "sex", 0x5F50: "URL of the public key", 0x5F52: "historical bytes", 0x7F21: "certificate",
        0x7F66: "extended length information", 0x7F74: "features",
    ]

    private static func password(_ number: UInt8) -> String {
        [0x81: "user PIN (signing)", 0x82: "user PIN", 0x83: "admin PIN"][number] ?? "reference \(Hex.encode([number]))"
    }
}
