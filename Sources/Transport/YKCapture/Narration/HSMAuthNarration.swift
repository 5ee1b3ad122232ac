// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes YubiHSM Auth.
enum HSMAuthNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let names: [UInt8: String] = [
            0x01: "PUT", 0x02: "DELETE", 0x03: "CALCULATE", 0x04: "GET CHALLENGE", 0x05: "LIST", 0x06: "RESET",
            0x07: "GET VERSION", 0x08: "SET MANAGEMENT KEY", 0x09: "GET MANAGEMENT KEY TRIES", 0x0A: "GET PUBLIC KEY",
            0x0B: "CHANGE CREDENTIAL PASSWORD",
        ]
        return names[command.ins].map { ($0, command.data.lines(line)) }
    }

    static func selected(_ data: MaskedBytes) -> [String] { data.lines(line) }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        command.ins == 0x05 || command.ins == 0x07 ? data.lines(line) : data.isEmpty ? [] : ["reply \(data.hex)"]
    }

    private static func line(_ field: MaskedBytes.Field) -> String {
        let names: [UInt32: String] = [
            0x71: "label", 0x72: "credential", 0x73: "credential password", 0x74: "algorithm", 0x75: "encryption key",
            0x76: "MAC key", 0x77: "context", 0x78: "response", 0x79: "version", 0x7A: "touch",
            0x7B: "management key", 0x7C: "public key", 0x7D: "private key",
        ]
        let name = names[field.tag] ?? "tag \(Hex.encode(TLV.Tag(rawValue: field.tag).bytes))"
        return "\(name) \(field.tag == 0x71 ? field.value.text : field.value.hex)"
    }
}
