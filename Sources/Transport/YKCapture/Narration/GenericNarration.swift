// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes instructions that have the same meaning in every application (ISO 7816-4 §11).
enum GenericNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let data = command.data.isEmpty ? [] : ["data \(command.data.hex)"]
        switch command.ins {
        case 0xA4: return ("SELECT file \(command.data.hex)", [])
        case 0xB0: return ("READ BINARY from \(command.parameters)", [])
        case 0xCA, 0xCB: return ("GET DATA \(Hex.encode([command.p1, command.p2]))", data)
        case 0x20: return ("VERIFY of \(Hex.encode([command.p2]))", secret(command))
        case 0x24: return ("CHANGE REFERENCE DATA of \(Hex.encode([command.p2]))", secret(command))
        case 0x2C: return ("RESET RETRY COUNTER of \(Hex.encode([command.p2]))", secret(command))
        case 0x84: return ("GET CHALLENGE", [])
        default: return nil
        }
    }

    static func secret(_ command: NarratedCommand) -> [String] {
        command.data.isEmpty ? [] : ["value \(command.data.hex)"]
    }
}
