// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The OpenPGP card (OpenPGP card 3.4) in words.
enum OpenPGPNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let hidden = GenericNarration.secret(command)
        switch command.ins {
        case 0x20: return ("VERIFY the \(password(command.p2))", hidden)
        case 0x24: return ("CHANGE the \(password(command.p2))", hidden)
        case 0x2A: return (command.parameters == 0x9E9A ? "SIGN" : "DECIPHER", ["data \(command.data.hex)"])
        case 0x2C: return ("RESET RETRY COUNTER", hidden)
        case 0x44: return ("ACTIVATE", [])
        case 0x47: return (command.p1 == 0x80 ? "GENERATE KEY PAIR" : "READ PUBLIC KEY", ["key \(command.data.hex)"])
        case 0x84: return ("GET CHALLENGE", [])
        case 0x88: return ("INTERNAL AUTHENTICATE", ["data \(command.data.hex)"])
        case 0xA5: return ("SELECT DATA", ["data \(command.data.hex)"])
        case 0xCA: return ("GET DATA \(Hex.encode([command.p1, command.p2]))", [])
        case 0xDA: return ("PUT DATA \(Hex.encode([command.p1, command.p2]))", ["data \(command.data.hex)"])
        case 0xDB: return ("IMPORT KEY", hidden)
        case 0xE6: return ("TERMINATE", [])
        case 0xF1: return ("GET VERSION", [])
        case 0xF2: return ("SET TRIES", ["data \(command.data.hex)"])
        case 0xFB: return ("ATTEST", [])
        default: return nil
        }
    }

    private static func password(_ number: UInt8) -> String {
        [0x81: "user PIN (signing)", 0x82: "user PIN", 0x83: "admin PIN"][number] ?? "reference \(Hex.encode([number]))"
    }
}
